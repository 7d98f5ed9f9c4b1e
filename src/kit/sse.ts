/** Server-sent events as bytes: split into frames, parsed only on demand, and written. */

const LF = 0x0a;
const CR = 0x0d;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const NOTHING = Buffer.alloc(0);

export class SseFrameTooLarge extends Error {
  override readonly name = 'SseFrameTooLarge';

  constructor(frameBytesMax: number) {
    super(`A server-sent event is larger than ${frameBytesMax} bytes.`);
  }
}

/** One event, up to and including the blank line that ends it. */
export class SseFrame {
  readonly raw: Buffer;
  readonly #lineCount: number;
  #fields: SseFields | null = null;

  /** The line count does not include the blank line; Infinity if the lines were not counted. */
  constructor(raw: Buffer, lineCount = Number.POSITIVE_INFINITY) {
    this.raw = raw;
    this.#lineCount = lineCount;
  }

  get event(): string | null {
    return this.#read().event;
  }

  /** The data lines joined by line feeds; null if they are empty: clients ignore such a frame. */
  get data(): string | null {
    return this.#read().data;
  }

  /** True if the frame has only comments, or nothing. */
  get isComment(): boolean {
    return this.#read().isComment;
  }

  #read(): SseFields {
    this.#fields ??= (this.#lineCount === 1 ? readDataLine(this.raw) : null) ?? readFields(this.raw);
    return this.#fields;
  }
}

interface SseFields {
  event: string | null;
  data: string | null;
  isComment: boolean;
}

/** Reads the usual frame, a single data line, without splitting it into lines. */
function readDataLine(raw: Buffer): SseFields | null {
  if (raw[0] !== 0x64 || raw[1] !== 0x61 || raw[2] !== 0x74 || raw[3] !== 0x61 || raw[4] !== 0x3a) return null;
  let end = raw.length;
  while (raw[end - 1] === LF || raw[end - 1] === CR) end--;
  const data = raw.toString('utf8', raw[5] === 0x20 ? 6 : 5, end);
  return { event: null, data: data === '' ? null : data, isComment: false };
}

function readFields(raw: Buffer): SseFields {
  const fields: SseFields = { event: null, data: null, isComment: true };
  for (const line of raw.toString().split(/\r\n|\r|\n/)) {
    const colon = line.indexOf(':');
    if (line === '' || colon === 0) continue;
    fields.isComment = false;
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'data') fields.data = fields.data === null ? value : `${fields.data}\n${value}`;
    else if (name === 'event') fields.event = value === '' ? null : value;
  }
  if (fields.data === '') fields.data = null;
  return fields;
}

/**
 * Called wherever a frame begins. It may consume whole frames that it recognises by their bytes, and returns the
 * position of the first byte that it did not consume. It must not consume a frame that ends in CR: an LF may follow.
 */
type TakeFrames = (bytes: Buffer, from: number) => number;

const takeNone: TakeFrames = (_bytes, from) => from;

/**
 * Splits a byte stream into frames, with any line ends and however the chunks are cut. No byte is searched twice, and a
 * frame within one chunk is not copied.
 */
export class SseFramer {
  readonly #frameBytesMax: number;
  readonly #begun: GrowingBuffer;
  /** The first bytes of the stream while they could be the start of a byte order mark; null afterwards. */
  #head: Buffer | null = NOTHING;
  #lineCount = 0;
  /** True if no byte of the current line has arrived. */
  #isLineEmpty = true;
  /** True if the last chunk ended in CR: an LF that comes next belongs to the same line end. */
  #isAfterCr = false;

  constructor(frameBytesMax: number) {
    this.#frameBytesMax = frameBytesMax;
    this.#begun = new GrowingBuffer();
  }

  /** Bytes of the frame that has not ended. */
  get begunBytes(): number {
    return this.#begun.length;
  }

