import { LocalNumbers, type NumbersById } from '../../kit/numbers-by-id.ts';
import { LIMITS } from '../../limits.ts';
import { accountEntry } from './account-share.ts';

/** No key has this id. */
const ALL = -1n;
const OF_REQUESTS = {
  bytesMax: LIMITS.bodiesBytesMax,
  bytesPerKeyMax: LIMITS.bodiesBytesPerKeyMax,
  bytesPerAccountMax: LIMITS.bodiesBytesPerAccountMax,
};

export interface BodyMemoryLimits {
  readonly bytesMax: number;
  readonly bytesPerKeyMax: number;
  /** Absent: only keys are limited. */
  readonly bytesPerAccountMax?: number;
  /** One key may exceed its share while all bodies together take no more than this; absent: never. */
  readonly bytesLent?: number;
}

/**
 * Bounds the memory of request bodies: every byte counts from its arrival until its call has ended. One key may use only
 * part of the memory, or it could block all others by sending slowly. Others bound results of jobs that are read slowly, and
 * responses to calls, which are counted by account.
 */
export class BodyMemory {
  /** The bytes of each key, and of each account that is named too; under `ALL`, those of all bodies. */
  readonly #bytes: NumbersById;
  readonly #limits: BodyMemoryLimits;

  constructor(bytes: NumbersById = new LocalNumbers(), limits: BodyMemoryLimits = OF_REQUESTS) {
    this.#bytes = bytes;
    this.#limits = limits;
  }

  /** Bytes of bodies in memory. */
  get bytes(): number {
    this.#bytes.lock();
    const bytes = this.#of(ALL);
    this.#bytes.unlock();
    return bytes;
  }

  /** True if this many more bytes would fit. Local calls have no key. */
  fits(keyId: bigint | null, bytes: number, accountId: bigint | null = null): boolean {
    this.#bytes.lock();
    const fits = this.#fits(keyId, bytes, accountId);
    this.#bytes.unlock();
    return fits;
  }

  /** Takes memory for bytes that have arrived; false, and nothing is taken, if there is none. */
  take(keyId: bigint | null, bytes: number, accountId: bigint | null = null): boolean {
    this.#bytes.lock();
    const isTaken = this.#fits(keyId, bytes, accountId) && this.#add(keyId, bytes, accountId);
    this.#bytes.unlock();
    return isTaken;
  }

  /** Counts bytes that are there already, even beyond the limits; false if there is no room for the number of another key. */
  add(keyId: bigint | null, bytes: number): boolean {
    this.#bytes.lock();
    const isAdded = this.#add(keyId, bytes, null);
    this.#bytes.unlock();
    return isAdded;
  }

  /** Whether the key has used up its share, and what is lent beyond it. */
  isFull(keyId: bigint | null): boolean {
    if (keyId === null) return false;
    const { bytesPerKeyMax, bytesLent = 0 } = this.#limits;
    this.#bytes.lock();
    const isFull = this.#of(keyId) >= bytesPerKeyMax && this.#of(ALL) >= bytesLent;
    this.#bytes.unlock();
    return isFull;
  }

  /** Releases what was taken. */
  free(keyId: bigint | null, bytes: number, accountId: bigint | null = null): void {
    this.#bytes.lock();
    this.#add(keyId, -bytes, accountId);
    this.#bytes.unlock();
  }

  #fits(keyId: bigint | null, bytes: number, accountId: bigint | null): boolean {
    const { bytesMax, bytesPerKeyMax, bytesPerAccountMax = bytesMax, bytesLent = 0 } = this.#limits;
    const allBytes = this.#of(ALL) + bytes;
    if (allBytes > bytesMax) return false;
    if (accountId !== null && this.#of(accountEntry(accountId)) + bytes > bytesPerAccountMax) return false;
    return keyId === null || allBytes <= bytesLent || this.#of(keyId) + bytes <= bytesPerKeyMax;
  }

  /** False, and nothing is added, if there is no room for the number of another key. */
  #add(keyId: bigint | null, bytes: number, accountId: bigint | null): boolean {
    if (keyId !== null && !this.#addTo(keyId, bytes)) return false;
    if (accountId === null || this.#addTo(accountEntry(accountId), bytes)) return this.#addTo(ALL, bytes);
    if (keyId !== null) this.#addTo(keyId, -bytes);
    return false;
  }

  #addTo(id: bigint, bytes: number): boolean {
    return this.#put(id, this.#of(id) + bytes);
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
