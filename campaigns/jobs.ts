import pg from 'pg';
import { type PostgresServer, startPostgres } from '../test/postgres-server.ts';
import { readFlags, refuseFlag } from '../test/read-flags.ts';
import { badSubmissions } from './jobs/bad.ts';
import { jobKillCampaign, type KillReport } from './jobs/kill.ts';
import { type MoneyReport, moneyCampaign } from './jobs/money.ts';
import { readCount } from './read-count.ts';

const PROGRESS_EVERY = 25;
const REPLICAS = 3;
/** A gateway's start takes a second of one core, so more than this many at once only wait for each other. */
const LANES = 3;

async function main(): Promise<number> {
  const { values } = readFlags({
    options: {
      money: { type: 'string', default: '0' },
      kills: { type: 'string', default: '0' },
      bad: { type: 'string', default: '0' },
      postgres: { type: 'boolean', default: false },
      lanes: { type: 'string', default: String(LANES) },
      seed: { type: 'string', default: '1' },
    },
  });
  const seed = readCount(values.seed, 'seed');
  const [jobs, kills] = [readCount(values.money, 'money'), readCount(values.kills, 'kills')];
  const bad = readCount(values.bad, 'bad');
  if (jobs + kills + bad === 0)
    refuseFlag('Say what to do: --money JOBS, --bad SUBMISSIONS, or --kills N with or without --postgres.');
  const faults: string[] = [];
  if (jobs > 0) faults.push(...sayMoney(await moneyCampaign({ jobs, accounts: 200, seed, onProgress: sayCount })));
  if (bad > 0) faults.push(...(await badSubmissions(bad, seed)));
  const lanes = Math.max(1, readCount(values.lanes, 'lanes'));
  if (kills > 0) faults.push(...sayKills(await killJobs(kills, seed, values.postgres, lanes)));
  process.stdout.write(faults.length === 0 ? 'The books are exact, and no job was lost.\n' : `${faults.join('\n')}\n`);
  return faults.length === 0 ? 0 : 1;
}

async function killJobs(kills: number, seed: number, onPostgres: boolean, lanes: number): Promise<KillReport> {
  let done = 0;
  const startedMs = performance.now();
  const onKill = (): void => {
    if (++done % PROGRESS_EVERY !== 0) return;
    const seconds = (performance.now() - startedMs) / 1000;
    const left = ((kills - done) * seconds) / done;
    process.stderr.write(`${done} of ${kills} kills in ${seconds.toFixed(0)} s, about ${left.toFixed(0)} s left\n`);
  };
  const terms = { kills, seed, lanes, onKill };
  if (!onPostgres) return jobKillCampaign(terms);
  const server = await startPostgres();
  try {
    const storeUrls = await createDatabases(server, lanes);
    return await jobKillCampaign({ ...terms, storeUrls, replicas: REPLICAS });
  } finally {
    await server.stop();
  }
}

async function createDatabases(server: PostgresServer, count: number): Promise<string[]> {
  const client = new pg.Client({ connectionString: server.url() });
  await client.connect();
  const names = Array.from({ length: count }, (_, at) => `lane_${at + 1}`);
  for (const name of names) await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return names.map((name) => server.url(name));
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

process.exitCode = await main();
