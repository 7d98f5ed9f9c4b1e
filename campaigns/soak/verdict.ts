import type { CacheSize } from '../../src/kit/caches.ts';
import type { ThreadHeap } from './inspector.ts';

/** What the threads of a gateway use at one moment, after a garbage collection. */
export interface Sample {
  readonly minute: number;
  readonly rssMb: number;
  readonly heaps: readonly ThreadHeap[];
}

/** How a thread's heap changed after the first third. */
interface Growth {
  readonly thread: string;
  readonly heapMb: number;
  /** The growth of the heap as a share of its size. */
  readonly share: number;
  /** The growth of the compiled code in it. */
  readonly codeGrewMb: number;
}

export const GROWTH_MAX = 0.01;
/** A shorter series says nothing about a trend. */
const SAMPLES_MIN = 4;

/**
 * The median slope between any two samples, over the time of all of them: caches that empty themselves when they are full
 * make a heap rise and fall, which a comparison of two single samples would take for growth. Threads that did not run all
 * the time are left out.
 */
export function growthsOf(samples: readonly Sample[]): Growth[] {
  const settled = samples.slice(Math.floor(samples.length / 3));
  if (settled.length < SAMPLES_MIN) return [];
  return settled[0]!.heaps.flatMap(({ thread }) => {
    const points = settled.flatMap(({ minute, heaps }) =>
      heaps.filter((heap) => heap.thread === thread).map(({ heapMb, codeMb }) => ({ minute, heapMb, codeMb })),
    );
    if (points.length < settled.length) return [];
    const heapMb = median(points.map((point) => point.heapMb));
    const heapGrewMb = growthOf(points.map((point) => [point.minute, point.heapMb]));
    const codeGrewMb = growthOf(points.map((point) => [point.minute, point.codeMb]));
    return [{ thread, heapMb, share: heapGrewMb / heapMb, codeGrewMb }];
  });
}

function growthOf(points: readonly (readonly [minute: number, mb: number])[]): number {
  const slopes = points.flatMap(([minute, mb], at) =>
    points.slice(at + 1).map(([laterMinute, laterMb]) => (laterMb - mb) / (laterMinute - minute)),
  );
  return median(slopes) * (points.at(-1)![0] - points[0]![0]);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return (sorted[Math.floor((sorted.length - 1) / 2)]! + sorted[Math.ceil((sorted.length - 1) / 2)]!) / 2;
}

/** Sentences about what is wrong; none if the gateway's memory stays where it is. */
export function memoryFaults(samples: readonly Sample[], caches: readonly CacheSize[]): string[] {
  const growths = growthsOf(samples);
  const faults = growths
    .filter(({ share }) => share > GROWTH_MAX)
    .map(({ thread, share }) => `The heap of ${thread} grew by ${(share * 100).toFixed(2)} % after the first third.`);
  if (!growths.some(({ thread }) => thread === 'main')) faults.push('There are too few samples to see a trend.');
  if (caches.length === 0) faults.push('The gateway reported no caches.');
  const overfull = caches.filter(({ entries, entriesMax }) => !Number.isFinite(entriesMax) || entries > entriesMax);
  return [
    ...faults,
    ...overfull.map(({ cache, entries, entriesMax }) => `${cache}: ${entries} of at most ${entriesMax}.`),
  ];
}
