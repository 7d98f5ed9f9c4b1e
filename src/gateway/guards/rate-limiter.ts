import { GatewayError } from '../../canonical/errors.ts';
import type { Clock } from '../../kit/clock.ts';
import { counted } from '../../kit/counted.ts';
import { LocalNumbers, type NumbersById } from '../../kit/numbers-by-id.ts';
import { LIMITS } from '../../limits.ts';

/** The request rate that one key may have. */
export interface RateLimit {
  readonly requestsPerSecond: number;
  /** How many requests may come at once after a pause. */
  readonly burst: number;
}

/** Number of requests by key id. */
type TakenByKey = ReadonlyMap<bigint, number>;

/** Limits the request rate of each key. Several gateways on one store can share their counts. */
export interface RateLimiter {
  /** Returns false if the key is at its limit. */
  take(keyId: bigint): boolean;
  /** Reports the requests accepted here since the last call, and counts those that the other gateways accepted. */
  share(exchange: (taken: TakenByKey) => Promise<TakenByKey>): Promise<void>;
}

/** Where buckets are kept. */
export interface Buckets {
  /** When the bucket of each key will be full again. A key without a bucket has a full one. */
  readonly fullAtMs: NumbersById;
  /** Requests accepted since they were last reported. */
  readonly taken: NumbersById;
}

function bucketsHere(): Buckets {
  const { limitedIdsMax } = LIMITS;
  return { fullAtMs: new LocalNumbers(limitedIdsMax), taken: new LocalNumbers(limitedIdsMax) };
}

export class TokenBuckets implements RateLimiter {
  readonly #clock: Clock;
  /** How long one token, and all of them, take to refill. */
  readonly #tokenMs: number;
  readonly #burstMs: number;
  readonly #fullAtMs: NumbersById;
  readonly #taken: NumbersById;
  /** What the other gateways accepted until then has been counted. */
  #toldMs: number;

  constructor(limit: RateLimit, clock: Clock, buckets: Buckets = bucketsHere()) {
    this.#clock = clock;
    this.#tokenMs = 1000 / limit.requestsPerSecond;
    this.#burstMs = limit.burst * this.#tokenMs;
    this.#fullAtMs = buckets.fullAtMs;
    this.#taken = buckets.taken;
    this.#toldMs = clock.monotonicMs();
  }

  take(keyId: bigint): boolean {
    const nowMs = this.#clock.monotonicMs();
    this.#fullAtMs.lock();
    const fullAtMs = Math.max(this.#fullAtMs.get(keyId) ?? 0, nowMs) + this.#tokenMs;
    const isTaken = fullAtMs - nowMs <= this.#burstMs + ROUNDING_MS;
    if (isTaken) this.#fullAtMs.set(keyId, fullAtMs);
    this.#fullAtMs.unlock();
    if (isTaken) this.#count(keyId);
    return isTaken;
  }

  #count(keyId: bigint): void {
    this.#taken.lock();
    this.#taken.set(keyId, (this.#taken.get(keyId) ?? 0) + 1);
    this.#taken.unlock();
  }

  async share(exchange: (taken: TakenByKey) => Promise<TakenByKey>): Promise<void> {
    this.#taken.lock();
    const taken = this.#taken.takeAll();
    this.#taken.unlock();
    const askedMs = this.#clock.monotonicMs();
    for (const [keyId, count] of await exchange(taken)) this.#takenElsewhere(keyId, count);
    this.#toldMs = askedMs;
  }

  /**
   * Requests accepted by other gateways may overdraw a bucket, but only up to a limit. They came since the last exchange,
   * and buckets were refilled meanwhile: after a pause of this process, it would otherwise refuse busy keys for as long.
   */
  #takenElsewhere(keyId: bigint, count: number): void {
    const nowMs = this.#clock.monotonicMs();
    this.#fullAtMs.lock();
    const fullAtMs = Math.max(this.#fullAtMs.get(keyId) ?? 0, this.#toldMs) + count * this.#tokenMs;
    this.#fullAtMs.set(keyId, Math.min(fullAtMs, nowMs + LIMITS.rateDebtBursts * this.#burstMs));
    this.#fullAtMs.unlock();
  }
}

/** Tolerance for rounding, so that a token that is due now counts as available. */
const ROUNDING_MS = 1e-6;

export function tooManyRequests({ requestsPerSecond, burst }: RateLimit): GatewayError {
  return new GatewayError('rate_limit_exceeded', {
    message: `This key may send ${counted(requestsPerSecond, 'request')} per second, with bursts of up to ${burst}. Try again in a second.`,
    retryAfterS: 1,
  });
}

export function tooManyOfAccount({ requestsPerSecond, burst }: RateLimit, factor: number): GatewayError {
  return new GatewayError('rate_limit_exceeded', {
    message: `The keys of this account together may send ${counted(requestsPerSecond * factor, 'request')} per second, with bursts of up to ${burst * factor}. Try again in a second.`,
    retryAfterS: 1,
  });
}
