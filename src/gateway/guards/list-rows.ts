import type { Clock } from '../../kit/clock.ts';
import { pause } from '../../kit/pause.ts';
import { LIMITS } from '../../limits.ts';
import { WorkBudget } from './work-budget.ts';

const { listRowsPerSecond: PER_SECOND, listBurstS: BURST_S } = LIMITS;

/**
 * Limits how many rows of lists one account or person reads per second. The thread that serves calls writes each of them, and
 * a thousand rows take as long as a hundred calls.
 */
export class ListRows {
  readonly #clock: Clock;
  readonly #budget: WorkBudget;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#budget = new WorkBudget(PER_SECOND, PER_SECOND * BURST_S, clock);
  }

  /** Whether another list may be read now. What it costs is known only afterwards. */
  areLeft(id: bigint): boolean {
    return this.#budget.left(id) > 0;
  }

  spend(id: bigint, rows: number): void {
    if (rows > 0) this.#budget.spend(id, rows);
  }

  /** How long to wait before another list may be read. */
  waitMs(id: bigint): number {
    return this.areLeft(id) ? 0 : Math.max(1, this.#budget.waitMs(id) - BURST_S * 1000);
  }

  /** Resolves when half of the rows are left: if an export used all of them, pages of the same reader would be refused. */
  async untilPlenty(id: bigint): Promise<void> {
    for (;;) {
      const waitMs = Math.ceil(this.#budget.waitMs(id) - (BURST_S * 1000) / 2);
      if (waitMs <= 0) return;
      await pause(this.#clock, waitMs);
    }
  }
}

/** For whoever has read too many. */
export const TOO_MANY_ROWS = `One account, or one person, may read ${PER_SECOND} rows of lists per second. Ask for fewer rows, or wait a few seconds.`;
