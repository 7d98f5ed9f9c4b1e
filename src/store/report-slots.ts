import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';

interface Waiter {
  readonly accountId: bigint | null;
  start(): void;
}

/**
 * Limits the usage reports that run at the same time, since each reads much and other reads need the same connections or
 * thread. An account has one at a time, and so have the reports over all accounts together. Further ones wait briefly.
 */
export class ReportSlots {
  readonly #clock: Clock;
  readonly #max: number;
  /** By account; null stands for reports over all accounts. */
  readonly #running = new Set<bigint | null>();
  readonly #waiting: Waiter[] = [];

  constructor(clock: Clock, max: number) {
    this.#clock = clock;
    this.#max = max;
  }

  /** The result, or `busy` if no slot became free in time. */
  async run<Result>(accountId: bigint | null, report: () => Promise<Result>): Promise<Result | 'busy'> {
    if (!(await this.#enter(accountId))) return 'busy';
    try {
      return await report();
    } finally {
      this.#leave(accountId);
    }
  }

  #isFree(accountId: bigint | null): boolean {
    return this.#running.size < this.#max && !this.#running.has(accountId);
  }

  async #enter(accountId: bigint | null): Promise<boolean> {
    if (this.#isFree(accountId)) {
      this.#running.add(accountId);
      return true;
    }
    const own = this.#waiting.filter((waiter) => waiter.accountId === accountId);
    if (own.length >= LIMITS.usageWaitingPerAccountMax || this.#waiting.length >= LIMITS.usageWaitingMax) return false;
    return this.#wait(accountId);
  }

  #wait(accountId: bigint | null): Promise<boolean> {
    return new Promise((resolve) => {
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        resolve(false);
      };
      const timer = this.#clock.after(LIMITS.usageWaitMs, giveUp, { unref: true });
      const waiter: Waiter = {
        accountId,
        start: () => {
          timer.cancel();
          resolve(true);
        },
      };
      this.#waiting.push(waiter);
    });
  }

  /** One report ended, so at most one of those that wait can start. */
  #leave(accountId: bigint | null): void {
    this.#running.delete(accountId);
    const at = this.#waiting.findIndex((waiter) => this.#isFree(waiter.accountId));
    if (at === -1) return;
    const [next] = this.#waiting.splice(at, 1);
    this.#running.add(next!.accountId);
    next!.start();
  }
}
