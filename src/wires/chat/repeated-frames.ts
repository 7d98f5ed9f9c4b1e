import { isObject, isText, type Members } from '../members.ts';

/**
 * Nearly all frames of a stream differ from an earlier one only in the model's words. What was made of that one is then
 * made of this one too, without parsing it: both are kept as the bytes around the words.
 */
export class RepeatedFrames {
  #shapes: Shape[] = [];
  #learned = 0;
  #found = 0;

  find(raw: Buffer): RepeatedFrame | null {
    for (const shape of this.#shapes) {
      const frame = match(shape, raw);
      if (frame === null) continue;
      this.#found++;
      return frame;
    }
    return null;
  }

  /** Learns from a frame and what was written for it; null means that it went on as it came. */
  learn(raw: Buffer, written: string | null, delta: Members): void {
    if (this.#learned >= FRUITLESS_MAX && this.#found < this.#learned * WORTH) return;
    this.#learned++;
    const words = wordsOf(delta);
    const shape = words === null ? null : shapeOf(raw, written, words);
    if (shape === null) return;
    if (this.#shapes.length === SHAPES_MAX) this.#shapes.shift();
    this.#shapes.push(shape);
  }

  /** From here on, equal frames may no longer mean the same. */
  forget(): void {
    this.#shapes = [];
  }
}

export interface RepeatedFrame {
  /** UTF-8 bytes of the words, their escapes undone. */
  readonly wordBytes: number;
  /** What goes to the client. */
  readonly bytes: Buffer;
}

/** How many shapes are kept; a stream rarely has more than one for its trace and one for its text. */
const SHAPES_MAX = 4;
/** A host whose frames are never alike is not learned from for ever. */
const FRUITLESS_MAX = 8;
const WORTH = 4;

/** A frame cut where its words are, and where the padding is that some hosts add against eavesdroppers. */
interface Shape {
  readonly before: Buffer;
  /** From the words to the padding; null where there is none. */
  readonly between: Buffer | null;
  readonly after: Buffer;
  /** Null where the frame goes on as it came. */
  readonly written: WrittenShape | null;
}

interface WrittenShape {
  /** The words stand between each two of these. */
  readonly aroundWords: readonly Buffer[];
  /** What follows the padding. */
  readonly afterPadding: Buffer;
  /** All of it, without words and padding. */
  readonly length: number;
}

const PADDING = '"obfuscation":"';
const NOTHING = Buffer.alloc(0);

function match({ before, between, after, written }: Shape, raw: Buffer): RepeatedFrame | null {
  if (raw.length <= before.length || !isAt(raw, 0, before)) return null;
  const wordsEnd = insideEnd(raw, before.length);
  const paddingStart = between === null ? wordsEnd : wordsEnd + between.length;
  if (wordsEnd === before.length || (between !== null && !isAt(raw, wordsEnd, between))) return null;
  const paddingEnd = between === null ? wordsEnd : insideEnd(raw, paddingStart);
  if (paddingEnd + after.length !== raw.length || !isAt(raw, paddingEnd, after)) return null;
  const wordBytes = wordsEnd - before.length - escapesWithin(raw, before.length, wordsEnd);
  if (written === null) return { wordBytes, bytes: raw };
  const { aroundWords, afterPadding } = written;
  const wordsLength = wordsEnd - before.length;
  const padding = paddingEnd - paddingStart;
  const bytes = Buffer.allocUnsafe(written.length + wordsLength * (aroundWords.length - 1) + padding);
  bytes.set(aroundWords[0]!);
  let at = aroundWords[0]!.length;
  for (let index = 1; index < aroundWords.length; index++) {
    copy(raw, before.length, wordsEnd, bytes, at);
    bytes.set(aroundWords[index]!, at + wordsLength);
    at += wordsLength + aroundWords[index]!.length;
  }
  copy(raw, paddingStart, paddingEnd, bytes, at);
  if (afterPadding.length > 0) bytes.set(afterPadding, at + padding);
  return { wordBytes, bytes };
}

function isAt(raw: Buffer, start: number, part: Buffer): boolean {
  const end = start + part.length;
  return end <= raw.length && raw.compare(part, 0, part.length, start, end) === 0;
}

/** By hand where they are few, as words are: calling for it would cost more. */
function copy(from: Buffer, start: number, end: number, to: Buffer, at: number): void {
  if (end - start > 32) from.copy(to, at, start, end);
  else for (let index = start; index < end; index++) to[at + index - start] = from[index]!;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const SHORT_ESCAPES = new Set(Buffer.from('"\\/bfnrt'));

/** Where a string that begins here ends, or where it has something only the parser should judge. */
function insideEnd(raw: Buffer, start: number): number {
  let at = start;
  for (; at < raw.length; at++) {
    const byte = raw[at]!;
    if (byte === QUOTE || byte < SPACE) break;
    if (byte === BACKSLASH && !SHORT_ESCAPES.has(raw[++at]!)) return at - 1;
  }
  return at;
}

/** Every escape that is let through is two bytes for one. */
function escapesWithin(raw: Buffer, start: number, end: number): number {
  let escapes = 0;
  for (let at = start; at < end; at++) {
    if (raw[at] !== BACKSLASH) continue;
    escapes++;
    at++;
  }
  return escapes;
}

/** The words of one frame, and the members that may hold them: a trace has two names. */
interface Words {
  readonly names: readonly string[];
  readonly text: string;
}

const WORD_MEMBERS = [['content'], ['refusal'], ['reasoning', 'reasoning_content']];

/** The words of a delta that has them in one place only. */
function wordsOf(delta: Members): Words | null {
  const spoken = WORD_MEMBERS.filter(([name]) => isText(delta[name!]));
  const calls = Array.isArray(delta.tool_calls) ? delta.tool_calls : [];
  if (spoken.length + calls.length !== 1) return null;
  if (spoken.length === 1) return { names: spoken[0]!, text: delta[spoken[0]![0]!] as string };
  const called = isObject(calls[0]) ? calls[0].function : null;
  const text = isObject(called) ? called.arguments : null;
  return isText(text) ? { names: ['arguments'], text } : null;
}

function shapeOf(raw: Buffer, written: string | null, { names, text }: Words): Shape | null {
  // Written as it stands between its quotes; a host may spell it otherwise, and then it is not found.
  const words = Buffer.from(JSON.stringify(text).slice(1, -1));
  const places = placesOf(raw, names, words);
  if (places.length !== 1) return null;
  const start = places[0]!;
  const end = start + words.length;
  const padding = paddingIn(raw, end);
  const shape = written === null ? null : writtenShape(Buffer.from(written), names, words, padding !== null);
  if (written !== null && shape === null) return null;
  return {
    before: Buffer.from(raw.subarray(0, start)),
    between: padding === null ? null : Buffer.from(raw.subarray(end, padding.start)),
    after: Buffer.from(raw.subarray(padding === null ? end : padding.end)),
    written: shape,
  };
}

function writtenShape(written: Buffer, names: readonly string[], words: Buffer, padded: boolean): WrittenShape | null {
  const places = placesOf(written, names, words);
  if (places.length === 0) return null;
  const aroundWords: Buffer[] = [];
  let at = 0;
  for (const place of places) {
    aroundWords.push(written.subarray(at, place));
    at = place + words.length;
  }
  const padding = paddingIn(written, at);
  if (padded !== (padding !== null)) return null;
  aroundWords.push(written.subarray(at, padding?.start));
  const afterPadding = padding === null ? NOTHING : written.subarray(padding.end);
  const length = aroundWords.reduce((sum, part) => sum + part.length, afterPadding.length);
  return { aroundWords, afterPadding, length };
}

/** Where the words stand, in order. */
function placesOf(bytes: Buffer, names: readonly string[], words: Buffer): number[] {
  const places: number[] = [];
  for (const name of names) {
    const member = Buffer.concat([Buffer.from(`"${name}":"`), words, Buffer.from('"')]);
    for (let at = bytes.indexOf(member); at !== -1; at = bytes.indexOf(member, at + 1)) {
      places.push(at + member.length - words.length - 1);
    }
  }
  return places.sort((left, right) => left - right);
}

function paddingIn(bytes: Buffer, from: number): { start: number; end: number } | null {
  const at = bytes.indexOf(PADDING, from);
  if (at === -1) return null;
  const start = at + PADDING.length;
  return { start, end: insideEnd(bytes, start) };
}
