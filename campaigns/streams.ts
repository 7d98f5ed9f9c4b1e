import { readFlags } from '../test/read-flags.ts';
import { readCount } from './read-count.ts';
import { type StreamsReport, streamsCampaign } from './streams/campaign.ts';

/** Growth of the heap, and its peak, beyond which something is leaking. */
const HEAP_GROWTH_MB_MAX = 20;
const PEAK_MB_MAX = 1_024;
const MB = 1024 * 1024;

async function main(): Promise<number> {
  const { values } = readFlags({
    options: {
      count: { type: 'string', default: '50000' },
      silent: { type: 'string', default: '500' },
      seed: { type: 'string', default: '1' },
      from: { type: 'string', default: '0' },
      'in-flight': { type: 'string', default: '8' },
      'no-frame-memory': { type: 'boolean', default: false },
    },
  });
  const startedMs = Date.now();
  const report = await streamsCampaign({
    count: readCount(values.count, 'count'),
    silent: readCount(values.silent, 'silent'),
    seed: readCount(values.seed, 'seed'),
    from: readCount(values.from, 'from'),
    inFlight: readCount(values['in-flight'], 'in-flight'),
    frameMemory: !values['no-frame-memory'],
    onProgress: (done) => process.stderr.write(`${done} streams\n`),
  });
  process.stdout.write(write(report, Number(values.seed), Date.now() - startedMs));
  return isGood(report) ? 0 : 1;
}

function isGood({ faults, heapGrowthBytes, peakBytes }: StreamsReport): boolean {
  return faults.length === 0 && heapGrowthBytes < HEAP_GROWTH_MB_MAX * MB && peakBytes < PEAK_MB_MAX * MB;
}

function write(report: StreamsReport, seed: number, tookMs: number): string {
  const { cases, endings, kinds, faults, heapGrowthBytes, peakBytes } = report;
  const rows = Object.entries(kinds)
    .toSorted(([, one], [, other]) => other - one)
    .map(([kind, count]) => `${kind.padEnd(50)}${String(count).padStart(8)}`);
  const ended = Object.entries(endings).map(([how, count]) => `${how} ${count}`);
  return [
    ...rows,
    '',
    `${cases} hostile streams, seed ${seed}, in ${Math.round(tookMs / 1000)} s; for the client: ${ended.join(', ')}`,
    `heap after collection: ${megabytes(heapGrowthBytes)} more than after warm-up; most at once: ${megabytes(peakBytes)}`,
    faults.length === 0
      ? 'No charge above its hold, no hold left open, no clean end of a broken stream.'
      : faults.join('\n'),
    '',
  ].join('\n');
}

function megabytes(bytes: number): string {
  return `${(bytes / MB).toFixed(1)} MB`;
}

process.exitCode = await main();
