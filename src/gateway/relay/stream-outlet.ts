import type { Timer } from '../../kit/clock.ts';
import type { AttemptTerms } from './attempt.ts';

const STREAM_LINES =
  'content-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\nx-accel-buffering: no\r\n';

type Pieces = readonly (Buffer | string)[];

interface OutletListener {
  pause(): void;
  resume(): void;
  /** The client closed the connection, or read nothing for too long. */
  lost(how: 'client_gone' | 'stalled'): void;
}

/** The client's side of a stream: response head, back-pressure, disconnection. */
export class StreamOutlet {
  readonly #terms: AttemptTerms;
  readonly #listener: OutletListener;
  #stall: Timer | null = null;
  #resting = false;

  constructor(terms: AttemptTerms, listener: OutletListener) {
    this.#terms = terms;
    this.#listener = listener;
  }

  /** True while the client has not read what was written, and we wait for drain. */
  get waiting(): boolean {
    return this.#stall !== null;
  }

  watch(): void {
    const { sink } = this.#terms;
    sink.onGone(() => this.#lost('client_gone'));
    sink.onDrain(() => this.#drained());
  }

  /** Sends a comment that keeps the connection alive. */
  sendKeepAlive(): void {
    if (!this.waiting) this.write([this.#terms.client.keepAlive]);
  }

  write(pieces: Pieces): void {
    this.#head();
    if (this.#terms.sink.write(joined(pieces))) return;
    this.#listener.pause();
    this.#stall ??= this.#terms.clock.after(this.#terms.limits.stallMs, () => this.#stalled());
  }

  end(pieces: Pieces): void {
    this.#head();
    this.#terms.sink.end(joined(pieces));
  }

  /** Stops waiting for the client. The rest is sent by `end`. */
  rest(): void {
    this.#resting = true;
    this.#stall?.cancel();
    this.#stall = null;
  }

  #head(): void {
    const { sink, lines } = this.#terms;
    if (!sink.headSent) sink.head(200, lines + STREAM_LINES, null);
  }

  #drained(): void {
    this.#stall?.cancel();
    this.#stall = null;
    if (!this.#resting) this.#listener.resume();
  }

  #stalled(): void {
    this.#lost('stalled');
    this.#terms.sink.destroy();
  }

  #lost(how: 'client_gone' | 'stalled'): void {
    this.#stall?.cancel();
    this.#stall = null;
    if (!this.#resting) this.#listener.lost(how);
  }
}

function joined(pieces: Pieces): Buffer | string {
  if (pieces.length === 1) return pieces[0]!;
  if (pieces.every((piece) => typeof piece === 'string')) return pieces.join('');
  return together(pieces) ?? copied(pieces);
}

/**
 * The pieces as one buffer without a copy, if they are adjacent: so they are unless a frame of the read was changed or
 * left out.
 */
function together(pieces: Pieces): Buffer | null {
  const first = pieces[0]!;
  if (typeof first === 'string') return null;
  const { buffer, byteOffset } = first;
  let end = byteOffset;
  for (const piece of pieces) {
    if (typeof piece === 'string' || piece.byteOffset !== end || piece.buffer !== buffer) return null;
    end += piece.length;
  }
  return Buffer.from(buffer, byteOffset, end - byteOffset);
}

function copied(pieces: Pieces): Buffer {
  let length = 0;
  for (const piece of pieces) length += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length;
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  for (const piece of pieces) {
    if (typeof piece === 'string') at += bytes.write(piece, at);
    else {
      bytes.set(piece, at);
      at += piece.length;
    }
  }
  return bytes;
}
