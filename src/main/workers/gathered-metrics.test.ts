import { expect, test } from 'vitest';
import type { MetricsPart } from '../../http/metrics.ts';
import { ManualClock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import { GatheredMetrics } from './gathered-metrics.ts';

function part(calls: number): MetricsPart {
  const metric = (name: string, type: string) => ({ name, type, help: '', values: [{ value: calls }] });
  return [metric('calls_total', 'counter'), metric('calls_under_way', 'gauge')] as unknown as MetricsPart;
}

test('a worker that is late or has ended keeps its counters, and has no gauges', async () => {
  const clock = new ManualClock();
  const ended = new Set<number>();
  const gathered = new GatheredMetrics({ clock, workers: 2, ask: (worker) => !ended.has(worker) });

  const first = gathered.gather();
  gathered.receive(0, 1, part(5));
  gathered.receive(1, 1, part(7));
  expect(await first).toEqual([part(5), part(7)]);

  const late = gathered.gather();
  gathered.receive(0, 2, part(6));
  clock.advance(LIMITS.workerMetricsMs);
  expect(await late).toEqual([part(6), [part(7)[0]]]);

  // What arrived too late counts from then on.
  gathered.receive(1, 2, part(8));
  ended.add(1);
  const last = gathered.gather();
  gathered.receive(0, 3, part(9));
  expect(await last).toEqual([part(9), [part(8)[0]]]);

  ended.add(0);
  expect(await gathered.gather()).toEqual([[part(9)[0]], [part(8)[0]]]);
});
