import type { Clock } from '../../kit/clock.ts';

/**
 * The database's time, which all processes share: windows, key expiry and closing depend on it. It is read with every
 * heartbeat and extrapolated in between with a monotonic clock.
 */
export class DatabaseTime {
  readonly #clock: Clock;
  readonly #follows: boolean;
  #atMs = 0;
  #learnedMs = 0;

  /** A clock that does not follow the database is for tests. */
  constructor(clock: Clock, follows: boolean) {
    this.#clock = clock;
    this.#follows = follows;
  }

  nowMs(): number {
    if (!this.#follows) return this.#clock.nowMs();
    return Math.floor(this.#atMs + this.#clock.monotonicMs() - this.#learnedMs);
  }

  /** Takes the database's time from a reply. Its travel time is not added, so this clock never runs ahead. */
  set(nowMs: bigint): void {
    this.#atMs = Number(nowMs);
    this.#learnedMs = this.#clock.monotonicMs();
  }
}

/** The database's clock in milliseconds, as the column `now_ms`. */
export const NOW_MS = '(extract(epoch FROM clock_timestamp()) * 1000)::int8 AS now_ms';
