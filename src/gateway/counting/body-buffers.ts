import { LIMITS } from '../../limits.ts';

/**
 * Memory that bodies are copied to for the counting thread, and that comes back with the count. A copy to new memory
 * takes several times as long.
 */
export class BodyBuffers {
  /** The smallest first. */
  #spare: ArrayBuffer[] = [];

  /** Buffers that wait to be used again. */
  get spare(): number {
    return this.#spare.length;
  }

  /** A buffer that begins with these bytes. */
  copy(bytes: Uint8Array): ArrayBuffer {
    const at = this.#spare.findIndex(({ byteLength }) => byteLength >= bytes.length);
    const buffer = at === -1 ? new ArrayBuffer(roundUp(bytes.length)) : this.#spare.splice(at, 1)[0]!;
    new Uint8Array(buffer).set(bytes);
    return buffer;
  }

  /** Keeps the largest ones, up to a limit. */
  giveBack(buffer: ArrayBuffer): void {
    if (buffer.byteLength > LIMITS.tokenCountSpareBytesMax) return;
    this.#spare.push(buffer);
    this.#spare.sort((one, other) => one.byteLength - other.byteLength);
    if (this.#spare.length > LIMITS.tokenCountSpareBuffersMax) this.#spare.shift();
  }

  clear(): void {
    this.#spare = [];
  }
}

const BYTES_MIN = 64 * 1024;

/** To a power of two, so that the next turns of a conversation fit too. */
function roundUp(bytes: number): number {
  return Math.max(BYTES_MIN, 2 ** Math.ceil(Math.log2(bytes)));
}
