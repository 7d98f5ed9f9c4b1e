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

/** The bytes of a body, and the position from which the client has everything for a clean end. */
export interface Body {
  readonly bytes: Buffer;
  /** If the connection ends normally at this byte or later, the response may count as complete. */
  readonly finishByte: number;
  /** From this byte on the host has sent everything. */
  readonly endByte: number;
}

/** Positions beyond the last byte mean that no end of this body is clean. */
export function bodyOf(parts: readonly (string | Buffer)[], finishAt: number, endAt: number): Body {
  const buffers = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
  const bytesUpTo = (at: number): number =>
    at >= buffers.length
      ? Number.POSITIVE_INFINITY
      : buffers.slice(0, at + 1).reduce((sum, { length }) => sum + length, 0);
  return { bytes: Buffer.concat(buffers), finishByte: bytesUpTo(finishAt), endByte: bytesUpTo(endAt) };
}
