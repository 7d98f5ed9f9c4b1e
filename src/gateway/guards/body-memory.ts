import { LocalNumbers, type NumbersById } from '../../kit/numbers-by-id.ts';
import { LIMITS } from '../../limits.ts';
import { accountEntry } from './account-share.ts';

/** No key has this id. */
const ALL = -1n;
const OF_REQUESTS: BodyMemoryLimits = {
  bytesMax: LIMITS.bodiesBytesMax,
  bytesPerKeyMax: LIMITS.bodiesBytesPerKeyMax,
  accountPercent: LIMITS.bodiesAccountPercent,
  reserveBytes: LIMITS.bodiesReserveBytes,
};
const SMALL_BYTES = LIMITS.bodiesSmallBytes;

interface BodyMemoryLimits {
  readonly bytesMax: number;
  /** Absent: only accounts are limited. */
  readonly bytesPerKeyMax?: number;
  /** What one account may take of the memory that the others leave. So the first few leave enough for the next one. */
  readonly accountPercent: number;
  /** The part of the memory that only accounts with few bytes may use, because a dozen others can fill the rest. Absent: none. */
  readonly reserveBytes?: number;
}

/**
 * Bounds the memory of request bodies: every byte counts from its arrival until its call has ended. One key, and one account,
 * may use only part of the memory, or they could block all others by sending slowly. Others bound results of jobs that are
 * read slowly, and responses to calls.
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
  add(keyId: bigint | null, bytes: number, accountId: bigint | null = null): boolean {
    this.#bytes.lock();
    const isAdded = this.#add(keyId, bytes, accountId);
    this.#bytes.unlock();
    return isAdded;
  }

  /** Whether the account has taken all that it may, and no less than this. */
  isFull(accountId: bigint, bytesMin: number): boolean {
    this.#bytes.lock();
    const bytes = this.#of(accountEntry(accountId));
    const isFull = bytes >= bytesMin && bytes >= this.#mostOf(bytes);
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
    const { bytesMax, bytesPerKeyMax = bytesMax, reserveBytes = 0 } = this.#limits;
    if (this.#of(ALL) + bytes > bytesMax) return false;
    if (keyId !== null && this.#of(keyId) + bytes > bytesPerKeyMax) return false;
    if (accountId === null) return true;
    const accountBytes = this.#of(accountEntry(accountId));
    if (reserveBytes > 0 && accountBytes + bytes <= SMALL_BYTES) return true;
    return accountBytes + bytes <= this.#mostOf(accountBytes);
  }

  /** The most that an account with this much now may have. */
  #mostOf(accountBytes: number): number {
    const { bytesMax, accountPercent, reserveBytes = 0 } = this.#limits;
    const othersBytes = this.#of(ALL) - accountBytes;
    return ((bytesMax - reserveBytes - othersBytes) * accountPercent) / 100;
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
