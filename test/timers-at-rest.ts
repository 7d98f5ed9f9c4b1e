import { expect } from 'vitest';
import type { ManualClock } from '../src/kit/clock.ts';
import { manyTurns, until } from './until.ts';

/**
 * Only those timers are left that also exist at rest. Timers that reschedule themselves after their work are waited for
 * first: while they run, a timer that was left behind would go unnoticed.
 */
export async function expectTimersAtRest(clock: ManualClock, atRest: number): Promise<void> {
  await until(() => clock.pendingTimers >= atRest, 'the timers that set themselves again have done so');
  await until(() => clock.pendingTimers <= atRest, 'every other timer is gone');
  await manyTurns();
  expect(clock.pendingTimers).toBe(atRest);
}
