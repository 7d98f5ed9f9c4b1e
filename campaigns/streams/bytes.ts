import type { Frame } from './answers.ts';

export type LineStyle = 'lf' | 'crlf' | 'cr' | 'tight' | 'chatty';

export function encodeFrame({ event, data }: Frame, style: LineStyle = 'lf'): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  const space = style === 'tight' ? '' : ' ';
  const lines = [...(event === null ? [] : [`event:${space}${event}`]), `data:${space}${text}`];
  if (style === 'chatty') lines.unshift(': hello', 'id: 7', 'retry: 999999999999');
  const end = style === 'crlf' ? '\r\n' : style === 'cr' ? '\r' : '\n';
  return lines.map((line) => line + end).join('') + end;
}

/** Bytes of a body, and where in them what the client must have for a clean end is complete. */
export interface Body {
  readonly bytes: Buffer;
  /** From this byte on an orderly end may be a clean one. */
  readonly finishByte: number;
  /** From this byte on the host has said all. */
  readonly endByte: number;
}

/** The places beyond the last byte say that no end of this body is a clean one. */
export function bodyOf(parts: readonly (string | Buffer)[], finishAt: number, endAt: number): Body {
  const buffers = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
  const bytesUpTo = (at: number): number =>
    at >= buffers.length
      ? Number.POSITIVE_INFINITY
      : buffers.slice(0, at + 1).reduce((sum, { length }) => sum + length, 0);
  return { bytes: Buffer.concat(buffers), finishByte: bytesUpTo(finishAt), endByte: bytesUpTo(endAt) };
}
