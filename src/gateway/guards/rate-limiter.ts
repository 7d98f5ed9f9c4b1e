import { GatewayError } from '../../canonical/errors.ts';
import type { Clock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';

/** The request rate that one key may have. */
export interface RateLimit {
  readonly requestsPerSecond: number;
  /** How many requests may come at once after a pause. */
  readonly burst: number;
}

/** Number of requests by key id. */
export type TakenByKey = ReadonlyMap<bigint, number>;

/** Limits the request rate of each key. Several gateways on one store can share their counts. */
export interface RateLimiter {
  /** Returns false if the key is at its limit. */
  take(keyId: bigint): boolean;
  /** Reports the requests accepted here since the last call, and counts those that the other gateways accepted. */
  share(exchange: (taken: TakenByKey) => Promise<TakenByKey>): Promise<void>;
}

/** A bucket stores when it will be full again instead of how many tokens it has. */
interface Bucket {
  fullAtMs: number;
  takenSinceShared: number;
}

/** Token buckets. A key without a bucket has a full one. */
export class TokenBuckets implements RateLimiter {
  readonly #clock: Clock;
  /** How long one token, and all of them, take to refill. */
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

  /** Requests accepted by other gateways may overdraw a bucket, but only up to a limit. */
  #takenElsewhere(keyId: bigint, count: number): void {
    const nowMs = this.#clock.monotonicMs();
    const bucket = this.#bucketOf(keyId, nowMs);
    const fullAtMs = Math.max(bucket.fullAtMs, nowMs) + count * this.#tokenMs;
    bucket.fullAtMs = Math.min(fullAtMs, nowMs + LIMITS.rateDebtBursts * this.#burstMs);
  }

  #bucketOf(keyId: bigint, nowMs: number): Bucket {
    const known = this.#buckets.get(keyId);
    if (known !== undefined) return known;
    // Forget the key that was added first.
    if (this.#buckets.size >= this.#keysMax) this.#buckets.delete(this.#buckets.keys().next().value!);
    const bucket = { fullAtMs: nowMs, takenSinceShared: 0 };
    this.#buckets.set(keyId, bucket);
    return bucket;
  }
}

/** Tolerance for rounding, so that a token that is due now counts as available. */
const ROUNDING_MS = 1e-6;

export function tooManyRequests({ requestsPerSecond, burst }: RateLimit): GatewayError {
  return new GatewayError('rate_limit_exceeded', {
    message: `This key may send ${requestsPerSecond} requests per second, with bursts of up to ${burst}. Try again in a second.`,
    retryAfterS: 1,
  });
}
