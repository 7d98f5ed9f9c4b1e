import { LIMITS } from '../limits.ts';

/**
 * Room for the large bodies of calls under way. Each is in memory several times over until its call has ended, and one
 * key may send a hundred at once: too fast for anyone who looks at the memory now and then. No key has all of the room,
 * or it could keep everyone else from it by sending slowly.
 */
export class LargeBodies {
  #bytes = 0;
  readonly #byKey = new Map<bigint, number>();

  /** The way to give the room back, to be used once; null where there is none. Who has no key is alone here. */
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
