import { GatewayError } from '../../canonical/errors.ts';
import type { Clock, Timer } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';

/** What is measured of the process, each at the moment it is asked. */
export interface LoadGauges {
  /** How late the event loop ran, on the mean, since this was last asked. */
  eventLoopLagMs(): number;
  /** Used share of the heap, from 0 to 1. */
  heapShare(): number;
  residentBytes(): number;
  callsUnderWay(): number;
  ledgerDepth(): number;
}

/** Beyond any of these no call is let in; null means that nobody watches it. */
export interface LoadLimits {
  readonly eventLoopLagMs: number | null;
  readonly heapShare: number | null;
  readonly residentBytes: number | null;
  readonly callsUnderWay: number | null;
  readonly ledgerDepth: number | null;
}

export type LoadReason = 'event_loop' | 'heap' | 'memory' | 'calls' | 'ledger';

export interface LoadWatchTerms {
  readonly gauges: LoadGauges;
  readonly limits: LoadLimits;
  readonly clock: Clock;
  /** Told when calls begin to be turned away for another reason than before, or for none any more. */
  onChange(reason: LoadReason | null): void;
}

/** Turns calls away while there are more than the process can serve well, before anything was spent on them. */
export class LoadWatch {
  readonly #terms: LoadWatchTerms;
  #timer: Timer | null = null;
  #wasLate = false;
  #lagMs = 0;
  /** What only a look now and then can tell. */
  #strained: LoadReason | null = null;
  #told: LoadReason | null = null;

  constructor(terms: LoadWatchTerms) {
    this.#terms = terms;
    this.#lookLater();
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** As last measured. */
  get lagMs(): number {
    return this.#lagMs;
  }

  /** Why the next call must be turned away; null lets it in. */
  reason(): LoadReason | null {
    if (this.#strained !== null) return this.#strained;
    const { gauges, limits } = this.#terms;
    if (isBeyond(gauges.callsUnderWay(), limits.callsUnderWay)) return 'calls';
    return isBeyond(gauges.ledgerDepth(), limits.ledgerDepth) ? 'ledger' : null;
  }

  #lookLater(): void {
    this.#timer = this.#terms.clock.after(LIMITS.loadSampleMs, () => this.#look(), { unref: true });
  }

  #look(): void {
    this.#strained = this.#measure();
    const reason = this.reason();
    if (reason !== this.#told) this.#terms.onChange(reason);
    this.#told = reason;
    this.#lookLater();
  }

  #measure(): LoadReason | null {
    const { gauges, limits } = this.#terms;
    this.#lagMs = gauges.eventLoopLagMs();
    const isLate = isBeyond(this.#lagMs, limits.eventLoopLagMs);
    // One pause, as of a collection, is over when it is seen; two in a row are load.
    const staysLate = isLate && this.#wasLate;
    this.#wasLate = isLate;
    if (staysLate) return 'event_loop';
    if (isBeyond(gauges.heapShare(), limits.heapShare)) return 'heap';
    return isBeyond(gauges.residentBytes(), limits.residentBytes) ? 'memory' : null;
  }
}

function isBeyond(value: number, most: number | null): boolean {
  return most !== null && value > most;
}

export function overloaded(): GatewayError {
  return new GatewayError('overloaded', {
    message: 'The gateway has more calls than it can serve; this one was not begun and costs nothing. Try again.',
    retryAfterS: 1,
  });
}
