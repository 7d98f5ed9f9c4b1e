import { readFlags } from '../test/read-flags.ts';
import { type Campaign, type Cycle, killCampaign } from './kill/campaign.ts';
import { MOMENTS } from './kill/moments.ts';
import { readCount } from './read-count.ts';

const PROGRESS_EVERY = 25;

async function main(): Promise<number> {
  const { values } = readFlags({
    options: { cycles: { type: 'string', default: '500' }, seed: { type: 'string', default: '1' } },
  });
  const cycles = readCount(values.cycles, 'cycles');
  const seed = readCount(values.seed, 'seed');
  const startedMs = Date.now();
  const campaign = await killCampaign({ cycles, seed, onCycle: (cycle, number) => sayProgress(cycle, number, cycles) });
  process.stdout.write(report(campaign, seed, Date.now() - startedMs));
  return faultsOf(campaign).length === 0 ? 0 : 1;
}

function sayProgress({ faults }: Cycle, number: number, cycles: number): void {
  for (const fault of faults) process.stderr.write(`cycle ${number}: ${fault}\n`);
  if ((number + 1) % PROGRESS_EVERY === 0) process.stderr.write(`${number + 1} of ${cycles} kills\n`);
}

function faultsOf({ cycles, verdict }: Campaign): string[] {
  const faults = cycles.flatMap((cycle, number) => cycle.faults.map((fault) => `cycle ${number}: ${fault}`));
  return verdict.code === 0 ? faults : [...faults, `ledger verify: ${verdict.text}`];
}

const COLUMNS = [
  'kills',
  'in flight, least',
  'streams, least',
  'hit open holds',
  'holds voided',
  'settled unseen',
  'seen',
];

function report(campaign: Campaign, seed: number, tookMs: number): string {
  const { cycles, verdict } = campaign;
  const faults = faultsOf(campaign);
  const hits = cycles.filter(({ voided }) => voided > 0).length;
  const rows = [...MOMENTS.map(({ name }) => name), 'all'].map((name) => {
    const of = cycles.filter(({ moment }) => name === 'all' || moment === name);
    return [name, ...figures(of)];
  });
  const lines = [['kill -9', ...COLUMNS], ...rows].map((cells) =>
    cells.map((cell, at) => (at === 0 ? String(cell).padEnd(32) : String(cell).padStart(18))).join(''),
  );
  return [
    ...lines,
    '',
    `${cycles.length} kills, ${hits} of them between hold and settle, seed ${seed}, in ${Math.round(tookMs / 1000)} s`,
    `tollgate ledger verify: exit code ${verdict.code}`,
    faults.length === 0 ? 'Nothing was lost, nothing was charged twice, no hold stayed open.' : faults.join('\n'),
    '',
  ].join('\n');
}

function figures(cycles: readonly Cycle[]): number[] {
  const sum = (figure: (cycle: Cycle) => number) => cycles.reduce((total, cycle) => total + figure(cycle), 0);
  const least = (figure: (cycle: Cycle) => number) => Math.min(...cycles.map(figure));
  return [
    cycles.length,
    least(({ inFlight }) => inFlight),
    least(({ streamsInFlight }) => streamsInFlight),
    cycles.filter(({ voided }) => voided > 0).length,
    sum(({ voided }) => voided),
    sum(({ settledUnseen }) => settledUnseen),
    sum(({ seen }) => seen),
  ];
}

process.exitCode = await main();
