import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CacheSize } from '../src/kit/caches.ts';
import { Random } from '../test/random.ts';
import { readFlags } from '../test/read-flags.ts';
import { runCommand } from './gateway-process.ts';
import { SoakGateway } from './soak/gateway.ts';
import { SoakTraffic } from './soak/traffic.ts';
import { GROWTH_MAX, growthsOf, memoryFaults, type Sample } from './soak/verdict.ts';

/**
 * Mixed traffic for a long time against gateways with one and with two workers, each with a simulated host in a process of
 * its own. The heaps of all threads after a garbage collection are printed again and again; after the first third they must
 * stay where they are, and every cache must stay within its bound.
 */
const { values } = readFlags({
  options: {
    minutes: { type: 'string', default: '60' },
    rate: { type: 'string', default: '150' },
    'sample-seconds': { type: 'string' },
    workers: { type: 'string', default: '1,2' },
    'full-caches': { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
  },
});
const MINUTES = Number(values.minutes);
const SAMPLE_MS = 1000 * Number(values['sample-seconds'] ?? Math.min(60, Math.max(5, (MINUTES * 60) / 18)));
const SAMPLES = Math.max(6, Math.round((MINUTES * 60_000) / SAMPLE_MS));
const KEYS = 50;
/** How often a new key replaces the oldest one, and after how many keys a new account is opened. */
const KEY_MS = 500;
const KEYS_PER_ACCOUNT = 20;
/** Until the first third has passed, there are this many reloads for each sample, so that V8 has compiled what they run. */
const RELOADS_AT_FIRST = 6;

/** Returns what is wrong. */
async function soak(workers: number, folder: string): Promise<string[]> {
  const say = (text: string): void => void process.stdout.write(`workers ${workers}  ${text}\n`);
  const gateway = await SoakGateway.start({ folder, workers, hasFullCaches: values['full-caches'] });
  await gateway.openAccount();
  const keys = await Promise.all(Array.from({ length: KEYS }, () => gateway.mintKey()));
  const traffic = new SoakTraffic(gateway.process.url, keys, new Random(Number(values.seed) + workers));
  const newKeys = startNewKeys(gateway, traffic);
  const samples = await watch(gateway, traffic, say);
  await newKeys.stop();
  const caches = await gateway.caches();
  await gateway.stop();
  const verified = await runCommand(folder, 'ledger', 'verify');
  say(verified.text.trim().replaceAll('\n', `\nworkers ${workers}  `));
  report(samples, caches, traffic, say);
  return [
    ...memoryFaults(samples, caches),
    ...[...traffic.counts.failures].map(([how, count]) => `${count} requests failed: ${how}`),
    ...(newKeys.failure === null ? [] : [`No new keys: ${newKeys.failure}`]),
    ...(verified.code === 0 ? [] : ['The ledger does not verify.']),
  ];
}

interface NewKeys {
  readonly failure: string | null;
  stop(): Promise<void>;
}

/** Mints keys one after the other until it is stopped. */
function startNewKeys(gateway: SoakGateway, traffic: SoakTraffic): NewKeys {
  let isStopped = false;
  const state: { failure: string | null } = { failure: null };
  const mintAll = async (): Promise<void> => {
    for (let minted = 1; !isStopped; minted++) {
      if (minted % KEYS_PER_ACCOUNT === 0) await gateway.openAccount();
      traffic.useKey(await gateway.mintKey());
      await pause(KEY_MS);
    }
  };
  const done = mintAll().catch((error: unknown) => {
    state.failure = String(error);
  });
  return {
    get failure() {
      return state.failure;
    },
    stop: () => {
      isStopped = true;
      return done;
    },
  };
}

/** Each sample is taken while no request is under way, so that it shows what stays in memory. */
async function watch(gateway: SoakGateway, traffic: SoakTraffic, say: (text: string) => void): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let at = 1; at <= SAMPLES; at++) {
    const reloads = at <= SAMPLES / 3 ? RELOADS_AT_FIRST : 1;
    traffic.start(Number(values.rate));
    for (let reload = 0; reload < reloads; reload++) {
      traffic.useModels(await gateway.offerNewModel());
      await pause(SAMPLE_MS / reloads);
    }
    await traffic.stop();
    const sample = await gateway.sample((at * SAMPLE_MS) / 60_000);
    samples.push(sample);
    say(lineOf(sample, traffic));
  }
  return samples;
}

function lineOf({ minute, heaps, rssMb }: Sample, { counts }: SoakTraffic): string {
  const { sent, answered, refused, hungUp, failed } = counts;
  const memory = heaps.map(
    ({ thread, heapMb, codeMb }) => `${thread} ${heapMb.toFixed(2)} (code ${codeMb.toFixed(2)})`,
  );
  const traffic = `${sent} sent, ${answered} answered, ${refused} refused, ${hungUp} hung up, ${failed} failed`;
  return `minute ${minute.toFixed(1)}: ${traffic}; heap MB: ${memory.join(', ')}; rss MB ${rssMb.toFixed(0)}`;
}

function report(
  samples: readonly Sample[],
  caches: readonly CacheSize[],
  { counts }: SoakTraffic,
  say: (text: string) => void,
): void {
  for (const [status, count] of [...counts.statuses].toSorted(([one], [other]) => one - other))
    say(`status ${status}: ${count}`);
  for (const { cache, entries, entriesMax } of caches) say(`cache ${cache}: ${entries} of at most ${entriesMax}`);
  for (const { thread, heapMb, share, codeGrewMb } of growthsOf(samples)) {
    const grew = `${(share * 100).toFixed(2)} % more since the first third; bar ${GROWTH_MAX * 100} %`;
    const parts = `code ${codeGrewMb.toFixed(2)} MB, the rest ${(share * heapMb - codeGrewMb).toFixed(2)} MB`;
    say(`heap of ${thread}: ${heapMb.toFixed(2)} MB, ${grew} (${parts})`);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

const folders: string[] = [];
// Gateways are killed when this process exits, which a signal alone does not make it do.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
const runs = values.workers.split(',').map(async (workers) => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-soak-'));
  folders.push(folder);
  const faults = await soak(Number(workers), folder);
  return faults.map((fault) => `workers ${workers}  ${fault}`);
});
const faults = (await Promise.all(runs)).flat();
for (const fault of faults) process.stdout.write(`FAULT ${fault}\n`);
process.stdout.write(faults.length === 0 ? 'The memory stays where it is.\n' : `${faults.length} faults.\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
