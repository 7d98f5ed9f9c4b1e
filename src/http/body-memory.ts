import { LIMITS } from '../limits.ts';

/**
 * Bounds the memory of request bodies: every byte counts from its arrival until its call has ended. One key may use only
 * part of the memory, or it could block all others by sending slowly. Another one bounds results that are read slowly.
 */
export class BodyMemory {
  #bytes = 0;
  readonly #byKey = new Map<bigint, number>();

  /** Bytes of bodies in memory. */
  get bytes(): number {
    return this.#bytes;
  }

  /** True if this many more bytes would fit. Local calls have no key. */
  fits(keyId: bigint | null, bytes: number): boolean {
    if (this.#bytes + bytes > LIMITS.bodiesBytesMax) return false;
    return keyId === null || (this.#byKey.get(keyId) ?? 0) + bytes <= LIMITS.bodiesBytesPerKeyMax;
  }

  /** Takes memory for bytes that have arrived; false, and nothing is taken, if there is none. */
  take(keyId: bigint | null, bytes: number): boolean {
    if (!this.fits(keyId, bytes)) return false;
    this.#bytes += bytes;
    if (keyId !== null) this.#byKey.set(keyId, (this.#byKey.get(keyId) ?? 0) + bytes);
    return true;
  }

  /** Releases what was taken. */
  free(keyId: bigint | null, bytes: number): void {
    this.#bytes -= bytes;
    if (keyId === null) return;
    const rest = (this.#byKey.get(keyId) ?? 0) - bytes;
    if (rest > 0) this.#byKey.set(keyId, rest);
    else this.#byKey.delete(keyId);
  }
}
