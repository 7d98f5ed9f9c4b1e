import { GatewayError } from '../canonical/errors.ts';
import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import type { RateUse, SharedRate, SharedRates } from '../store/store.ts';

/** How often one key may ask; null where it may as often as it likes. */
export interface RateLimit {
  readonly requestsPerSecond: number;
  /** How many may come at once, after a time of rest. */
  readonly burst: number;
}

/** Lets each key ask so often, and no oftener; several gateways over one store share the count. */
export interface RateLimiter {
  /** False if the key has used up what it may ask for now. */
  take(keyId: bigint): boolean;
  /** Hands over what was let in here since the last time, and learns what all gateways together let in. */
  share(exchange: (uses: readonly RateUse[]) => Promise<SharedRates>): Promise<void>;
}

/** One number says how full a bucket is: when it will be full again. */
interface Bucket {
  fullAtMs: number;
  askedAtMs: number;
  /** Let in here and not yet handed over. */
  unshared: number;
  /** What was known of the bucket of all gateways when we last heard of it; from then on a part of it is ours. */
  readonly known: { level: number; atMs: number; takenByAll: bigint | null; part: number; spent: number };
}

/** Token buckets; a key that was idle long enough is forgotten, which is the same as a full bucket. */
export class TokenBuckets implements RateLimiter {
  readonly #clock: Clock;
  readonly #burst: number;
  /** Time that one token takes to come back, and that all of them take. */
  readonly #tokenMs: number;
  readonly #burstMs: number;
  readonly #keysMax: number;
  readonly #buckets = new Map<bigint, Bucket>();
  /** Gateways that let callers in now, this one among them. */
  #sharers = 1;

  constructor(limit: RateLimit, clock: Clock, keysMax: number = LIMITS.rateLimitedKeysMax) {
    this.#clock = clock;
    this.#burst = limit.burst;
    this.#tokenMs = 1000 / limit.requestsPerSecond;
    this.#burstMs = limit.burst * this.#tokenMs;
    this.#keysMax = keysMax;
  }

  take(keyId: bigint): boolean {
    const nowMs = this.#clock.monotonicMs();
    const bucket = this.#bucketOf(keyId, nowMs);
    bucket.askedAtMs = nowMs;
    const fullAtMs = Math.max(bucket.fullAtMs, nowMs) + this.#tokenMs;
    if (fullAtMs - nowMs > this.#burstMs + ROUNDING_MS) return false;
    if (this.#sharers > 1 && bucket.known.spent + 1 > this.#ours(bucket, nowMs)) return false;
    bucket.fullAtMs = fullAtMs;
    bucket.unshared++;
    bucket.known.spent++;
    return true;
  }

  /** Our part of what was there, and of what came since; one token at least, or small buckets would be shut for all. */
  #ours({ known }: Bucket, nowMs: number): number {
    const level = Math.min(this.#burst, known.level + (nowMs - known.atMs) / this.#tokenMs);
    return Math.max(1, known.part * level);
  }

  async share(exchange: (uses: readonly RateUse[]) => Promise<SharedRates>): Promise<void> {
    const uses = this.#uses();
    const handedOver = new Map(uses.map(({ keyId, taken }) => [keyId, taken]));
    for (const [keyId, taken] of handedOver) this.#buckets.get(keyId)!.unshared -= taken;
    try {
      const { sharers, rates } = await exchange(uses);
      this.#sharers = Math.max(1, sharers);
      for (const rate of rates) this.#learn(rate, handedOver.get(rate.keyId) ?? 0);
    } catch (error) {
      for (const { keyId, taken } of uses) {
        const bucket = this.#buckets.get(keyId);
        if (bucket !== undefined) bucket.unshared += taken;
      }
      throw error;
    }
  }

  /** Of every key that asked lately, also where nothing was let in: it may be busy elsewhere. */
  #uses(): RateUse[] {
    const sinceMs = this.#clock.monotonicMs() - LIMITS.rateSharedForMs;
    const uses: RateUse[] = [];
    for (const [keyId, { unshared, askedAtMs }] of this.#buckets) {
      if (unshared > 0 || askedAtMs >= sinceMs) uses.push({ keyId, taken: unshared });
      if (uses.length === LIMITS.ratesSharedMax) break;
    }
    return uses;
  }

  /** Gateways get parts by how much of the last use was theirs; a little is kept for those that had none. */
  #learn({ keyId, fullInMs, takenByAll }: SharedRate, taken: number): void {
    const bucket = this.#buckets.get(keyId);
    if (bucket === undefined) return;
    const { known } = bucket;
    const nowMs = this.#clock.monotonicMs();
    const takenSince = known.takenByAll === null ? 0 : Number(takenByAll - known.takenByAll);
    const equal = 1 / this.#sharers;
    known.part = takenSince > 0 ? (1 - KEPT) * Math.min(1, taken / takenSince) + KEPT * equal : equal;
    known.level = Math.max(0, (this.#burstMs - fullInMs) / this.#tokenMs);
    known.atMs = nowMs;
    known.takenByAll = takenByAll;
    known.spent = bucket.unshared;
    bucket.fullAtMs = nowMs + fullInMs + bucket.unshared * this.#tokenMs;
  }

  #bucketOf(keyId: bigint, nowMs: number): Bucket {
    const known = this.#buckets.get(keyId);
    if (known !== undefined) return known;
    // What was put in first goes first.
    if (this.#buckets.size >= this.#keysMax) this.#buckets.delete(this.#buckets.keys().next().value!);
    const untouched = { level: this.#burst, atMs: nowMs, takenByAll: null, part: 1 / this.#sharers, spent: 0 };
    const bucket: Bucket = { fullAtMs: nowMs, askedAtMs: nowMs, unshared: 0, known: untouched };
    this.#buckets.set(keyId, bucket);
    return bucket;
  }
}

/** The share of a bucket that goes to all gateways alike, whoever used it last. */
const KEPT = 0.1;

/** A token that is there but for the rounding of its time is there. */
const ROUNDING_MS = 1e-6;

export function tooManyRequests({ requestsPerSecond, burst }: RateLimit): GatewayError {
  return new GatewayError('rate_limit_exceeded', {
    message: `This key may send ${requestsPerSecond} requests a second, ${burst} at once. Try again in a second.`,
    retryAfterS: 1,
  });
}
