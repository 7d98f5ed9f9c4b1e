import { expect, test } from 'vitest';
import { growthsOf, memoryFaults, type Sample } from '../campaigns/soak/verdict.ts';

const CACHES = [{ cache: 'keys', entries: 200, entriesMax: 200 }];

/** Samples of a main thread with these heaps, one a minute. */
function samplesOf(heapsMb: readonly number[]): Sample[] {
  return heapsMb.map((heapMb, at) => ({
    minute: at + 1,
    rssMb: 100,
    heaps: [{ thread: 'main', heapMb, codeMb: at / 80 }],
  }));
}
const minutes = Array.from({ length: 60 }, (_, at) => at);

test('a heap that grows by two percent after the first third is a fault', () => {
  const samples = samplesOf(minutes.map((at) => 100 + (2 * at) / 40));
  const [growth] = growthsOf(samples);
  expect(growth!.share).toBeGreaterThan(0.018);
  expect(growth!.codeGrewMb).toBeCloseTo(39 / 80);
  expect(memoryFaults(samples, CACHES)).toEqual([expect.stringContaining('The heap of main grew by 1.9')]);
});

test('a heap that grows only in the first third, or that a cache fills and empties, is none', () => {
  const settling = samplesOf(minutes.map((at) => 100 - 30 / (1 + at) ** 2));
  const sawtooth = samplesOf(minutes.map((at) => 100 + ((at * 0.6) % 1) * 4));
  expect([settling, sawtooth].map((samples) => memoryFaults(samples, CACHES))).toEqual([[], []]);
});

test('a cache above its bound, or without one, is a fault; so is a gateway that reports none', () => {
  const samples = samplesOf(minutes.map(() => 100));
  const over = { cache: 'keys', entries: 201, entriesMax: 200 };
  const unbounded = { cache: 'names', entries: 1, entriesMax: Number.POSITIVE_INFINITY };
  expect(memoryFaults(samples, [over, unbounded])).toHaveLength(2);
  expect(memoryFaults(samples, [])).toHaveLength(1);
});

test('too few samples are a fault, and threads that did not run all the time are left out', () => {
  expect(memoryFaults(samplesOf([1, 1, 1]), CACHES)).toEqual(['There are too few samples to see a trend.']);
  const samples = samplesOf(minutes.map(() => 100));
  const late = samples.map((sample, at) =>
    at < 50 ? sample : { ...sample, heaps: [...sample.heaps, { thread: 'count-thread', heapMb: at, codeMb: 0 }] },
  );
  expect(growthsOf(late).map(({ thread }) => thread)).toEqual(['main']);
});
