import fc from 'fast-check';
import { Counter, Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { CounterTally, HistogramTally } from './tally.ts';

const HELP = 'Something.';
const word = fc.constantFrom('a', 'b', '"quoted"', 'back\\slash');

test('a counter reads as the library writes its own', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(1000), word, word), { minLength: 1, maxLength: 20 }),
      async (additions) => {
        const [ours, theirs] = [new Registry(), new Registry()];
        const labelNames = ['one', 'two'];
        const tally = new CounterTally({ name: 'x_total', help: HELP, labelNames, registry: ours });
        const counter = new Counter({ name: 'x_total', help: HELP, labelNames, registers: [theirs] });
        for (const [by, one, two] of additions) {
          tally.add(by, one, two);
          counter.inc({ one, two }, by);
        }
        expect(await ours.metrics()).toBe(await theirs.metrics());
        expect(await ours.metrics()).toBe(await theirs.metrics());
      },
    ),
    { numRuns: 50 },
  );
});

test('a histogram reads as the library writes its own', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(12), word), { minLength: 1, maxLength: 20 }), async (observations) => {
      const [ours, theirs] = [new Registry(), new Registry()];
      const bounds = [1, 2.5, 10];
      const tally = new HistogramTally({ name: 'x_seconds', help: HELP, labelNames: ['one'], registry: ours }, bounds);
      const name = 'x_seconds';
      const histogram = new Histogram({ name, help: HELP, labelNames: ['one'], buckets: bounds, registers: [theirs] });
      for (const [value, one] of observations) {
        tally.observe(value, one);
        histogram.observe({ one }, value);
      }
      expect(await ours.metrics()).toBe(await theirs.metrics());
    }),
    { numRuns: 50 },
  );
});

test('writes a histogram without labels', async () => {
  const registry = new Registry();
  const tally = new HistogramTally({ name: 'x_seconds', help: HELP, labelNames: [], registry }, [1]);
  tally.observe(2);
  expect(await registry.metrics()).toContain('x_seconds_bucket{le="1"} 0\nx_seconds_bucket{le="+Inf"} 1\n');
});
