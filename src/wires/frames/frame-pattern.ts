import { LIMITS } from '../../limits.ts';
import type { PassedFrames } from './passed-frames.ts';
import {
  insideEnd,
  isAt,
  isPlainText,
  ownCopy,
  paddingIn,
  partOf,
  type Shape,
  type WrittenShape,
} from './repeated-frames.ts';

/** The id and creation time that all frames of a stream share, as JSON text. */
export interface StreamIdentity {
  readonly id: string;
  readonly created: string;
}

const QUOTE = 0x22;
/** Ids that JSON can spell in one way only. */
const PLAIN_ID = /^[\w.:/@=+~-]+$/;
/** A time without leading zero, sign, fraction or exponent. */
const PLAIN_TIME = /^[1-9]\d{0,14}$/;

export function identityOf(id: string, createdS: number): StreamIdentity | null {
  return PLAIN_ID.test(id) ? { id, created: String(createdS) } : null;
}

/** A frame with text, without its text, padding, id and time. */
export interface WordsPattern extends Pattern {
  /** The end of the frame followed by its beginning. */
  readonly seam: Template;
  readonly afterLength: number;
  /** The bytes between text and padding; null if there is no padding. */
  readonly between: Buffer | null;
  /** The parts of the output in one buffer, and the end of each but the last; null if the frame is passed on unchanged. */
  readonly written: { readonly template: Template; readonly ends: readonly number[] } | null;
}

/** A first or last frame, which has no text; kept without its padding, id and time. */
export interface BarePattern extends Pattern {
  readonly raw: Template;
  readonly paddingAt: number;
  readonly isPadded: boolean;
  /** Null if the frame is passed on unchanged. */
  readonly written: { readonly template: Template; readonly paddingAt: number } | null;
}

interface Pattern {
  readonly idLength: number;
  readonly createdLength: number;
  readonly sign: Sign;
}

/** Bytes that are the same in every stream, for a quick check. */
interface Sign {
  readonly at: number;
  readonly bytes: Buffer;
}

/** Bytes with places for an id and a time. */
interface Template {
  readonly bytes: Buffer;
  readonly idAt: number;
  readonly createdAt: number;
}

/** Null unless the id and the time occur once in the frame, and once in the output. */
export function wordsPattern(shape: Shape, identity: StreamIdentity): WordsPattern | null {
  const seam = templateOf([shape.seam.bytes], identity);
  const written = shape.written === null ? null : writtenTemplate(shape.written, identity);
  if (seam === null || (shape.written !== null && written === null)) return null;
  const afterLength = shape.after.length;
  return {
    ...lengthsOf(identity),
    sign: signOf(seam, identity, afterLength, seam.bytes.length),
    seam,
    afterLength,
    between: shape.between === null ? null : ownCopy([shape.between]),
    written,
  };
}

function writtenTemplate({ aroundWords, afterPadding }: WrittenShape, identity: StreamIdentity) {
  const template = templateOf([...aroundWords, afterPadding], identity);
  let end = 0;
  const ends = aroundWords.map((part) => (end += part.length));
  return template === null ? null : { template, ends };
}

export function barePattern(raw: Buffer, written: string | null, identity: StreamIdentity): BarePattern | null {
  const came = withoutPadding(raw, identity);
  const left = written === null ? null : withoutPadding(Buffer.from(written), identity);
  if (came === null || (written !== null && left?.isPadded !== came.isPadded)) return null;
  const { template, paddingAt, isPadded } = came;
  const sign = signOf(template, identity, 0, paddingAt);
  return { ...lengthsOf(identity), sign, raw: template, paddingAt, isPadded, written: left };
}

function withoutPadding(bytes: Buffer, identity: StreamIdentity) {
  const padding = paddingIn(bytes, 0);
  const paddingAt = padding?.start ?? bytes.length;
  const template = templateOf([bytes.subarray(0, paddingAt), bytes.subarray(padding?.end ?? paddingAt)], identity);
  return template === null ? null : { template, paddingAt, isPadded: padding !== null };
}

/** Quick check whether a frame of this pattern and stream may start here, with text in it. */
export function mayHaveTextAt(pattern: WordsPattern, identity: StreamIdentity, bytes: Buffer, from: number): boolean {
  const words = from + pattern.seam.bytes.length - pattern.afterLength;
  return words < bytes.length && bytes[words] !== QUOTE && mayBeAt(pattern, identity, bytes, from);
}

/** Quick check whether a frame of this pattern and stream may start here. */
export function mayBeAt(
  { idLength, createdLength, sign }: Pattern,
  identity: StreamIdentity,
  bytes: Buffer,
  from: number,
) {
  return (
    idLength === identity.id.length &&
    createdLength === identity.created.length &&
    isAt(bytes, from + sign.at, sign.bytes)
  );
}

/** The shape of this pattern with the identity of a stream, which keeps it to its end. */
export function shapeFor({ seam, afterLength, between, written }: WordsPattern, identity: StreamIdentity): Shape {
  const seamLength = seam.bytes.length;
  const memory = Buffer.allocUnsafeSlow(seamLength + (written?.template.bytes.length ?? 0));
  const filled = fill(seam, identity, memory.subarray(0, seamLength));
  return {
    before: filled.subarray(afterLength),
    between,
    after: filled.subarray(0, afterLength),
    seam: partOf(filled),
    written: written === null ? null : writtenFor(written, identity, memory.subarray(seamLength)),
  };
}

