import { isUtf8 } from 'node:buffer';
import { LIMITS } from '../../limits.ts';
import type { Members } from '../fields/members.ts';

/**
 * Nearly all frames of a stream differ from an earlier frame only in the model's text. For these, the output of the
 * earlier frame is used again with the new text, without parsing. A shape keeps the bytes around the text.
 */
export class RepeatedFrames {
  readonly #wordsOf: WordsOf;
  #shapes: Shape[] = [];
  #learned = 0;
  #found = 0;

  constructor(wordsOf: WordsOf) {
    this.#wordsOf = wordsOf;
  }

  /** The run of frames of one known shape that starts here; null if the frame here must be parsed. */
  find(bytes: Buffer, from: number): RepeatedRun | null {
    for (const shape of this.#shapes) {
      const holes = holesIn(bytes, from, shape);
      if (holes.length === 0) continue;
      this.#found += holes.length;
      return runOf(shape, bytes, from, holes);
    }
    return null;
  }

  /** Learns from a frame and the output for it; null means that it was passed on unchanged. */
  learn(raw: Buffer, written: string | null, holder: Members): Shape | null {
    if (this.#learned >= FREE_LESSONS && this.#found < this.#learned * USES_PER_LESSON) return null;
    this.#learned++;
    const words = this.#wordsOf(holder);
    const shape = words === null ? null : shapeOf(raw, written, words);
    if (shape !== null) this.#keep(shape);
    return shape;
  }

  /** Takes over a shape that another stream learned, if the frame here has it. */
  adopt(shape: Shape, bytes: Buffer, from: number): RepeatedRun | null {
    const holes = holesIn(bytes, from, shape);
    if (holes.length === 0) return null;
    this.#found += holes.length;
    this.#keep(shape);
    return runOf(shape, bytes, from, holes);
  }

  /** Called when equal frames may no longer mean the same. */
  forget(): void {
    this.#shapes = [];
  }

  #keep(shape: Shape): void {
    if (this.#shapes.length === SHAPES_MAX) this.#shapes.shift();
    this.#shapes.push(shape);
  }
}

/** Finds the text of a frame; null unless it is in one place only. */
export type WordsOf = (holder: Members) => Words | null;

/** The text of one frame, and the members that may hold it; reasoning has two names. */
export interface Words {
  readonly names: readonly string[];
  readonly text: string;
}

/** A run of whole frames. */
export interface RepeatedRun {
  /** Where the next frame begins. */
  readonly end: number;
  /** UTF-8 bytes of their text, without JSON escapes. */
  readonly wordBytes: number;
  /** The bytes for the client. */
  readonly bytes: Buffer;
}

/** How many shapes are kept; a stream rarely has more than one for reasoning and one for text. */
const SHAPES_MAX = 4;
/** Stops learning if the frames of a host never repeat. */
const FREE_LESSONS = 8;
const USES_PER_LESSON = 4;

/** A frame without its text and its padding; some hosts add random padding to hide the length of the text. */
export interface Shape {
  readonly before: Buffer;
  /** The bytes between text and padding; null if there is no padding. */
  readonly between: Buffer | null;
  readonly after: Buffer;
  /** `after` and `before` in one buffer: the bytes between the texts of two consecutive frames. */
  readonly seam: Part;
  /** Null if the frame is passed on unchanged. */
  readonly written: WrittenShape | null;
}

/** Bytes that are compared very often. */
interface Part {
  readonly bytes: Buffer;
  readonly view: DataView;
}

export function partOf(bytes: Buffer): Part {
  return { bytes, view: viewOf(bytes) };
}

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}

export interface WrittenShape {
  /** The text goes between each of these and the next. */
  readonly aroundWords: readonly Buffer[];
  /** The bytes after the padding. */
  readonly afterPadding: Buffer;
  /** Length of all parts, without text and padding. */
  readonly length: number;
}

const PADDING = Buffer.from('"obfuscation":"');
const NOTHING = Buffer.alloc(0);

/** Positions of the text and the padding of a frame; without padding its range is empty. */
interface Holes {
  readonly words: number;
  readonly wordsEnd: number;
  readonly padding: number;
  readonly paddingEnd: number;
}