  /** A frame is handed out with the CR of its blank line; an LF that comes later begins the next frame. */
  push(chunk: Buffer, onFrame: (frame: SseFrame) => void, take: TakeFrames = takeNone): void {
    const bytes = this.#head === null ? chunk : this.#withoutMark(chunk);
    if (bytes.length === 0) return;
    let frameStart = 0;
    let lineStart = this.#isAfterCr && bytes[0] === LF ? 1 : 0;
    this.#isAfterCr = bytes[bytes.length - 1] === CR;
    if (lineStart === 0 && this.#begun.length === 0) {
      frameStart = afterTaken(bytes, 0, take);
      lineStart = frameStart;
    }
    let nextCr = find(bytes, CR, lineStart);
    let nextLf = find(bytes, LF, lineStart);
    while (nextCr < bytes.length || nextLf < bytes.length) {
      const lineEnd = Math.min(nextCr, nextLf);
      const isBlank = lineEnd === lineStart && this.#isLineEmpty;
      lineStart = nextCr + 1 === nextLf ? nextLf + 1 : lineEnd + 1;
      this.#isLineEmpty = true;
      if (!isBlank) this.#lineCount++;
      else {
        this.#finish(bytes.subarray(frameStart, lineStart), onFrame, take);
        frameStart = afterTaken(bytes, lineStart, take);
        lineStart = frameStart;
      }
      if (nextCr < lineStart) nextCr = find(bytes, CR, lineStart);
      if (nextLf < lineStart) nextLf = find(bytes, LF, lineStart);
    }
    if (lineStart < bytes.length) this.#isLineEmpty = false;
    this.#keep(bytes.subarray(frameStart));
  }

  /**
   * Returns the bytes of an unfinished frame, or null. If only the final blank line is missing, as with some hosts, it
   * is added and the frame is handed out.
   */
  end(onFrame: (frame: SseFrame) => void): Buffer | null {
    const rest = this.#head ?? this.#begun.take();
    const isWhole = this.#head === null && this.#isLineEmpty;
    if (rest.length === 0) return null;
    if (!isWhole) return rest;
    if (this.#lineCount > 0) {
      const blankLine = Buffer.from(rest.at(-1) === CR ? '\n\n' : '\n');
      onFrame(new SseFrame(Buffer.concat([rest, blankLine]), this.#lineCount));
    }
    return null;
  }

  #finish(lastPart: Buffer, onFrame: (frame: SseFrame) => void, take: TakeFrames): void {
    const lineCount = this.#lineCount;
    this.#lineCount = 0;
    let raw = lastPart;
    if (this.#begun.length > 0) {
      this.#keep(lastPart);
      raw = this.#begun.take();
      if (take(raw, 0) === raw.length) return;
    }
    if (raw.length > this.#frameBytesMax) throw new SseFrameTooLarge(this.#frameBytesMax);
    onFrame(new SseFrame(raw, lineCount));
  }

  #keep(part: Buffer): void {
    if (part.length === 0) return;
    if (this.#begun.length + part.length > this.#frameBytesMax) throw new SseFrameTooLarge(this.#frameBytesMax);
    this.#begun.append(part);
  }

  #withoutMark(chunk: Buffer): Buffer {
    const head = this.#head === null || this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    const length = Math.min(head.length, BYTE_ORDER_MARK.length);
    const isMark = head.subarray(0, length).equals(BYTE_ORDER_MARK.subarray(0, length));
    if (isMark && length < BYTE_ORDER_MARK.length) {
      this.#head = head;
      return NOTHING;
    }
    this.#head = null;
    return isMark ? head.subarray(length) : head;
  }
}

/** The position of the first frame that `take` does not consume. */
function afterTaken(bytes: Buffer, from: number, take: TakeFrames): number {
  let start = from;
  for (let end = take(bytes, start); end > start; end = take(bytes, start)) start = end;
  return start;
}

/** The position of the next such byte; the buffer's length if there is none, so that it is not searched for again. */
function find(bytes: Buffer, byte: number, from: number): number {
  if (bytes[from] === byte) return from;
  const at = bytes.indexOf(byte, from);
  return at === -1 ? bytes.length : at;
}

/** Doubles its size when full, so that a frame that arrives byte by byte is copied at most twice. */
class GrowingBuffer {
  #buffer = NOTHING;
  length = 0;

  append(part: Buffer): void {
    const needed = this.length + part.length;
    if (needed > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#buffer.length, 512));
      this.#buffer.copy(larger, 0, 0, this.length);
      this.#buffer = larger;
    }
    part.copy(this.#buffer, this.length);
    this.length = needed;
  }

  /** Hands over the bytes; later appends go to a new buffer. */
  take(): Buffer {
    const taken = this.#buffer.subarray(0, this.length);
    this.#buffer = NOTHING;
    this.length = 0;
    return taken;
  }
}

/** Writes one event; every line break in the data (CR, LF or CRLF) begins a new data line. */
export function encodeSse(event: { event?: string; data: string }): string {
  if (event.event !== undefined && /[\r\n]/.test(event.event))
    throw new RangeError('An event name must be a single line.');
  const name = event.event === undefined ? '' : `event: ${event.event}\n`;
  if (!/[\r\n]/.test(event.data)) return `${name}data: ${event.data}\n\n`;
  return `${name}${event.data
    .split(/\r\n|\r|\n/)
    .map((line) => `data: ${line}\n`)
    .join('')}\n`;
}
