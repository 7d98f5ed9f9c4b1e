import { GatewayError } from '../../canonical/errors.ts';
import type { Clock, Timer } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';

/** Measurements of the process, each taken when it is called. */
interface LoadGauges {
  /** The longest delay of the event loop since the last call. */
  eventLoopLagMs(): number;
  /** Used share of the heap, from 0 to 1. */
  heapShare(): number;
  residentBytes(): number;
  callsUnderWay(): number;
  ledgerDepth(): number;
}

/** Above any of these, calls are refused. Null means no limit. */
export interface LoadLimits {
  readonly eventLoopLagMs: number | null;
  readonly heapShare: number | null;
  readonly residentBytes: number | null;
  readonly callsUnderWay: number | null;
  readonly ledgerDepth: number | null;
}

export type LoadReason = 'event_loop' | 'heap' | 'memory' | 'calls' | 'ledger';

interface LoadWatchTerms {
  readonly gauges: LoadGauges;
  readonly limits: LoadLimits;
  readonly clock: Clock;
  /** Called when the reason for refusing calls changes; null if calls are accepted again. */
  onChange(reason: LoadReason | null): void;
  /** Called with every measurement that finds memory short. Calls that are refused leave so little garbage that V8 would not collect it. */
  relieve(): void;
}

/** Refuses calls while the process is overloaded, before any work is done for them. */
export class LoadWatch {
  readonly #terms: LoadWatchTerms;
  #timer: Timer | null = null;
  #wasLate = false;
  #lagMs = 0;
  /** The reason found by the last periodic measurement. */
  #measuredReason: LoadReason | null = null;
  #lastReason: LoadReason | null = null;

  constructor(terms: LoadWatchTerms) {
    this.#terms = terms;
    this.#lookLater();
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** The last measured event-loop delay. */
  get lagMs(): number {
    return this.#lagMs;
  }

  /** Why the next call must be refused; null if it is accepted. */
  reason(): LoadReason | null {
    if (this.#measuredReason !== null) return this.#measuredReason;
    const { gauges, limits } = this.#terms;
    if (isBeyond(gauges.callsUnderWay(), limits.callsUnderWay)) return 'calls';
    return isBeyond(gauges.ledgerDepth(), limits.ledgerDepth) ? 'ledger' : null;
  }

  #lookLater(): void {
    this.#timer = this.#terms.clock.after(LIMITS.loadSampleMs, () => this.#look(), { unref: true });
  }

  #look(): void {
    // First, so that a measurement that fails does not end the watch.
    this.#lookLater();
    this.#measuredReason = this.#measure();
    if (this.#measuredReason === 'heap' || this.#measuredReason === 'memory') this.#terms.relieve();
    const reason = this.reason();
    if (reason !== this.#lastReason) this.#terms.onChange(reason);
    this.#lastReason = reason;
  }

  #measure(): LoadReason | null {
    const { gauges, limits } = this.#terms;
    this.#lagMs = gauges.eventLoopLagMs();
    const isLate = isBeyond(this.#lagMs, limits.eventLoopLagMs);
    // A single delay may be a garbage collection; two in a row are load.
    const staysLate = isLate && this.#wasLate;
    this.#wasLate = isLate;
    if (staysLate) return 'event_loop';
    // What has no limit is not measured: to read the memory of the process, a file is opened.
    if (limits.heapShare !== null && gauges.heapShare() > limits.heapShare) return 'heap';
    return limits.residentBytes !== null && gauges.residentBytes() > limits.residentBytes ? 'memory' : null;
  }
}

function isBeyond(value: number, most: number | null): boolean {
  return most !== null && value > most;
}

export function overloaded(): GatewayError {
  return new GatewayError('overloaded', {
    message: 'The gateway has more calls than it can serve; this call was not started and costs nothing. Try again.',
    retryAfterS: 1,
  });
}