/** Positions for every frame of the run that starts here; empty if no such frame starts here. */
function holesIn(bytes: Buffer, from: number, shape: Shape): Holes[] {
  const run: Holes[] = [];
  const { seam } = shape;
  /** Made for the second frame: most reads have only one. */
  let view: DataView | null = null;
  let start = from;
  for (let begins = isAt(bytes, from, shape.before); begins; ) {
    const holes = nextHoles(bytes, start + shape.before.length, shape);
    if (holes === null) break;
    const mayBegin = holes.paddingEnd + seam.bytes.length <= bytes.length;
    if (mayBegin) view ??= viewOf(bytes);
    begins = mayBegin && isSame(view!, holes.paddingEnd, seam.view);
    if (!begins && !isAt(bytes, holes.paddingEnd, shape.after)) break;
    const end = holes.paddingEnd + shape.after.length;
    if (end - start > LIMITS.sseFrameBytesMax) break;
    run.push(holes);
    start = end;
  }
  return run;
}

function nextHoles(bytes: Buffer, words: number, { between }: Shape): Holes | null {
  const wordsEnd = insideEnd(bytes, words);
  if (wordsEnd === words || !isPlainText(bytes, words, wordsEnd)) return null;
  if (between === null) return { words, wordsEnd, padding: wordsEnd, paddingEnd: wordsEnd };
  if (!isAt(bytes, wordsEnd, between)) return null;
  const padding = wordsEnd + between.length;
  return { words, wordsEnd, padding, paddingEnd: insideEnd(bytes, padding) };
}

function runOf({ after, written }: Shape, bytes: Buffer, from: number, run: readonly Holes[]): RepeatedRun {
  let wordBytes = 0;
  for (const { words, wordsEnd } of run) wordBytes += wordsEnd - words - escapesWithin(bytes, words, wordsEnd);
  const end = run.at(-1)!.paddingEnd + after.length;
  return { end, wordBytes, bytes: written === null ? bytes.subarray(from, end) : write(written, bytes, run) };
}

function write(shape: WrittenShape, bytes: Buffer, run: readonly Holes[]): Buffer {
  const places = shape.aroundWords.length - 1;
  let length = shape.length * run.length;
  for (const { words, wordsEnd, padding, paddingEnd } of run) {
    length += (wordsEnd - words) * places + paddingEnd - padding;
  }
  const written = Buffer.allocUnsafe(length);
  let at = 0;
  for (const holes of run) at = writeFrame(shape, bytes, holes, written, at);
  return written;
}

/** Returns the position after the text. */
function copyWords(bytes: Buffer, { words, wordsEnd }: Holes, written: Buffer, at: number): number {
  copy(bytes, words, wordsEnd, written, at);
  return at + wordsEnd - words;
}

/** Returns the position after the frame. */
function writeFrame(shape: WrittenShape, bytes: Buffer, holes: Holes, written: Buffer, from: number): number {
  const { aroundWords, afterPadding } = shape;
  const { padding, paddingEnd } = holes;
  let at = from;
  for (const part of aroundWords) {
    if (at > from) at = copyWords(bytes, holes, written, at);
    written.set(part, at);
    at += part.length;
  }
  if (afterPadding.length === 0) return at;
  copy(bytes, padding, paddingEnd, written, at);
  at += paddingEnd - padding;
  written.set(afterPadding, at);
  return at + afterPadding.length;
}

/** Sixteen bytes at a time: for a frame of usual length that takes two thirds of the time of a native comparison. */
function isSame(bytes: DataView, start: number, part: DataView): boolean {
  const length = part.byteLength;
  let at = 0;
  for (; at + 16 <= length; at += 16) {
    const from = start + at;
    const first = difference(bytes, from, part, at) | difference(bytes, from + 4, part, at + 4);
    const second = difference(bytes, from + 8, part, at + 8) | difference(bytes, from + 12, part, at + 12);
    if ((first | second) !== 0) return false;
  }
  for (; at < length; at++) if (bytes.getInt8(start + at) !== part.getInt8(at)) return false;
  return true;
}

/** 0 if four bytes are the same. With the byte order of most machines, so that none is turned. */
function difference(one: DataView, oneAt: number, other: DataView, otherAt: number): number {
  return one.getInt32(oneAt, true) ^ other.getInt32(otherAt, true);
}

/** Compares short parts in a loop, because a native call would cost more, and others with one such call. */
export function isAt(bytes: Buffer, start: number, part: Buffer): boolean {
  const { length } = part;
  if (start + length > bytes.length) return false;
  if (length > COMPARED_BYTES) return bytes.subarray(start, start + length).equals(part);
  for (let at = 0; at < length; at++) if (bytes[start + at] !== part[at]) return false;
  return true;
}

const COMPARED_BYTES = 128;
const SHORT_BYTES = 32;

/** Copies short ranges in a loop: a native call would cost more. */
function copy(from: Buffer, start: number, end: number, to: Buffer, at: number): void {
  if (end - start > SHORT_BYTES) from.copy(to, at, start, end);
  else for (let index = start; index < end; index++) to[at + index - start] = from[index]!;
}

