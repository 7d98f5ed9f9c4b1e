import { beforeEach, expect, test } from 'vitest';
import { ManualClock } from './clock.ts';
import { Waker } from './waker.ts';

const POLL_MS = 100;

let clock: ManualClock;
/** The looks that have begun; each ends when the test ends it. */
let looks: (() => void)[];
let waker: Waker;

beforeEach(() => {
  clock = new ManualClock();
  looks = [];
  waker = new Waker(clock, () => new Promise((resolve) => looks.push(() => resolve(POLL_MS))));
});

async function endLook(): Promise<void> {
  looks.at(-1)!();
  await waker.idle();
}

test('looks when asked, and then as often as a look says', async () => {
  waker.wakeIn(10);
  clock.advance(9);
  expect(looks).toHaveLength(0);
  clock.advance(1);
  expect(looks).toHaveLength(1);
  await endLook();
  clock.advance(POLL_MS - 1);
  expect(looks).toHaveLength(1);
  clock.advance(1);
  expect(looks).toHaveLength(2);
});

test('looks earlier if asked to, and not later', async () => {
  waker.wakeIn(50);
  waker.wakeIn(5);
  waker.wakeIn(70);
  clock.advance(5);
  expect(looks).toHaveLength(1);
  clock.advance(70);
  expect(looks).toHaveLength(1);
});

test('looks again right after a look during which it was asked to', async () => {
  waker.wakeIn(0);
  clock.advance(0);
  waker.wakeIn(0);
  clock.advance(0);
  expect(looks).toHaveLength(1);
  await endLook();
  clock.advance(0);
  expect(looks).toHaveLength(2);
});

test('looks no more once it is stopped', async () => {
  waker.wakeIn(0);
  clock.advance(0);
  waker.wakeIn(5);
  waker.stop();
  await endLook();
  waker.wakeIn(0);
  clock.advance(10 * POLL_MS);
  expect(looks).toHaveLength(1);
});
