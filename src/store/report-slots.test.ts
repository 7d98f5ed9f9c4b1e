import { expect, test } from 'vitest';
import { ManualClock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { ReportSlots } from './report-slots.ts';

/** Reports that run until they are told to end. */
function open(max = 2) {
  const clock = new ManualClock();
  const slots = new ReportSlots(clock, max);
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const begin = (name: string, accountId: bigint | null) =>
    slots.run(accountId, () => {
      started.push(name);
      const { promise, resolve } = Promise.withResolvers<string>();
      ends.set(name, () => resolve(name));
      return promise;
    });
  const end = async (name: string, report: Promise<string>): Promise<void> => {
    ends.get(name)!();
    expect(await report).toBe(name);
  };
  return { clock, slots, started, begin, end };
}

test('an account has one report at a time, and its further ones wait without blocking other accounts', async () => {
  const { started, begin, end } = open();
  const first = begin('first', 1n);
  const second = begin('second', 1n);
  const other = begin('other', 2n);
  await Promise.resolve();
  expect(started).toEqual(['first', 'other']);
  await end('first', first);
  expect(started).toEqual(['first', 'other', 'second']);
  await end('other', other);
  await end('second', second);
});

test('all accounts together have few reports at a time, and the first that waits is the next', async () => {
  const { started, begin, end } = open();
  const running = [begin('operator', null), begin('one', 1n)] as const;
  const waiting = [begin('two', 2n), begin('three', 3n)] as const;
  await Promise.resolve();
  expect(started).toEqual(['operator', 'one']);
  await end('one', running[1]);
  expect(started).toEqual(['operator', 'one', 'two']);
  await end('operator', running[0]);
  await end('two', waiting[0]);
  await end('three', waiting[1]);
});

test('a report that waited too long is refused, and so is one that too many of its account wait before', async () => {
  const { clock, started, begin, end } = open();
  const first = begin('first', 1n);
  const waiting = Array.from({ length: LIMITS.usageWaitingPerAccountMax }, () => begin('waiting', 1n));
  expect(await begin('too many', 1n)).toBe('busy');
  clock.advance(LIMITS.usageWaitMs);
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['busy']));
  await end('first', first);
  expect(started).toEqual(['first']);
  expect(clock.pendingTimers).toBe(0);
});

test('a report that fails gives its slot back', async () => {
  const { slots } = open(1);
  await expect(slots.run(1n, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await slots.run(1n, async () => 'again')).toBe('again');
});
