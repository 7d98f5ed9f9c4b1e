import { expect, test } from 'vitest';
import { LIMITS } from '../limits.ts';
import { ReportSlots } from './report-slots.ts';

test('a key has one report at a time, and all keys together few', async () => {
  const slots = new ReportSlots();
  const { promise, resolve } = Promise.withResolvers<string>();
  const running = Array.from({ length: LIMITS.usageReportsMax - 1 }, (_, at) => slots.run(BigInt(at), () => promise));
  await expect(slots.run(0n, async () => 'second')).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
  running.push(slots.run(null, () => promise));
  await expect(slots.run(99n, async () => 'too many')).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
  resolve('done');
  await Promise.all(running);
  expect(await slots.run(0n, async () => 'again')).toBe('again');
});

test('a report that fails gives its place back', async () => {
  const slots = new ReportSlots();
  await expect(slots.run(1n, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await slots.run(1n, async () => 'again')).toBe('again');
});
