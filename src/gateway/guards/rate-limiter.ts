import { GatewayError } from '../../canonical/errors.ts';
import type { Clock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';

/** How often one key may ask; null where it may as often as it likes. */
export interface RateLimit {
  readonly requestsPerSecond: number;
  /** How many may come at once, after a time of rest. */
  readonly burst: number;
}

/** Requests by key. */
export type TakenByKey = ReadonlyMap<bigint, number>;

/** Lets each key ask so often, and no oftener; several gateways over one store may share the count. */
export interface RateLimiter {
  /** False if the key has used up what it may ask for now. */
  take(keyId: bigint): boolean;
  /** Hands over what was let in here since the last time, and counts what `exchange` says the others let in. */
  share(exchange: (taken: TakenByKey) => Promise<TakenByKey>): Promise<void>;
}

/** One number says how full a bucket is: when it will be full again. */
interface Bucket {
  fullAtMs: number;
  takenSinceShared: number;
}

/** Token buckets; a key that was idle long enough is forgotten, which is the same as a full bucket. */
export class TokenBuckets implements RateLimiter {
  readonly #clock: Clock;
  /** Time that one token takes to come back, and that all of them take. */
  readonly #tokenMs: number;
  readonly #burstMs: number;
  readonly #keysMax: number;
  readonly #buckets = new Map<bigint, Bucket>();

  constructor(limit: RateLimit, clock: Clock, keysMax: number = LIMITS.rateLimitedKeysMax) {
    this.#clock = clock;
    this.#tokenMs = 1000 / limit.requestsPerSecond;
    this.#burstMs = limit.burst * this.#tokenMs;
    this.#keysMax = keysMax;
  }

  take(keyId: bigint): boolean {
    const nowMs = this.#clock.monotonicMs();
    const bucket = this.#bucketOf(keyId, nowMs);
    const fullAtMs = Math.max(bucket.fullAtMs, nowMs) + this.#tokenMs;
    if (fullAtMs - nowMs > this.#burstMs + ROUNDING_MS) return false;
    bucket.fullAtMs = fullAtMs;
    bucket.takenSinceShared++;
    return true;
  }

  async share(exchange: (taken: TakenByKey) => Promise<TakenByKey>): Promise<void> {
    const taken = new Map<bigint, number>();
    for (const [keyId, bucket] of this.#buckets) {
      if (bucket.takenSinceShared > 0) taken.set(keyId, bucket.takenSinceShared);
      bucket.takenSinceShared = 0;
    }
    for (const [keyId, count] of await exchange(taken)) this.#takenElsewhere(keyId, count);
  }

  /** What others let in may overdraw a bucket, but never for longer than it takes to fill some. */
  #takenElsewhere(keyId: bigint, count: number): void {
    const nowMs = this.#clock.monotonicMs();
    const bucket = this.#bucketOf(keyId, nowMs);
    const fullAtMs = Math.max(bucket.fullAtMs, nowMs) + count * this.#tokenMs;
    bucket.fullAtMs = Math.min(fullAtMs, nowMs + LIMITS.rateDebtBursts * this.#burstMs);
  }

  #bucketOf(keyId: bigint, nowMs: number): Bucket {
    const known = this.#buckets.get(keyId);
    if (known !== undefined) return known;
    // What was put in first goes first.
    if (this.#buckets.size >= this.#keysMax) this.#buckets.delete(this.#buckets.keys().next().value!);
    const bucket = { fullAtMs: nowMs, takenSinceShared: 0 };
    this.#buckets.set(keyId, bucket);
    return bucket;
  }
}

/** A token that is there but for the rounding of its time is there. */
const ROUNDING_MS = 1e-6;

export function tooManyRequests({ requestsPerSecond, burst }: RateLimit): GatewayError {
  return new GatewayError('rate_limit_exceeded', {
    message: `This key may send ${requestsPerSecond} requests a second, ${burst} at once. Try again in a second.`,
    retryAfterS: 1,
  });
}