function writtenFor(
  { template, ends }: NonNullable<WordsPattern['written']>,
  identity: StreamIdentity,
  memory: Buffer,
): WrittenShape {
  const filled = fill(template, identity, memory);
  let start = 0;
  const aroundWords = ends.map((end) => {
    const part = filled.subarray(start, end);
    start = end;
    return part;
  });
  return { aroundWords, afterPadding: filled.subarray(start), length: filled.length };
}

/** The identity in the frame here, if the quick check passes and it is plain; `bareAt` must still compare the frame. */
export function identityAt(pattern: BarePattern, bytes: Buffer, from: number): StreamIdentity | null {
  const { raw, sign, idLength, createdLength } = pattern;
  if (!isAt(bytes, from + sign.at, sign.bytes)) return null;
  const idAt = from + raw.idAt;
  const createdAt = from + raw.createdAt;
  const id = bytes.toString('latin1', idAt, idAt + idLength);
  const created = bytes.toString('latin1', createdAt, createdAt + createdLength);
  return PLAIN_ID.test(id) && PLAIN_TIME.test(created) ? { id, created } : null;
}

/** The frame here, if it matches the pattern. */
export function bareAt(
  pattern: BarePattern,
  identity: StreamIdentity,
  bytes: Buffer,
  from: number,
): PassedFrames | null {
  const raw = fill(pattern.raw, identity);
  if (pattern.isPadded) return paddedBareAt(pattern, identity, raw, bytes, from);
  if (!isAt(bytes, from, raw)) return null;
  const { written } = pattern;
  const end = from + raw.length;
  return { end, bytes: written === null ? bytes.subarray(from, end) : fill(written.template, identity) };
}

function paddedBareAt(
  { paddingAt, written }: BarePattern,
  identity: StreamIdentity,
  raw: Buffer,
  bytes: Buffer,
  from: number,
): PassedFrames | null {
  const padding = from + paddingAt;
  const paddingEnd = insideEnd(bytes, padding);
  if (!isAt(bytes, from, raw.subarray(0, paddingAt)) || !isAt(bytes, paddingEnd, raw.subarray(paddingAt))) return null;
  if (!isPlainText(bytes, padding, paddingEnd)) return null;
  const end = paddingEnd + raw.length - paddingAt;
  if (end - from > LIMITS.sseFrameBytesMax) return null;
  if (written === null) return { end, bytes: bytes.subarray(from, end) };
  const filled = fill(written.template, identity);
  const parts = [filled.subarray(0, written.paddingAt), bytes.subarray(padding, paddingEnd)];
  return { end, bytes: Buffer.concat([...parts, filled.subarray(written.paddingAt)]) };
}

function templateOf(parts: readonly Buffer[], identity: StreamIdentity): Template | null {
  const bytes = ownCopy(parts);
  const idAt = placeOf(bytes, '"id":"', identity.id, '"');
  const createdAt = placeOf(bytes, '"created":', identity.created, '');
  if (idAt === -1 || createdAt === -1) return null;
  const template = { bytes, idAt, createdAt };
  put(template, bytes, { id: '0'.repeat(identity.id.length), created: '0'.repeat(identity.created.length) });
  return template;
}

/** The position of a value that occurs once; -1 otherwise. */
function placeOf(bytes: Buffer, name: string, value: string, end: string): number {
  const member = name + value + end;
  const at = bytes.indexOf(member);
  return at === -1 || bytes.indexOf(member, at + 1) !== -1 ? -1 : at + name.length;
}

function fill(
  template: Template,
  identity: StreamIdentity,
  filled: Buffer = Buffer.allocUnsafe(template.bytes.length),
): Buffer {
  filled.set(template.bytes);
  put(template, filled, identity);
  return filled;
}

/** Copied in a loop, because both texts are short and ASCII. */
function put({ idAt, createdAt }: Template, bytes: Buffer, { id, created }: StreamIdentity): void {
  for (let at = 0; at < id.length; at++) bytes[idAt + at] = id.charCodeAt(at);
  for (let at = 0; at < created.length; at++) bytes[createdAt + at] = created.charCodeAt(at);
}

function lengthsOf({ id, created }: StreamIdentity) {
  return { idLength: id.length, createdLength: created.length };
}

/** The longest range between two positions without a byte of id or time, relative to the first. */
function signOf({ bytes, idAt, createdAt }: Template, identity: StreamIdentity, from: number, to: number): Sign {
  const { idLength, createdLength } = lengthsOf(identity);
  const holes = [
    { start: idAt, end: idAt + idLength },
    { start: createdAt, end: createdAt + createdLength },
  ].filter(({ start }) => start >= from && start < to);
  holes.sort((left, right) => left.start - right.start);
  let longest = { start: from, end: from };
  let start = from;
  for (const hole of [...holes, { start: to, end: to }]) {
    if (hole.start - start > longest.end - longest.start) longest = { start, end: hole.start };
    start = hole.end;
  }
  return { at: longest.start - from, bytes: bytes.subarray(longest.start, longest.end) };
}
