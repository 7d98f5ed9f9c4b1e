import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FailureWindow } from './failure-window.ts';

const WINDOW_MS = 10_000;

test('a share of failures does not count below the minimum number of calls', () => {
  const window = new FailureWindow(WINDOW_MS);
  for (let call = 0; call < 19; call++) window.add(0, true);
  expect(window.exceeds(0, 50, 20)).toBe(false);
  window.add(0, false);
  expect(window.exceeds(0, 50, 20)).toBe(true);
});

test('calls older than the window do not count', () => {
  const window = new FailureWindow(WINDOW_MS);
  for (let call = 0; call < 20; call++) window.add(500, true);
  expect(window.exceeds(9_999, 50, 20)).toBe(true);
  expect(window.exceeds(10_000, 50, 20)).toBe(false);
});

test('the ring of counters counts the same as a list of recent calls', () => {
  const step = fc.record({ afterMs: fc.integer({ min: 0, max: 15_000 }), failed: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 100 }), (steps, percent) => {
      const window = new FailureWindow(WINDOW_MS);
      const calls: { bucket: number; failed: boolean }[] = [];
      let nowMs = 0;
      for (const { afterMs, failed } of steps) {
        nowMs += afterMs;
        const bucket = Math.floor(nowMs / 1_000);
        window.add(nowMs, failed);
        calls.push({ bucket, failed });
        const recent = calls.filter((call) => call.bucket > bucket - 10);
        const failures = recent.filter((call) => call.failed).length;
        const expected = recent.length >= 5 && failures * 100 >= recent.length * percent;
        expect(window.exceeds(nowMs, percent, 5)).toBe(expected);
      }
    }),
  );
});
