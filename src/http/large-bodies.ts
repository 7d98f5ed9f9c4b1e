import { LIMITS } from '../limits.ts';

/**
 * Bounds the memory of large bodies. Each is in memory several times until its call has ended, and one key may send a
 * hundred at once, faster than the periodic check of memory notices. One key may use only part of the room, or it could
 * block all others by sending slowly.
 */
export class LargeBodies {
  #bytes = 0;
  readonly #byKey = new Map<bigint, number>();

  /** Returns the function that releases the room, to be called once; null if there is no room. Local calls have no key. */
  take(keyId: bigint | null, bytes: number): (() => void) | null {
    const ofKey = keyId === null ? 0 : (this.#byKey.get(keyId) ?? 0);
    if (ofKey + bytes > LIMITS.largeBodiesBytesPerKeyMax && keyId !== null) return null;
    if (this.#bytes + bytes > LIMITS.largeBodiesBytesMax) return null;
    this.#add(keyId, bytes);
    return () => this.#add(keyId, -bytes);
  }

  #add(keyId: bigint | null, bytes: number): void {
    this.#bytes += bytes;
    if (keyId === null) return;
    const ofKey = (this.#byKey.get(keyId) ?? 0) + bytes;
    if (ofKey === 0) this.#byKey.delete(keyId);
    else this.#byKey.set(keyId, ofKey);
  }
}
