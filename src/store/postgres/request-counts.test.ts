import { expect, test } from 'vitest';
import { ManualClock } from '../../kit/clock.ts';
import type { Connections } from './connections.ts';
import { RequestCounts } from './request-counts.ts';

test('asks for all that changed since the last exchange that succeeded', async () => {
  const clock = new ManualClock();
  const windowsMs: unknown[] = [];
  let isDown = false;
  const query = async (text: string, values: readonly unknown[] = []) => {
    if (text.includes('now_s')) return [{ now_s: 0 }];
    if (!text.includes('request_count (epoch')) return [];
    if (isDown) throw new Error('no answer');
    windowsMs.push(values.at(-1));
    return [];
  };
  const counts = new RequestCounts({ query: query as Connections['query'] }, clock, () => 1n);
  await counts.exchange(new Map());
  isDown = true;
  for (let second = 0; second < 10; second++) {
    clock.advance(1_000);
    await expect(counts.exchange(new Map())).rejects.toThrow('no answer');
  }
  isDown = false;
  await counts.exchange(new Map());
  expect(windowsMs.at(-1)).toBeGreaterThan(10_000);
});
