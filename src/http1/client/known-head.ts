import { type ResponseHead, readResponseHead } from './response-head.ts';

/** Longer heads are not kept: there may be many connections, and heads with many headers seldom repeat. */
const BYTES_MAX = 512;
/** After this many different heads in a row, only every 64th is remembered: most hosts send an id in each. */
const MISSES_MAX = 8;
const RETRY_EVERY = 64;
const NOTHING = Buffer.alloc(0);

/**
 * The last head of one connection. Many hosts, above all those on the operator's own machines, send the same head again until the time in it
 * changes: comparing it takes a tenth of the time of reading it.
 */
export class KnownHead {
  #bytes = NOTHING;
  #head: ResponseHead | null = null;
  #misses = 0;

  /** What `readResponseHead` says of these bytes. The same headers may have been returned before, so nobody may change them. */
  read(bytes: Buffer, length: number): ResponseHead | string {
    if (this.#head !== null && this.#bytes.compare(bytes, 0, length) === 0) {
      this.#misses = 0;
      return this.#head;
    }
    const head = readResponseHead(bytes, length);
    this.#head = null;
    if (typeof head !== 'string' && head.status === 200 && length <= BYTES_MAX && this.#mayRepeat()) {
      this.#bytes = Buffer.allocUnsafeSlow(length);
      bytes.copy(this.#bytes, 0, 0, length);
      Object.freeze(head.headers);
      this.#head = head;
    }
    return head;
  }

  #mayRepeat(): boolean {
    this.#misses++;
    return this.#misses <= MISSES_MAX || this.#misses % RETRY_EVERY === 0;
  }
}
