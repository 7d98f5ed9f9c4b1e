import { GatewayError } from '../canonical/errors.ts';
import type { InboundRequest } from '../http1/server.ts';
import { Pieces } from '../kit/pieces.ts';

export interface LineLimits {
  readonly bytesMax: number;
  readonly linesMax: number;
  readonly lineBytesMax: number;
  /** A slice is full with this many lines or bytes. */
  readonly sliceLines: number;
  readonly sliceBytes: number;
  /** Bytes that may wait to be read; then the client has to wait. */
  readonly unreadBytesMax: number;
}

/** A line that is not empty. Numbers count every line and begin with 1. */
export interface BodyLine {
  readonly number: number;
  /** Without the line break. */
  readonly bytes: Buffer;
}

const LF = 10;
const CR = 13;
const NOTHING = Buffer.alloc(0);

/** Reads a body line by line while it arrives, in slices. The client is slowed down to the speed of its reader. */
export class BodyLines {
  readonly #request: Pick<InboundRequest, 'read' | 'pause' | 'resume'>;
  readonly #limits: LineLimits;
  /** What has arrived and has not been read. */
  readonly #unread: Buffer[] = [];
  #unreadBytes = 0;
  #bytes = 0;
  #lines = 0;
  /** The beginning of a line that has not ended. */
  readonly #begun = new Pieces();
  #begunBytes = 0;
  #state: 'arriving' | 'whole' | 'broken' = 'arriving';
  #isPaused = false;
  #wake: (() => void) | null = null;

  constructor(request: Pick<InboundRequest, 'read' | 'pause' | 'resume'>, limits: LineLimits) {
    this.#request = request;
    this.#limits = limits;
    request.read({
      data: (piece) => this.#take(piece),
      end: () => this.#over('whole'),
      failed: () => this.#over('broken'),
    });
  }

  /** Bytes that have arrived. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The next slice; an empty one is the end. Throws a GatewayError for a body beyond the limits or one that ended early. */
  async next(): Promise<BodyLine[]> {
    const { sliceLines, sliceBytes } = this.#limits;
    const slice: BodyLine[] = [];
    let bytes = 0;
    while (slice.length < sliceLines && bytes < sliceBytes) {
      const line = this.#nextLine();
      if (line === 'end') break;
      if (line === 'wait') await this.#more();
      else if (line.bytes.length > 0) {
        slice.push(line);
        bytes += line.bytes.length;
      }
    }
    return slice;
  }

  #take(piece: Buffer): void {
    this.#bytes += piece.length;
    this.#unread.push(piece);
    this.#unreadBytes += piece.length;
    if (this.#unreadBytes > this.#limits.unreadBytesMax && !this.#isPaused) {
      this.#isPaused = true;
      this.#request.pause();
    }
    this.#wake?.();
  }

  #over(state: 'whole' | 'broken'): void {
    this.#state = state;
    this.#wake?.();
  }

  /** Resolves when more has arrived or the body is over. */
  #more(): Promise<void> {
    if (this.#unread.length > 0 || this.#state !== 'arriving') return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = null;
        resolve();
      };
      if (this.#isPaused) {
        this.#isPaused = false;
        this.#request.resume();
      }
    });
  }

  #nextLine(): BodyLine | 'wait' | 'end' {
    if (this.#bytes > this.#limits.bytesMax) throw tooLarge(this.#limits.bytesMax);
    for (let piece = this.#unread.shift(); piece !== undefined; piece = this.#unread.shift()) {
      const end = piece.indexOf(LF);
      if (end !== -1) {
        if (end + 1 < piece.length) this.#unread.unshift(piece.subarray(end + 1));
        this.#unreadBytes -= end + 1;
        this.#begin(piece.subarray(0, end));
        return this.#line();
      }
      this.#unreadBytes -= piece.length;
      this.#begin(piece);
    }
    if (this.#state === 'arriving') return 'wait';
    if (this.#state === 'broken') throw brokenOff();
    return this.#begunBytes === 0 ? 'end' : this.#line();
  }

  #begin(part: Buffer): void {
    const { lineBytesMax } = this.#limits;
    this.#begun.add(part);
    this.#begunBytes += part.length;
    if (this.#begunBytes > lineBytesMax) throw lineTooLong(this.#lines + 1, lineBytesMax);
  }

  #line(): BodyLine {
    const { all } = this.#begun;
    const whole = all.length === 1 ? all[0]! : Buffer.concat(all);
    this.#begun.clear();
    this.#begunBytes = 0;
    const { linesMax } = this.#limits;
    if (++this.#lines > linesMax) throw tooManyLines(linesMax);
    return { number: this.#lines, bytes: isBlank(whole) ? NOTHING : withoutReturn(whole) };
  }
}

function withoutReturn(line: Buffer): Buffer {
  return line[line.length - 1] === CR ? line.subarray(0, -1) : line;
}

function isBlank(line: Buffer): boolean {
  for (const byte of line) if (byte !== 0x20 && byte !== 0x09 && byte !== CR) return false;
  return true;
}

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError('request_too_large', {
    message: `The body is larger than ${bytesMax} bytes. Split it into several groups.`,
  });
}

function tooManyLines(linesMax: number): GatewayError {
  return new GatewayError('request_too_large', {
    message: `The body has more than ${linesMax} lines. Split it into several groups.`,
  });
}

function lineTooLong(number: number, bytesMax: number): GatewayError {
  return new GatewayError('request_too_large', {
    message: `Line ${number} is longer than ${bytesMax} bytes, the most that a line may have.`,
  });
}

function brokenOff(): GatewayError {
  return new GatewayError('bad_request', { message: 'The connection closed before the whole body had arrived.' });
}
