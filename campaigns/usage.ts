import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '../src/kit/clock.ts';
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts';
import { databaseFile } from '../src/store/sqlite/database.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../src/store/store.ts';
import { startPostgres } from '../test/postgres-server.ts';
import { readFlags } from '../test/read-flags.ts';
import { readCount } from './read-count.ts';
import { UsageCampaign } from './usage/campaign.ts';
import { floodRefusals } from './usage/flood.ts';
import { timeMonth } from './usage/time-month.ts';

const FIRST_MS = Date.UTC(2026, 0, 1);
const DAYS = 90;

/** Makes receipts on both engines, compares random reports with sums over the receipts, and times one by day and model. */
async function main(): Promise<number> {
  const { values } = readFlags({
    options: {
      receipts: { type: 'string', default: '1000000' },
      queries: { type: 'string', default: '200' },
      refusals: { type: 'string', default: '1000000' },
      engine: { type: 'string', default: 'sqlite,postgres' },
      seed: { type: 'string', default: '1' },
    },
  });
  const terms: Terms = {
    receipts: readCount(values.receipts, 'receipts'),
    queries: readCount(values.queries, 'queries'),
    refusals: readCount(values.refusals, 'refusals'),
    seed: readCount(values.seed, 'seed'),
  };
  let faults = 0;
  for (const engine of values.engine.split(',')) faults += await onEngine(engine, terms);
  say(faults === 0 ? 'Every report equals the receipts.' : `${faults} reports or sums are wrong.`);
  return faults === 0 ? 0 : 1;
}

interface Terms {
  readonly receipts: number;
  readonly queries: number;
  readonly refusals: number;
  readonly seed: number;
}

async function onEngine(engine: string, terms: Terms): Promise<number> {
  say(`${engine}:`);
  const clock = new ManualClock(FIRST_MS);
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-usage-'));
  const server = engine === 'sqlite' ? null : await startPostgres();
  const databaseUrl = server?.url() ?? null;
  try {
    const store =
      databaseUrl === null
        ? await openSqliteStore({ folder, clock })
        : await openPostgresStore({ url: databaseUrl, clock, databaseTime: false });
    const faults = await run(store, clock, terms);
    if (databaseUrl === null) tell(`the file has ${Math.round(statSync(databaseFile(folder)).size / 1e6)} MB`);
    tell(await timeMonth({ folder, databaseUrl }));
    return faults;
  } finally {
    await server?.stop();
    rmSync(folder, { recursive: true });
  }
}

async function run(store: Store, clock: ManualClock, { receipts, queries, refusals, seed }: Terms): Promise<number> {
  try {
    const time = { sinceMs: FIRST_MS, untilMs: FIRST_MS + DAYS * 86_400_000 };
    const campaign = new UsageCampaign({
      store,
      clock,
      ...time,
      count: receipts,
      queries,
      refunds: 1_000,
      seed,
      onStep: tell,
    });
    await campaign.begin();
    const differences = await campaign.compare(Math.ceil(queries / 2));
    await campaign.closeAll();
    differences.push(...(await campaign.compare(Math.floor(queries / 2))));
    const startedMs = performance.now();
    const { violations } = await store.verify();
    tell(`verified in ${Math.round((performance.now() - startedMs) / 1000)} s, ${violations.length} violations`);
    tell(await floodRefusals(store, clock, refusals));
    for (const sentence of [...differences, ...violations].slice(0, 20)) tell(sentence);
    return differences.length + violations.length;
  } finally {
    await store.close();
  }
}

function tell(words: string): void {
  say(`  ${words}`);
}

function say(words: string): void {
  process.stdout.write(`${words}\n`);
}

process.exitCode = await main();
