import { beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { nextTurn, turnTaker } from './turns.ts';

const STEP_MS = LIMITS.jobTurnMs;

let clock: ManualClock;
let calls: number;
let isBusy: boolean;
let yieldToCalls: () => Promise<void>;

beforeEach(() => {
  clock = new ManualClock();
  calls = 0;
  isBusy = false;
  yieldToCalls = turnTaker({ clock, isBusy: () => isBusy, hasCalls: () => calls > 0 });
});

/** Whether the work goes on without any time passing. */
async function goesOn(turn: Promise<void>): Promise<boolean> {
  let isOver = false;
  void turn.then(() => {
    isOver = true;
  });
  for (let at = 0; at < 4; at++) await nextTurn();
  return isOver;
}

test('work goes on without a turn of the event loop until its step is over', async () => {
  clock.advance(STEP_MS / 2);
  let isOver = false;
  void yieldToCalls().then(() => {
    isOver = true;
  });
  await Promise.resolve();
  expect(isOver).toBe(true);
});

test('work goes on after one turn of the event loop if there are no calls', async () => {
  clock.advance(10 * STEP_MS);
  expect(await goesOn(yieldToCalls())).toBe(true);
});

test('work rests three times as long as it took while there are calls', async () => {
  calls = 1;
  clock.advance(2 * STEP_MS);
  const turn = yieldToCalls();
  expect(await goesOn(turn)).toBe(false);
  clock.advance(6 * STEP_MS - 0.1);
  expect(await goesOn(turn)).toBe(false);
  clock.advance(0.1);
  expect(await goesOn(turn)).toBe(true);
});

test('work that waited long for something else rests no longer than the longest rest', async () => {
  calls = 1;
  clock.advance(10_000);
  const turn = yieldToCalls();
  expect(await goesOn(turn)).toBe(false);
  clock.advance(LIMITS.jobRestMaxMs);
  expect(await goesOn(turn)).toBe(true);
});

test('two that work at once share their part of the time', async () => {
  calls = 1;
  clock.advance(STEP_MS);
  const one = yieldToCalls().then(() => {
    clock.advance(STEP_MS);
    void yieldToCalls();
  });
  const other = yieldToCalls();
  expect(await goesOn(one)).toBe(false);
  clock.advance(3 * STEP_MS);
  expect([await goesOn(one), await goesOn(other)]).toEqual([true, false]);
  clock.advance(3 * STEP_MS);
  expect(await goesOn(other)).toBe(true);
});

test('work pauses while calls need all there is, and then does a step all the same', async () => {
  isBusy = true;
  clock.advance(STEP_MS);
  const turn = yieldToCalls();
  expect(await goesOn(turn)).toBe(false);
  clock.advance(LIMITS.jobBusyPauseMs);
  expect(await goesOn(turn)).toBe(true);
});
