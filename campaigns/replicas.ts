import { Random } from '../test/random.ts';
import { readFlags, refuseFlag } from '../test/read-flags.ts';
import { readCount } from './read-count.ts';
import { changeKey, changeWindows, SEEN_WITHIN_MS } from './replicas/changes.ts';
import { crashCampaign } from './replicas/crash-campaign.ts';
import { freeze } from './replicas/freeze.ts';
import { type Kill, killCampaign } from './replicas/kill-campaign.ts';
import { IN_REAPER, MOMENTS } from './replicas/moments.ts';
import { measureRates } from './replicas/rates.ts';
import { rushCampaign } from './replicas/rush-campaign.ts';
import { World } from './replicas/world.ts';

const PROGRESS_EVERY = 25;

/** The result of one part of the campaign: its figures, and everything that is wrong. */
interface Verdict {
  readonly lines: readonly string[];
  readonly faults: readonly string[];
}

const PARTS: Readonly<Record<string, (world: World, count: number, random: Random) => Promise<Verdict>>> = {
  rounds: rushes,
  kills,
  crashes,
  freezes,
  changes,
  rates,
};

async function main(): Promise<number> {
  const names = Object.keys(PARTS);
  const options = Object.fromEntries([...names, 'seed'].map((name) => [name, { type: 'string' as const }]));
  const { values } = readFlags({ options });
  const seed = readCount(values.seed ?? '1', 'seed');
  const chosen = names.filter((name) => values[name] !== undefined);
  if (chosen.length === 0) refuseFlag(`Say what to do: ${names.map((name) => `--${name} <n>`).join(' ')}`);
  const counts = new Map(chosen.map((name) => [name, readCount(String(values[name]), name)]));
  const random = new Random(seed);
  const world = await World.create();
  try {
    const faults: string[] = [];
    for (const [name, count] of counts) {
      const startedMs = Date.now();
      const verdict = await PARTS[name]!(world, count, random);
      const seconds = Math.round((Date.now() - startedMs) / 1000);
      process.stdout.write(`${[...verdict.lines, `seed ${seed}, in ${seconds} s`, ''].join('\n')}\n`);
      faults.push(...verdict.faults);
    }
    const { openHolds, violations } = await world.store.verify();
    faults.push(...violations, ...(openHolds === 0 ? [] : [`${openHolds} holds are open`]));
    process.stdout.write(`${faults.length === 0 ? 'The ledger is exact.' : faults.join('\n')}\n`);
    return faults.length === 0 ? 0 : 1;
  } finally {
    await world.end();
  }
}

function progress(what: string, of: number): (result: { readonly faults: readonly string[] }, number: number) => void {
  return ({ faults }, number) => {
    for (const fault of faults) process.stderr.write(`${what} ${number}: ${fault}\n`);
    if ((number + 1) % PROGRESS_EVERY === 0) process.stderr.write(`${number + 1} of ${of} ${what}\n`);
  };
}

async function rushes(world: World, rounds: number, random: Random): Promise<Verdict> {
  const done = await rushCampaign(world, { rounds, random, onRush: progress('rounds', rounds) });
  const lines = (['balance', 'cap'] as const).map((limit) => {
    const of = done.filter((rush) => rush.limit === limit);
    const sum = (figure: 'affordable' | 'passed') => of.reduce((total, rush) => total + rush[figure], 0);
    return `${of.length} rounds of 200 calls on a ${limit}: money for ${sum('affordable')}, ${sum('passed')} passed`;
  });
  return { lines, faults: done.flatMap(({ faults }) => faults) };
}

/** How often dead processes are left alone until their time is really over. */
const PATIENT_EVERY = 20;

async function kills(world: World, count: number, random: Random): Promise<Verdict> {
  const isPatient = (cycle: number) => cycle % PATIENT_EVERY === PATIENT_EVERY - 1;
  const done = await killCampaign(world, { kills: count, random, isPatient, onKill: progress('kills', count) });
  const head = ['kill -9', 'kills', 'in flight', 'holds voided', 'settled unseen', 'seen'];
  const rows = [...MOMENTS.map(({ name }) => name), IN_REAPER, 'all'].map((name) => {
    const of = done.filter(({ moment }) => name === 'all' || moment === name);
    const sum = (figure: Exclude<keyof Kill, 'moment' | 'faults'>) =>
      of.reduce((total, kill) => total + kill[figure], 0);
    return [name, of.length, sum('inFlight'), sum('voided'), sum('settledUnseen'), sum('seen')];
  });
  return { lines: table([head, ...rows]), faults: done.flatMap(({ faults }) => faults) };
}

async function crashes(world: World, count: number, random: Random): Promise<Verdict> {
  const done = await crashCampaign(world, { crashes: count, random, onCrash: progress('crashes', count) });
  const figures = ['inFlight', 'seen', 'refused', 'voided', 'settledUnseen'] as const;
  const sums = figures.map((figure) => done.reduce((total, crash) => total + crash[figure], 0));
  const head = ['kill -9 of PostgreSQL', 'in flight', 'seen', 'refused', 'holds voided', 'settled unseen'];
  return { lines: table([head, [done.length, ...sums]]), faults: done.flatMap(({ faults }) => faults) };
}

/** Every other replica sleeps until its time is really over. */
async function freezes(world: World, count: number): Promise<Verdict> {
  const faults: string[] = [];
  const statuses = new Map<number | null, number>();
  for (let number = 0; number < count; number++) {
    const done = await freeze(world, number, number % 2 === 1);
    for (const status of done.statuses) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    progress('freezes', count)(done, number);
    faults.push(...done.faults);
  }
  const answers = [...statuses].map(([status, calls]) => `${calls} got ${status}`).join(', ');
  return { lines: [`${count} replicas stopped and woken; of the calls that came meanwhile ${answers}`], faults };
}

async function changes(world: World, count: number): Promise<Verdict> {
  const slowestMs = new Map<string, number>();
  const faults: string[] = [];
  for (let round = 0; round < count; round++) {
    for (const change of await changeKey(world)) {
      slowestMs.set(change.name, Math.max(slowestMs.get(change.name) ?? 0, change.slowestMs));
      faults.push(...change.faults);
    }
    faults.push(...(await changeWindows(world)));
  }
  const lines = [...slowestMs].map(([name, ms]) => `${name}: seen by every replica within ${Math.round(ms)} ms`);
  return { lines: [`${count} rounds of changes, each to be seen within ${SEEN_WITHIN_MS} ms`, ...lines], faults };
}

async function rates(_world: World, count: number): Promise<Verdict> {
  const lines: string[] = [];
  const faults: string[] = [];
  for (let round = 0; round < count; round++) {
    for (const { name, letIn, allowed, faults: wrong } of await measureRates()) {
      lines.push(`rate of a key, ${name}: ${letIn} requests let in, of ${allowed} allowed`);
      faults.push(...wrong);
    }
  }
  return { lines, faults };
}

function table(rows: readonly (readonly (string | number)[])[]): string[] {
  return rows.map((cells) =>
    cells.map((cell, at) => (at === 0 ? String(cell).padEnd(28) : String(cell).padStart(16))).join(''),
  );
}

process.exitCode = await main();
