import { type Clock, systemClock } from '../../src/kit/clock.ts';

/** The clock of the system, some time ago: for calls that were made in the last weeks. It may only be moved forward. */
export class ShiftedClock implements Clock {
  #behindMs: number;

  constructor(behindMs: number) {
    this.#behindMs = behindMs;
  }

  moveTo(behindMs: number): void {
    if (behindMs > this.#behindMs) throw new Error('Time only goes forward.');
    this.#behindMs = behindMs;
  }

  nowMs(): number {
    return systemClock.nowMs() - this.#behindMs;
  }

  monotonicMs(): number {
    return systemClock.monotonicMs();
  }

  after: Clock['after'] = (ms, run, options) => systemClock.after(ms, run, options);
}

export function systemPause(ms: number): Promise<void> {
  return new Promise((resolve) => systemClock.after(ms, resolve));
}
