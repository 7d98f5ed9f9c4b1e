import { fork } from 'node:child_process';
import pg from 'pg';
import { systemClock } from '../../src/kit/clock.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { Store, VerifyReport } from '../../src/store/store.ts';
import { aKey, anAccount } from '../../test/store-fixtures.ts';
import { scriptOf } from '../programs.ts';
import { cancelWaiting } from './job-rounds.ts';
import { ACCOUNTS, keyOf, keysOf, type WorkerReport, type WorkerTerms } from './terms.ts';

interface LedgerCampaign {
  readonly operations: number;
  readonly outcomes: ReadonlyMap<string, number>;
  /** How often the identities were checked while the workers ran. */
  readonly audits: number;
  readonly verified: VerifyReport;
  readonly faults: readonly string[];
}

interface LedgerTerms {
  readonly url: string;
  readonly operations: number;
  readonly workers: number;
  readonly seed: number;
}

/** Several processes move money at random on one database, while an auditor checks the identities. */
export async function ledgerCampaign({ url, operations, workers, seed }: LedgerTerms): Promise<LedgerCampaign> {
  const store = await openPostgresStore({ url, clock: systemClock });
  try {
    await populate(store);
    const share = Math.ceil(operations / workers);
    const running = Array.from({ length: workers }, (_, at) =>
      runWorker({ url, operations: share, seed: seed * 100 + at }),
    );
    const { reports, audits, faults } = await auditUntil(url, Promise.all(running));
    await cancelWaiting(store);
    const verified = await store.verify();
    return {
      operations: reports.reduce((sum, report) => sum + report.operations, 0),
      outcomes: sumOutcomes(reports),
      audits,
      verified,
      faults: [
        ...faults,
        ...reports.flatMap(({ failures }) => failures),
        ...verified.violations,
        ...(verified.openHolds === 0 ? [] : [`${verified.openHolds} holds are open`]),
        ...(await leftOverFor(store)),
        ...(await judgeBalances(store, reports)),
      ],
    };
  } finally {
    await store.close();
  }
}

async function populate(store: Store): Promise<void> {
  await store.registerPrices('v1', '{}');
  for (let id = 1n; id <= BigInt(ACCOUNTS); id++) {
    await store.createAccount(anAccount(id));
    for (let number = 0; number < keysOf(id); number++) {
      const keyId = keyOf(id, number);
      // Every other key soon reaches its cap.
      await store.createKey(aKey(keyId, id, number % 2 === 0 ? {} : { capNanousd: 300_000n, capWindow: 'day' }));
    }
  }
}

function runWorker(terms: WorkerTerms): Promise<WorkerReport> {
  return new Promise((resolve, reject) => {
    const child = fork(scriptOf('campaigns/ledger/worker.ts'));
    const end = (): void => void child.kill('SIGKILL');
    process.once('exit', end);
    let report: WorkerReport | null = null;
    child.once('message', (message) => {
      report = message as WorkerReport;
    });
    child.once('close', (code) => {
      process.removeListener('exit', end);
      if (report === null) reject(new Error(`A worker ended with ${code} and said nothing.`));
      else resolve(report);
    });
    child.send(terms);
  });
}

/** In one snapshot: what every account and key should have by its rows, and what it has. */
const IDENTITIES = `
  WITH entries AS (
    SELECT account_id, sum(held) FILTER (WHERE state = 1) AS held, sum(cost) FILTER (WHERE state = 2) AS spent
    FROM call GROUP BY account_id),
  jobs AS (
    SELECT job.account_id, sum(job.reserved) AS reserved FROM job LEFT JOIN job_group ON job_group.id = job.group_id
    WHERE job.state IN (1, 4) OR job.state = 0 AND job_group.accepted_ms IS NOT NULL GROUP BY job.account_id),
  credits AS (SELECT account_id, sum(amount) AS amount FROM credit GROUP BY account_id),
  windows AS (
    SELECT key_id, window_id, sum(held) FILTER (WHERE state = 1) AS held, sum(cost) FILTER (WHERE state = 2) AS spent
    FROM call GROUP BY key_id, window_id)
  SELECT format('account %s has %s, %s held, %s spent, but its rows say %s, %s, %s', b.account_id, b.balance, b.held,
    b.spent, coalesce(c.amount, 0) - coalesce(e.spent, 0), coalesce(e.held, 0), coalesce(e.spent, 0)) AS fault
  FROM balance AS b LEFT JOIN entries AS e USING (account_id) LEFT JOIN credits AS c USING (account_id)
  WHERE b.balance <> coalesce(c.amount, 0) - coalesce(e.spent, 0) OR b.held <> coalesce(e.held, 0)
    OR b.spent <> coalesce(e.spent, 0) OR b.held < 0 OR b.held + b.reserved > b.balance
  UNION ALL
  SELECT format('account %s has %s reserved, but its jobs say %s', b.account_id, b.reserved, coalesce(j.reserved, 0))
  FROM balance AS b LEFT JOIN jobs AS j USING (account_id) WHERE b.reserved <> coalesce(j.reserved, 0)
  UNION ALL
  SELECT format('key %s has %s held, %s spent, but its rows say %s, %s', w.key_id, w.held, w.spent,
    coalesce(s.held, 0), coalesce(s.spent, 0))
  FROM key_window AS w LEFT JOIN windows AS s USING (key_id, window_id)
  WHERE w.held <> coalesce(s.held, 0) OR w.spent <> coalesce(s.spent, 0)`;

const FAULTS_MAX = 20;

async function auditUntil(
  url: string,
  work: Promise<WorkerReport[]>,
): Promise<{ reports: WorkerReport[]; audits: number; faults: string[] }> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  let isOver = false;
  const watched = work.finally(() => {
    isOver = true;
  });
  watched.catch(() => undefined);
  const faults: string[] = [];
  let audits = 0;
  try {
    while (!isOver && faults.length < FAULTS_MAX) {
      const { rows } = await client.query<{ fault: string }>(IDENTITIES);
      faults.push(...rows.map(({ fault }) => fault));
      audits++;
    }
    return { reports: await watched, audits, faults };
  } finally {
    await client.end();
  }
}

function sumOutcomes(reports: readonly WorkerReport[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [kind, count] of reports.flatMap(({ outcomes }) => outcomes))
    sums.set(kind, (sums.get(kind) ?? 0) + count);
  return new Map([...sums].sort());
}

/** Nothing waits any more, so nothing may be reserved. */
async function leftOverFor(store: Store): Promise<string[]> {
  const { waiting, running } = await store.jobs.sums(Date.now());
  const { reservedNanousd } = await store.directory.bookSums();
  const isNone = waiting + running === 0 && reservedNanousd === 0n;
  return isNone ? [] : [`${waiting} jobs wait and ${running} run, with ${reservedNanousd} reserved`];
}

/** Each balance is what the workers' outcomes add up to. */
async function judgeBalances(store: Store, reports: readonly WorkerReport[]): Promise<string[]> {
  const told = new Map<bigint, bigint>();
  for (const [id, change] of reports.flatMap(({ balances }) => balances)) {
    told.set(BigInt(id), (told.get(BigInt(id)) ?? 0n) + BigInt(change));
  }
  const faults: string[] = [];
  for (const [id, balance] of told) {
    const { balanceNanousd } = (await store.findAccount(id))!;
    if (balanceNanousd !== balance)
      faults.push(`Account ${id} has ${balanceNanousd}, but workers were told ${balance}`);
  }
  return faults;
}
