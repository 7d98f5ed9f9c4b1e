import { expect } from 'vitest';
import type { ManualClock } from '../src/kit/clock.ts';
import { manyTurns, until } from './until.ts';

/**
 * No timer is left but those that were set at rest. Those that set themselves again after their work are waited for first:
 * while they are at work, one that was left behind would go unnoticed.
 */
export async function expectTimersAtRest(clock: ManualClock, atRest: number): Promise<void> {
  await until(() => clock.pendingTimers >= atRest, 'the timers that set themselves again have done so');
  await until(() => clock.pendingTimers <= atRest, 'every other timer is gone');
  await manyTurns();
  expect(clock.pendingTimers).toBe(atRest);
}
