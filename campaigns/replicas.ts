import { parseArgs } from 'node:util';
import { Random } from '../test/random.ts';
import { rushCampaign } from './replicas/rush-campaign.ts';
import { World } from './replicas/world.ts';

const PROGRESS_EVERY = 25;

/** What a part of the campaign comes to: its figures, and everything that must not be. */
interface Verdict {
  readonly lines: readonly string[];
  readonly faults: readonly string[];
}

const PARTS: Readonly<Record<string, (world: World, count: number, random: Random) => Promise<Verdict>>> = {
  rounds: rushes,
};

async function main(): Promise<number> {
  const names = Object.keys(PARTS);
  const options = Object.fromEntries([...names, 'seed'].map((name) => [name, { type: 'string' as const }]));
  const { values } = parseArgs({ options });
  const seed = readCount(values.seed ?? '1', 'seed');
  const chosen = names.filter((name) => values[name] !== undefined);
  if (chosen.length === 0) throw new RangeError(`Say what to do: ${names.map((name) => `--${name} <n>`).join(' ')}`);
  const random = new Random(seed);
  const world = await World.create();
  try {
    const faults: string[] = [];
    for (const name of chosen) {
      const startedMs = Date.now();
      const verdict = await PARTS[name]!(world, readCount(String(values[name]), name), random);
      const seconds = Math.round((Date.now() - startedMs) / 1000);
      process.stdout.write(`${[...verdict.lines, `seed ${seed}, in ${seconds} s`, ''].join('\n')}\n`);
      faults.push(...verdict.faults);
    }
    const { openHolds, violations } = await world.store.verify();
    faults.push(...violations, ...(openHolds === 0 ? [] : [`${openHolds} holds are open`]));
    process.stdout.write(`${faults.length === 0 ? 'The books are exact.' : faults.join('\n')}\n`);
    return faults.length === 0 ? 0 : 1;
  } finally {
    await world.end();
  }
}

function readCount(text: string, name: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new RangeError(`--${name} must be a whole number.`);
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

process.exitCode = await main();
