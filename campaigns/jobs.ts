import { parseArgs } from 'node:util';
import { startPostgres } from '../test/postgres-server.ts';
import { badSubmissions } from './jobs/bad.ts';
import { jobKillCampaign, type KillReport } from './jobs/kill.ts';
import { type MoneyReport, moneyCampaign } from './jobs/money.ts';

const PROGRESS_EVERY = 25;
const REPLICAS = 3;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      money: { type: 'string', default: '0' },
      kills: { type: 'string', default: '0' },
      bad: { type: 'string', default: '0' },
      postgres: { type: 'boolean', default: false },
      seed: { type: 'string', default: '1' },
    },
  });
  const seed = readCount(values.seed, 'seed');
  const [jobs, kills] = [readCount(values.money, 'money'), readCount(values.kills, 'kills')];
  const bad = readCount(values.bad, 'bad');
  if (jobs + kills + bad === 0)
    throw new RangeError('Say what to do: --money JOBS, --bad SUBMISSIONS, or --kills N with or without --postgres.');
  const faults: string[] = [];
  if (jobs > 0) faults.push(...sayMoney(await moneyCampaign({ jobs, accounts: 200, seed, onProgress: sayCount })));
  if (bad > 0) faults.push(...(await badSubmissions(bad, seed)));
  if (kills > 0) faults.push(...sayKills(await killJobs(kills, seed, values.postgres)));
  process.stdout.write(faults.length === 0 ? 'The books are exact, and no job was lost.\n' : `${faults.join('\n')}\n`);
  return faults.length === 0 ? 0 : 1;
}

async function killJobs(kills: number, seed: number, onPostgres: boolean): Promise<KillReport> {
  const terms = { kills, seed, onKill: (_: unknown, number: number) => sayCount(number + 1) };
  if (!onPostgres) return jobKillCampaign(terms);
  const server = await startPostgres();
  try {
    return await jobKillCampaign({ ...terms, storeUrl: server.url(), replicas: REPLICAS });
  } finally {
    await server.stop();
  }
}

function sayCount(count: number): void {
  if (count % PROGRESS_EVERY === 0) process.stderr.write(`${count}\n`);
}

function sayMoney({
  accepted,
  refused,
  states,
  priceVersions,
  chargedNanousd,
  faults,
}: MoneyReport): readonly string[] {
  const lines = [...states, ...refused].map(([what, count]) => `${what.padEnd(32)}${String(count).padStart(10)}`);
  const sums = `${accepted} jobs accepted under ${priceVersions} price lists, ${chargedNanousd} nanodollars charged`;
  process.stdout.write(`${[...lines, sums].join('\n')}\n`);
  return faults;
}

function sayKills({ kills, jobs, states, chargedNanousd, faults }: KillReport): readonly string[] {
  const lines = [...states].map(([what, count]) => `${what.padEnd(32)}${String(count).padStart(10)}`);
  const hits = kills.filter(({ isHit }) => isHit).length;
  const sums = `${kills.length} kills, ${hits} of them at the point; ${jobs} jobs, ${chargedNanousd} nanodollars charged`;
  process.stdout.write(`${[...lines, sums].join('\n')}\n`);
  return faults;
}

function readCount(text: string, name: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new RangeError(`--${name} must be a whole number.`);
}

process.exitCode = await main();
