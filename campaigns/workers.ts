import { readFlags } from '../test/read-flags.ts';
import { killCampaign } from './kill/campaign.ts';
import { readCount } from './read-count.ts';
import { changeKey, SEEN_WITHIN_MS } from './workers/changes.ts';
import { measureRate, RATE_LIMIT } from './workers/rates.ts';
import { type RushLimit, rush, worstNanousd } from './workers/rush.ts';
import { environmentOf, GatewayWorld } from './workers/world.ts';

/** Calls of one key at once, where that is what is tested. */
const CALLS_MAX = 24;
const RUSH_CALLS = 200;

interface Counts {
  readonly rounds: number;
  readonly changes: number;
  readonly seconds: number;
  readonly kills: number;
  readonly seed: number;
}

async function main(): Promise<number> {
  const { values } = readFlags({
    options: {
      workers: { type: 'string', default: '1,2,4' },
      rounds: { type: 'string', default: '20' },
      changes: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '10' },
      kills: { type: 'string', default: '40' },
      seed: { type: 'string', default: '1' },
    },
  });
  const { rounds, changes, seconds, kills, seed } = values;
  const counts = { rounds, changes, seconds, kills, seed };
  const read = Object.fromEntries(Object.entries(counts).map(([name, text]) => [name, readCount(text, name)]));
  let faults = 0;
  for (const workers of values.workers.split(',')) {
    const startedMs = Date.now();
    const wrong = await tryWorkers(readCount(workers, 'workers'), read as unknown as Counts);
    say(`in ${Math.round((Date.now() - startedMs) / 1000)} s: ${wrong.length === 0 ? 'nothing is wrong' : ''}`);
    for (const fault of wrong) say(`  ${fault}`);
    faults += wrong.length;
  }
  return faults === 0 ? 0 : 1;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function tryWorkers(workers: number, counts: Counts): Promise<string[]> {
  say(`\n${workers} workers`);
  return [
    ...(await withWorld(workers, {}, (world) => rushes(world, counts))),
    ...(await withWorld(workers, {}, (world) => changes(world, counts))),
    ...(await withWorld(workers, { rate_limit: { calls: CALLS_MAX, streams: null } }, (world) => slots(world, counts))),
    ...(await withWorld(workers, { rate_limit: RATE_LIMIT }, (world) => rates(world, counts))),
    ...(await killed(workers, counts)),
  ];
}

/** In a world of its own; afterwards its ledger must be exact. */
async function withWorld(
  workers: number,
  settings: object,
  run: (world: GatewayWorld) => Promise<string[]>,
): Promise<string[]> {
  const world = await GatewayWorld.start(workers, settings);
  try {
    const faults = await run(world);
    const { violations } = (await world.ask('ledger.verify')) as { violations: readonly string[] };
    return [...faults, ...violations];
  } finally {
    await world.end();
  }
}

async function rushes(world: GatewayWorld, { rounds }: Counts): Promise<string[]> {
  const worst = await worstNanousd(world);
  const faults: string[] = [];
  let passed = 0;
  let allowed = 0;
  for (let round = 0; round < rounds; round++) {
    const limit: RushLimit = round % 2 === 0 ? 'balance' : 'cap';
    const done = await rush(world, { limit, calls: RUSH_CALLS, allowed: 10 + ((round * 37) % 80) }, worst);
    passed += done.passed;
    allowed += done.allowed;
    faults.push(...done.faults);
  }
  say(`  ${rounds} rounds of ${RUSH_CALLS} calls on a balance or a cap: money for ${allowed}, ${passed} passed`);
  return faults;
}

async function slots(world: GatewayWorld, { rounds }: Counts): Promise<string[]> {
  const worst = await worstNanousd(world);
  const faults: string[] = [];
  for (let round = 0; round < rounds; round++)
    faults.push(...(await rush(world, { limit: 'calls', calls: RUSH_CALLS, allowed: CALLS_MAX }, worst)).faults);
  say(`  ${rounds} rounds of ${RUSH_CALLS} calls of a key that may run ${CALLS_MAX} at once`);
  return faults;
}

async function changes(world: GatewayWorld, counts: Counts): Promise<string[]> {
  const slowestMs = new Map<string, number>();
  const faults: string[] = [];
  for (let round = 0; round < counts.changes; round++) {
    for (const change of await changeKey(world)) {
      slowestMs.set(change.name, Math.max(slowestMs.get(change.name) ?? 0, change.slowestMs));
      faults.push(...change.faults);
    }
  }
  for (const [name, ms] of slowestMs)
    say(`  ${name}: seen by every worker after ${Math.round(ms)} of ${SEEN_WITHIN_MS} ms`);
  return faults;
}

async function rates(world: GatewayWorld, { seconds }: Counts): Promise<string[]> {
  const { letIn, allowed, faults } = await measureRate(world, seconds);
  say(`  rate of a key: ${letIn} requests let in, of ${allowed} allowed`);
  return [...faults];
}

async function killed(workers: number, { kills, seed }: Counts): Promise<string[]> {
  if (kills === 0) return [];
  const { cycles, verdict } = await killCampaign({
    cycles: kills,
    seed,
    place: { settings: {}, env: environmentOf(workers) },
  });
  const voided = cycles.reduce((sum, cycle) => sum + cycle.voided, 0);
  const seen = cycles.reduce((sum, cycle) => sum + cycle.seen, 0);
  say(`  ${kills} times kill -9: ${seen} calls were seen to their end, ${voided} holds were voided`);
  return [...cycles.flatMap(({ faults }) => faults), ...(verdict.code === 0 ? [] : [verdict.text])];
}

process.exitCode = await main();
