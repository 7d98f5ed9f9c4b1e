/** Pieces that are kept as they come, so that usual bodies are not copied. */
const KEPT_AS_THEY_ARE = 64;
const SMALL_BYTES = 1024;
const BLOCK_BYTES = 16 * 1024;

/**
 * The pieces of a body, in the order in which they arrive. If there are many, small ones are copied together: a piece of one
 * byte takes several hundred bytes of memory, and a peer may send nothing else.
 */
export class Pieces {
  readonly #pieces: Buffer[] = [];
  #block: Buffer | null = null;
  /** Bytes of the block that are used, and how many of them are in pieces already. */
  #usedBytes = 0;
  #closedBytes = 0;

  add(piece: Buffer): void {
    if (piece.length >= SMALL_BYTES || this.#pieces.length < KEPT_AS_THEY_ARE) {
      this.#closeRun();
      this.#pieces.push(piece);
      return;
    }
    if (this.#block === null || this.#usedBytes + piece.length > this.#block.length) {
      this.#closeRun();
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      this.#usedBytes = 0;
      this.#closedBytes = 0;
    }
    this.#usedBytes += piece.copy(this.#block, this.#usedBytes);
  }

  /** All of them so far. */
  get all(): readonly Buffer[] {
    this.#closeRun();
    return this.#pieces;
  }

  clear(): void {
    this.#pieces.length = 0;
    this.#block = null;
    this.#usedBytes = 0;
    this.#closedBytes = 0;
  }

  #closeRun(): void {
    if (this.#usedBytes === this.#closedBytes) return;
    this.#pieces.push(this.#block!.subarray(this.#closedBytes, this.#usedBytes));
    this.#closedBytes = this.#usedBytes;
  }
}