const LF = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const ASCII_MAX = 0x7f;
const SHORT_ESCAPES = new Set(Buffer.from('"\\/bfnrt'));

/** The end of the JSON string that starts here, or the position of something that only the parser handles. */
export function insideEnd(raw: Buffer, start: number): number {
  let at = start;
  for (; at < raw.length; at++) {
    const byte = raw[at]!;
    if (byte === QUOTE || byte < SPACE) break;
    if (byte === BACKSLASH && !SHORT_ESCAPES.has(raw[++at]!)) return at - 1;
  }
  return at;
}

/** Invalid UTF-8 is left to the parser, which replaces it. */
export function isPlainText(raw: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (raw[at]! > ASCII_MAX) return isUtf8(raw.subarray(start, end));
  return true;
}

/** Each escape that passes here is two bytes for one. */
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
  if (!isWholeByItself(raw) || isPaddedTwice(raw)) return null;
  // The usual JSON spelling; if a host escapes its text differently, it is not found and not learned.
  const json = JSON.stringify(text);
  const members = names.map((name) => Buffer.from(`"${name}":${json}`));
  const wordsLength = members[0]!.length - names[0]!.length - '"":""'.length;
  const places = placesOf(raw, members, wordsLength);
  if (places.length !== 1) return null;
  const start = places[0]!;
  const end = start + wordsLength;
  const padding = paddingIn(raw, end);
  const shape = written === null ? null : writtenShape(written, members, wordsLength, padding !== null);
  if (written !== null && shape === null) return null;
  const afterLength = raw.length - (padding?.end ?? end);
  const seam = seamOf(raw, start, afterLength);
  return {
    before: seam.subarray(afterLength),
    between: padding === null ? null : ownCopy([raw.subarray(end, padding.start)]),
    after: seam.subarray(0, afterLength),
    seam: partOf(seam),
    written: shape,
  };
}

/** The end of the frame followed by its beginning, in one buffer. */
function seamOf(raw: Buffer, beforeLength: number, afterLength: number): Buffer {
  return ownCopy([raw.subarray(raw.length - afterLength), raw.subarray(0, beforeLength)]);
}

/** A copy in memory of its own: a slice would keep the text of its chunk, and a small buffer the block that it shares (docs/decisions/0081). */
export function ownCopy(parts: readonly Buffer[]): Buffer {
  const copy = Buffer.allocUnsafeSlow(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    copy.set(part, at);
    at += part.length;
  }
  return copy;
}

/** False if the frame starts with a line end of the frame before it, or ends in a CR that an LF may follow. */
function isWholeByItself(raw: Buffer): boolean {
  return raw[0] !== LF && raw[raw.length - 1] === LF;
}

function writtenShape(
  text: string,
  members: readonly Buffer[],
  wordsLength: number,
  padded: boolean,
): WrittenShape | null {
  const written = ownCopy([Buffer.from(text)]);
  const places = placesOf(written, members, wordsLength);
  if (places.length === 0) return null;
  const aroundWords: Buffer[] = [];
  let at = 0;
  for (const place of places) {
    aroundWords.push(written.subarray(at, place));
    at = place + wordsLength;
  }
  const padding = paddingIn(written, at);
  if (padded !== (padding !== null)) return null;
  aroundWords.push(written.subarray(at, padding?.start));
  const afterPadding = padding === null ? NOTHING : written.subarray(padding.end);
  const length = aroundWords.reduce((sum, part) => sum + part.length, afterPadding.length);
  return { aroundWords, afterPadding, length };
}

/** Positions of the text in these members, in order. */
function placesOf(bytes: Buffer, members: readonly Buffer[], wordsLength: number): number[] {
  const places: number[] = [];
  for (const member of members) {
    for (let at = bytes.indexOf(member); at !== -1; at = bytes.indexOf(member, at + 1)) {
      places.push(at + member.length - wordsLength - 1);
    }
  }
  return places.length > 1 ? places.sort((left, right) => left - right) : places;
}

/** With two paddings it is unknown which one a repaired frame kept. */
function isPaddedTwice(raw: Buffer): boolean {
  const at = raw.indexOf(PADDING);
  return at !== -1 && raw.indexOf(PADDING, at + 1) !== -1;
}

export function paddingIn(bytes: Buffer, from: number): { start: number; end: number } | null {
  const at = bytes.indexOf(PADDING, from);
  if (at === -1) return null;
  const start = at + PADDING.length;
  return { start, end: insideEnd(bytes, start) };
}
