import { LIMITS } from '../../limits.ts';
import { isAt, ownCopy } from './repeated-frames.ts';

/** What differs between the buffered responses of one host. Everything around it is the same in many of them. */
export type HoleKind = 'id' | 'created' | 'words' | 'usage';

/** A part of a response that differs: without the quotes, if it is a string. */
export interface Hole {
  readonly kind: HoleKind;
  readonly start: number;
  readonly end: number;
}

/** The bytes around the holes of a response, as they come from the host and as they go to the caller. */
export interface ResponsePattern {
  /** In the order of the response: text and usage last, so that the usage ends where the last part begins. */
  readonly kinds: readonly HoleKind[];
  /** One more than there are holes. */
  readonly came: readonly Buffer[];
  /** Null for a part that goes to the caller as it came. */
  readonly written: readonly (Buffer | null)[];
  /** How much longer the written parts are than those that came. */
  readonly growth: number;
}

/** A response that fits a pattern. Whether its text and its usage are valid JSON is not known yet. */
export interface FoundResponse {
  readonly pattern: ResponsePattern;
  readonly holes: readonly Hole[];
}

/**
 * Patterns of a host's buffered responses, shared by the calls of one model on the same terms. A response that fits one is
 * not parsed as a whole. Keeps a few patterns, and no text, id, time or usage of any response.
 */
export class ResponseMemory {
  readonly #patterns: ResponsePattern[] = [];
  #learned = 0;
  #used = 0;
  #declined = 0;

  get patterns(): readonly ResponsePattern[] {
    return this.#patterns;
  }

  /** How many responses were recognised. */
  get used(): number {
    return this.#used;
  }

  find(bytes: Buffer): FoundResponse | null {
    for (const pattern of this.#patterns) {
      const holes = holesIn(bytes, pattern);
      if (holes === null) continue;
      this.#used++;
      return { pattern, holes };
    }
    return null;
  }

  /** Called before learning, which costs more than parsing: a host that never repeats itself is rarely learned from. */
  mayLearn(): boolean {
    const isUnused = this.#learned >= FREE_LESSONS && this.#used < this.#learned * USES_PER_LESSON;
    if (isUnused && ++this.#declined % RETRY_EVERY !== 0) return false;
    this.#learned++;
    return true;
  }

  /** Keeps the newest patterns. */
  learn(pattern: ResponsePattern): void {
    const length = lengthOf(pattern.came);
    if (Math.max(length, length + pattern.growth) > LIMITS.cachedFrameBytesMax) return;
    if (this.#patterns.length === LIMITS.cachedFramesMax) this.#patterns.shift();
    this.#patterns.push(pattern);
  }
}

const FREE_LESSONS = 16;
const USES_PER_LESSON = 16;
const RETRY_EVERY = 128;

/** Cuts a response at its holes, into copies that may be kept. */
export function partsAround(bytes: Buffer, holes: readonly Hole[]): Buffer[] {
  const starts = [0, ...holes.map(({ end }) => end)];
  const ends = [...holes.map(({ start }) => start), bytes.length];
  return starts.map((start, index) => ownCopy([bytes.subarray(start, ends[index])]));
}

/** The pattern of responses that come with the bytes in `came` around their holes, and leave with those in `written`. */
export function patternOf(
  kinds: readonly HoleKind[],
  came: readonly Buffer[],
  written: readonly Buffer[],
): ResponsePattern {
  const changed = written.map((part, at) => (part.equals(came[at]!) ? null : part));
  return { kinds, came, written: changed, growth: lengthOf(written) - lengthOf(came) };
}

/** The response for the caller, with another usage. What does not change between two changes is copied at once. */
export function writeAnswer({ pattern, holes }: FoundResponse, bytes: Buffer, usage: string): Buffer {
  const { came, written, growth } = pattern;
  const usageHole = holes.at(-1)!;
  const length = bytes.length + growth - (usageHole.end - usageHole.start) + Buffer.byteLength(usage);
  const answer = Buffer.allocUnsafe(length);
  let at = 0;
  let copied = 0;
  for (let index = 0; index < holes.length; index++) {
    const part = written[index] ?? null;
    if (part === null) continue;
    const { start } = holes[index]!;
    at += bytes.copy(answer, at, copied, start - came[index]!.length);
    at += part.copy(answer, at);
    copied = start;
  }
  at += bytes.copy(answer, at, copied, usageHole.start);
  at += answer.write(usage, at);
  const last = written.at(-1) ?? null;
  if (last === null) bytes.copy(answer, at, usageHole.end);
  else last.copy(answer, at);
  return answer;
}

function holesIn(bytes: Buffer, { kinds, came }: ResponsePattern): Hole[] | null {
  if (!isAt(bytes, 0, came[0]!)) return null;
  const holes: Hole[] = [];
  let start = came[0]!.length;
  for (let index = 0; index < kinds.length; index++) {
    const kind = kinds[index]!;
    const next = came[index + 1]!;
    const end = END_OF[kind](bytes, start, next);
    if (end <= start || !isAt(bytes, end, next)) return null;
    holes.push({ kind, start, end });
    start = end + next.length;
  }
  return holes;
}

/** Where a hole ends, given the bytes after it. */
const END_OF: Readonly<Record<HoleKind, (bytes: Buffer, start: number, next: Buffer) => number>> = {
  id: plainEnd,
  created: digitsEnd,
  words: (bytes, start, next) => bytes.indexOf(next, start),
  usage: (bytes, _start, last) => bytes.length - last.length,
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ZERO = 0x30;
const NINE = 0x39;
/** A number of this many digits is a safe integer. */
const DIGITS_MAX = 15;

/** The end of visible ASCII without quotes and escapes. */
function plainEnd(bytes: Buffer, start: number): number {
  let at = start;
  for (; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte <= 0x20 || byte > 0x7e || byte === QUOTE || byte === BACKSLASH) break;
  }
  return at;
}

/** The end of a positive integer; where it starts if there is none. */
function digitsEnd(bytes: Buffer, start: number): number {
  let at = start;
  if (bytes[at] === ZERO) return start;
  while (at - start < DIGITS_MAX && bytes[at]! >= ZERO && bytes[at]! <= NINE) at++;
  return at;
}

function lengthOf(parts: readonly Buffer[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}
