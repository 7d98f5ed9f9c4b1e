import { isUtf8 } from 'node:buffer';
import type { Members } from './members.ts';

/**
 * Nearly all frames of a stream differ from an earlier one only in the model's words. What was made of that one is then
 * made of this one too, without parsing it: both are kept as the bytes around the words.
 */
export class RepeatedFrames {
  readonly #wordsOf: WordsOf;
  #shapes: Shape[] = [];
  #learned = 0;
  #found = 0;

  constructor(wordsOf: WordsOf) {
    this.#wordsOf = wordsOf;
  }

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
  learn(raw: Buffer, written: string | null, holder: Members): void {
    if (this.#learned >= FRUITLESS_MAX && this.#found < this.#learned * WORTH) return;
    this.#learned++;
    const words = this.#wordsOf(holder);
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

/** Finds the words in what a wire keeps them in; null unless they stand in one place only. */
export type WordsOf = (holder: Members) => Words | null;

/** The words of one frame, and the members that may hold them: a trace has two names. */
export interface Words {
  readonly names: readonly string[];
  readonly text: string;
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

/** Where the words and the padding of a frame lie; without padding its place is empty. */
interface Holes {
  readonly words: number;
  readonly wordsEnd: number;
  readonly padding: number;
  readonly paddingEnd: number;
}

function match(shape: Shape, raw: Buffer): RepeatedFrame | null {
  const holes = holesIn(raw, shape);
  if (holes === null || !isPlainText(raw, holes.words, holes.wordsEnd)) return null;
  const wordBytes = holes.wordsEnd - holes.words - escapesWithin(raw, holes.words, holes.wordsEnd);
  return { wordBytes, bytes: shape.written === null ? raw : write(shape.written, raw, holes) };
}

function holesIn(raw: Buffer, { before, between, after }: Shape): Holes | null {
  if (!isAt(raw, 0, before)) return null;
  const words = before.length;
  const wordsEnd = insideEnd(raw, words);
  if (wordsEnd === words || (between !== null && !isAt(raw, wordsEnd, between))) return null;
  const padding = wordsEnd + (between?.length ?? 0);
  const paddingEnd = between === null ? padding : insideEnd(raw, padding);
  if (paddingEnd + after.length !== raw.length || !isAt(raw, paddingEnd, after)) return null;
  return { words, wordsEnd, padding, paddingEnd };
}

function write({ aroundWords, afterPadding, length }: WrittenShape, raw: Buffer, holes: Holes): Buffer {
  const { words, wordsEnd, padding, paddingEnd } = holes;
  const wordsLength = wordsEnd - words;
  const paddingLength = paddingEnd - padding;
  const bytes = Buffer.allocUnsafe(length + wordsLength * (aroundWords.length - 1) + paddingLength);
  let at = 0;
  for (const part of aroundWords) {
    if (at > 0) {
      copy(raw, words, wordsEnd, bytes, at);
      at += wordsLength;
    }
    bytes.set(part, at);
    at += part.length;
  }
  copy(raw, padding, paddingEnd, bytes, at);
  if (afterPadding.length > 0) bytes.set(afterPadding, at + paddingLength);
  return bytes;
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
const ASCII_MAX = 0x7f;
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

/** Half a character belongs to the parser too, which knows what to put in its place. */
function isPlainText(raw: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (raw[at]! > ASCII_MAX) return isUtf8(raw.subarray(start, end));
  return true;
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
