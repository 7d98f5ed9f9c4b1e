import { readFlags, refuseFlag } from '../test/read-flags.ts';
import { type Campaign, misfortuneCampaign, type Played } from './misfortune/campaign.ts';
import { MISFORTUNES } from './misfortune/misfortunes.ts';
import { readCount } from './read-count.ts';

const PROGRESS_EVERY = 20;

const OPTIONS = {
  rounds: { type: 'string', default: '200' },
  from: { type: 'string', default: '0' },
  seed: { type: 'string', default: '1' },
  lanes: { type: 'string', default: '4' },
  only: { type: 'string' },
} as const;

async function main(): Promise<number> {
  const { values } = readFlags({ options: OPTIONS });
  const misfortunes = MISFORTUNES.filter(({ name }) => values.only === undefined || values.only === name);
  if (misfortunes.length === 0) refuseFlag(`--only is one of ${MISFORTUNES.map(({ name }) => name).join(', ')}.`);
  const terms = {
    rounds: readCount(values.rounds, 'rounds'),
    from: readCount(values.from, 'from'),
    seed: readCount(values.seed, 'seed'),
    lanes: Math.max(1, readCount(values.lanes, 'lanes')),
  };
  const startedMs = Date.now();
  let done = 0;
  const onRound = (played: Played): void => {
    for (const fault of played.faults) process.stderr.write(`round ${played.number}, ${played.misfortune}: ${fault}\n`);
    if (++done % PROGRESS_EVERY === 0) process.stderr.write(`${done} of ${terms.rounds} rounds\n`);
  };
  const campaign = await misfortuneCampaign({ ...terms, misfortunes, onRound });
  process.stdout.write(report(campaign, terms.seed, Date.now() - startedMs));
  return faultsOf(campaign.played).length === 0 && campaign.played.length > 0 ? 0 : 1;
}

function faultsOf(played: readonly Played[]): string[] {
  return played.flatMap(({ number, misfortune, faults }) =>
    faults.map((fault) => `round ${number}, ${misfortune}: ${fault}`),
  );
}

const COLUMNS = ['rounds', 'calls', 'seen', 'calls refused', 'starts refused', 'restarts', 'faults', 'seconds'];

function report({ played, leftOut }: Campaign, seed: number, tookMs: number): string {
  const names = [...new Set(MISFORTUNES.map(({ name }) => name)), 'all'];
  const rows = names.flatMap((name) => {
    const of = played.filter(({ misfortune }) => name === 'all' || misfortune === name);
    return of.length === 0 ? [] : [[name, ...figures(of)]];
  });
  const lines = [['misfortune', ...COLUMNS], ...rows].map((cells) =>
    cells.map((cell, at) => (at === 0 ? String(cell).padEnd(20) : String(cell).padStart(16))).join(''),
  );
  const faults = faultsOf(played);
  return [
    ...lines,
    '',
    ...leftOut.map((reason) => `left out: ${reason}`),
    `${played.length} rounds, seed ${seed}, in ${Math.round(tookMs / 1000)} s`,
    faults.length === 0 ? 'Every ledger is exact, and every refusal is one sentence.' : faults.join('\n'),
    '',
  ].join('\n');
}

function figures(played: readonly Played[]): number[] {
  const sum = (figure: (one: Played) => number) => played.reduce((total, one) => total + figure(one), 0);
  return [
    played.length,
    sum(({ calls }) => calls),
    sum(({ seen }) => seen),
    sum(({ refusedCalls }) => refusedCalls),
    sum(({ refusedStarts }) => refusedStarts),
    sum(({ restarts }) => restarts),
    sum(({ faults }) => faults.length),
    Math.round(sum(({ seconds }) => seconds)),
  ];
}

process.exitCode = await main();
