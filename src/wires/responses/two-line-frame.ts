import type { SseFrame } from '../../kit/sse.ts';

export interface TwoLineFrame {
  readonly name: string;
  readonly data: string;
}

const LF = 0x0a;
const CR = 0x0d;
const NAME = Buffer.from('event: ');
const DATA = Buffer.from('data: ');

/** The parts of a frame with one event line and one data line, the usual form on this wire; null for any other frame. */
export function readTwoLineFrame({ raw }: SseFrame): TwoLineFrame | null {
  const nameEnd = raw.indexOf(LF, NAME.length);
  const dataStart = nameEnd + 1 + DATA.length;
  const end = raw.length - 2;
  const isPlain =
    nameEnd !== -1 &&
    startsAt(raw, 0, NAME) &&
    startsAt(raw, nameEnd + 1, DATA) &&
    raw.indexOf(LF, dataStart) === end &&
    raw[end + 1] === LF &&
    raw.indexOf(CR) === -1;
  if (!isPlain) return null;
  return { name: raw.toString('latin1', NAME.length, nameEnd), data: raw.toString('utf8', dataStart, end) };
}

function startsAt(raw: Buffer, at: number, bytes: Buffer): boolean {
  for (let index = 0; index < bytes.length; index++) if (raw[at + index] !== bytes[index]) return false;
  return true;
}
