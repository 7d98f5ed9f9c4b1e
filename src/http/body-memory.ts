import { LocalNumbers, type NumbersById } from '../kit/numbers-by-id.ts';
import { LIMITS } from '../limits.ts';

/** No key has this id. */
const ALL = -1n;

/**
 * Bounds the memory of request bodies: every byte counts from its arrival until its call has ended. One key may use only
 * part of the memory, or it could block all others by sending slowly. Another one bounds results that are read slowly.
 */
export class BodyMemory {
  /** The bytes of each key; under `ALL`, those of all bodies. */
  readonly #bytes: NumbersById;

  constructor(bytes: NumbersById = new LocalNumbers()) {
    this.#bytes = bytes;
  }

  /** Bytes of bodies in memory. */
  get bytes(): number {
    this.#bytes.lock();
    const bytes = this.#of(ALL);
    this.#bytes.unlock();
    return bytes;
  }

  /** True if this many more bytes would fit. Local calls have no key. */
  fits(keyId: bigint | null, bytes: number): boolean {
    this.#bytes.lock();
    const fits = this.#fits(keyId, bytes);
    this.#bytes.unlock();
    return fits;
  }

  /** Takes memory for bytes that have arrived; false, and nothing is taken, if there is none. */
  take(keyId: bigint | null, bytes: number): boolean {
    this.#bytes.lock();
    const isTaken = this.#fits(keyId, bytes) && this.#add(keyId, bytes);
    this.#bytes.unlock();
    return isTaken;
  }

  /** Releases what was taken. */
  free(keyId: bigint | null, bytes: number): void {
    this.#bytes.lock();
    this.#add(keyId, -bytes);
    this.#bytes.unlock();
  }

  #fits(keyId: bigint | null, bytes: number): boolean {
    if (this.#of(ALL) + bytes > LIMITS.bodiesBytesMax) return false;
    return keyId === null || this.#of(keyId) + bytes <= LIMITS.bodiesBytesPerKeyMax;
  }

  /** False, and nothing is added, if there is no room for the number of another key. */
  #add(keyId: bigint | null, bytes: number): boolean {
    return (keyId === null || this.#put(keyId, this.#of(keyId) + bytes)) && this.#put(ALL, this.#of(ALL) + bytes);
  }

  #put(id: bigint, bytes: number): boolean {
    if (bytes > 0) return this.#bytes.set(id, bytes);
    this.#bytes.delete(id);
    return true;
  }

  #of(id: bigint): number {
    return this.#bytes.get(id) ?? 0;
  }
}
