import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../kit/clock.ts';
import { LocalNumbers } from '../../kit/numbers-by-id.ts';
import { LIMITS } from '../../limits.ts';
import { TokenBuckets, tooManyRequests } from './rate-limiter.ts';

const LIMIT = { requestsPerSecond: 50, burst: 100 };

function taken(buckets: TokenBuckets, keyId: bigint, tries: number): number {
  return Array.from({ length: tries }, () => buckets.take(keyId)).filter(Boolean).length;
}

describe('a key', () => {
  test('may send a burst at once, and then requests at its rate', () => {
    const clock = new ManualClock();
    const buckets = new TokenBuckets(LIMIT, clock);
    expect(taken(buckets, 1n, 150)).toBe(100);
    clock.advance(19);
    expect(taken(buckets, 1n, 5)).toBe(0);
    clock.advance(1);
    expect(taken(buckets, 1n, 5)).toBe(1);
    clock.advance(1000);
    expect(taken(buckets, 1n, 200)).toBe(50);
  });

  test('gets its burst back after a pause, and never more', () => {
    const clock = new ManualClock();
    const buckets = new TokenBuckets(LIMIT, clock);
    taken(buckets, 1n, 100);
    clock.advance(1_000_000);
    expect(taken(buckets, 1n, 300)).toBe(100);
  });

  test('does not affect another key', () => {
    const buckets = new TokenBuckets(LIMIT, new ManualClock());
    taken(buckets, 1n, 150);
    expect(taken(buckets, 2n, 150)).toBe(100);
  });

  test('loses no tokens for refused requests', () => {
    const clock = new ManualClock();
    const buckets = new TokenBuckets(LIMIT, clock);
    taken(buckets, 1n, 10_000);
    clock.advance(100);
    expect(taken(buckets, 1n, 10)).toBe(5);
  });

  test('never gets more than its burst and its rate, however its requests are spaced', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 60 });
    const limits = fc.record({
      requestsPerSecond: fc.integer({ min: 1, max: 100 }),
      burst: fc.integer({ min: 1, max: 20 }),
    });
    fc.assert(
      fc.property(limits, gaps, fc.integer({ min: 1, max: 15 }), (limit, pauses, tries) => {
        const clock = new ManualClock();
        const buckets = new TokenBuckets(limit, clock);
        let passed = taken(buckets, 7n, tries);
        let elapsedMs = 0;
        for (const pause of pauses) {
          clock.advance(pause);
          elapsedMs += pause;
          passed += taken(buckets, 7n, tries);
          expect(passed).toBeLessThanOrEqual(limit.burst + (elapsedMs * limit.requestsPerSecond) / 1000 + 1e-6);
        }
      }),
    );
  });
});

test('remembers a limited number of keys; a forgotten key starts with a full bucket', () => {
  const buckets = new TokenBuckets(LIMIT, new ManualClock(), {
    fullAtMs: new LocalNumbers(2),
    taken: new LocalNumbers(2),
  });
  taken(buckets, 1n, 50);
  taken(buckets, 2n, 100);
  taken(buckets, 3n, 1);
  expect(taken(buckets, 2n, 5)).toBe(0);
  expect(taken(buckets, 1n, 100)).toBe(100);
});

describe('several gateways', () => {
  test('report the requests they accepted once, and count those of the others', async () => {
    const clock = new ManualClock();
    const [here, there] = [new TokenBuckets(LIMIT, clock), new TokenBuckets(LIMIT, clock)];
    taken(here, 1n, 60);
    taken(there, 1n, 30);
    taken(there, 2n, 1);
    let told = new Map<bigint, number>();
    await there.share((mine) => {
      told = new Map(mine);
      return Promise.resolve(new Map());
    });
    expect(told).toEqual(
      new Map([
        [1n, 30],
        [2n, 1],
      ]),
    );
    await here.share(() => Promise.resolve(told));
    expect(taken(here, 1n, 100)).toBe(10);
    await there.share((mine) => {
      expect(mine.size).toBe(0);
      return Promise.resolve(new Map());
    });
  });

  test('do not block a key because one of them paused while the others served it', async () => {
    const clock = new ManualClock();
    const buckets = new TokenBuckets(LIMIT, clock);
    await buckets.share(() => Promise.resolve(new Map()));
    clock.advance(20_000);
    await expect(buckets.share(() => Promise.reject(new Error('no answer')))).rejects.toThrow('no answer');
    await buckets.share(() => Promise.resolve(new Map([[1n, 1_000]])));
    expect(taken(buckets, 1n, 200)).toBe(LIMIT.burst);
    await buckets.share(() => Promise.resolve(new Map([[1n, 20]])));
    expect(buckets.take(1n)).toBe(false);
  });

  test('cannot block a key for longer than the limit on its debt', async () => {
    const clock = new ManualClock();
    const buckets = new TokenBuckets(LIMIT, clock);
    await buckets.share(() => Promise.resolve(new Map([[1n, 1_000_000]])));
    const burstMs = (1000 * LIMIT.burst) / LIMIT.requestsPerSecond;
    clock.advance((LIMITS.rateDebtBursts - 1) * burstMs);
    expect(buckets.take(1n)).toBe(false);
    clock.advance(20);
    expect(buckets.take(1n)).toBe(true);
  });
});

test('the refusal says how many requests a key may send, also if it is one', () => {
  const message = (requestsPerSecond: number) => tooManyRequests({ requestsPerSecond, burst: 5 }).message;
  expect(message(1)).toContain('may send 1 request per second');
  expect(message(2)).toContain('may send 2 requests per second');
});
