import { afterEach, beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../kit/clock.ts';
import { type SilenceWatch, watchSilence } from './silence-watch.ts';

const SILENCE_MS = 10_000;
let clock: ManualClock;
let pings: { answer(): void; fail(): void; signal: AbortSignal }[];
let watch: SilenceWatch;

beforeEach(() => {
  clock = new ManualClock();
  pings = [];
  watch = watchSilence(clock, SILENCE_MS, (signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    pings.push({ answer: resolve, fail: () => reject(new Error('refused')), signal });
    return promise;
  });
});
afterEach(() => watch.stop());

test('gives up once a ping was not answered within the silence that is allowed', () => {
  clock.advance(SILENCE_MS - 1);
  expect([pings.length, watch.signal.aborted]).toEqual([1, false]);
  clock.advance(1);
  expect(watch.signal.aborted).toBe(true);
});

test('a ping that fails is no answer', async () => {
  clock.advance(SILENCE_MS / 2);
  pings[0]!.fail();
  await Promise.resolve();
  clock.advance(SILENCE_MS / 2);
  expect(watch.signal.aborted).toBe(true);
});

test('goes on for as long as pings are answered', async () => {
  for (let sent = 0; sent < 100; sent++) {
    clock.advance(SILENCE_MS / 2);
    pings[sent]!.answer();
    await Promise.resolve();
  }
  expect([pings.length, watch.signal.aborted]).toEqual([100, false]);
});

test('when it stops, no timer stays behind and a ping under way is ended', () => {
  clock.advance(SILENCE_MS / 2);
  watch.stop();
  expect([clock.pendingTimers, pings[0]!.signal.aborted, watch.signal.aborted]).toEqual([0, true, false]);
});
