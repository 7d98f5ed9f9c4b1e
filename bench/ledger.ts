import { systemClock } from '../src/kit/clock.ts';
import { IdSource } from '../src/kit/ids.ts';
import { Ledger } from '../src/ledger/ledger.ts';
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../src/store/store.ts';
import { startPostgres } from '../test/postgres-server.ts';
import { readFlags } from '../test/read-flags.ts';
import { fillPostgres } from './fill-postgres.ts';
import { type FilledAccount, fillStore } from './fill-store.ts';
import { type Figures, type Load, load, oneByOne } from './ledger-load.ts';
import { describeMachine } from './machine.ts';
import { inScratchFolder } from './scratch.ts';
import { onSlowDisk, SLOWER_MICROS } from './slow-disk.ts';
import { median } from './table.ts';

const { values } = readFlags({
  options: {
    /** `slow` is SQLite in a process whose syncs take longer; this program starts it by itself. */
    engine: { type: 'string', default: 'sqlite,slow,postgres' },
    rows: { type: 'string', default: '1000000' },
    accounts: { type: 'string', default: '1001' },
    clients: { type: 'string', default: '256' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '5' },
    /** The part of all calls that one account makes. */
    hot: { type: 'string', default: '0.5' },
  },
});
const rows = Number(values.rows);
const accounts = Number(values.accounts);
const clients = Number(values.clients);
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);

/** A store with old calls, and the same store with one transaction for each operation. */
interface Contender {
  readonly store: Store;
  readonly single: Store;
  readonly accounts: readonly FilledAccount[];
}

/** How many times as fast batching must be on a disk where a sync takes a millisecond longer. */
const SLOW_RATIO_MIN = 10;

/** Connections of the variant with a transaction for each operation: more only wait for each other. */
const SINGLE_LINES = 16;

async function onSqlite(folder: string, name: string, ratioMin: number | null): Promise<void> {
  print('machine', describeMachine(folder));
  const filled = fillStore({ folder, calls: rows, accounts });
  const store = await openSqliteStore({ folder, clock: systemClock });
  await compare(name, { store, single: store, accounts: filled }, ratioMin);
  await store.close();
}

async function onPostgres(): Promise<void> {
  const given = process.env.TOLLGATE_TEST_POSTGRES;
  const server = given === undefined ? await startPostgres("max_wal_size = '4GB'") : null;
  const url = given ?? server!.url();
  try {
    await (await openPostgresStore({ url, clock: systemClock })).close();
    const filled = await fillPostgres({ url, calls: rows, accounts });
    const store = await openPostgresStore({ url, clock: systemClock });
    const single = await openPostgresStore({ url, clock: systemClock, lines: SINGLE_LINES });
    await compare('PostgreSQL', { store, single, accounts: filled });
    await single.close();
    await store.close();
  } finally {
    await server?.stop();
  }
}

async function compare(name: string, contender: Contender, ratioMin: number | null = null): Promise<void> {
  const { store, single } = contender;
  const { epoch, number } = await store.beginInstance();
  const ids = new IdSource(systemClock, number);
  const ledger = new Ledger({ store, clock: systemClock, epoch });
  const priceId = await store.registerPrices('bench', '{}');
  const options: Omit<Load, 'money' | 'forSeconds'> = {
    accounts: contender.accounts,
    hotPart: Number(values.hot),
    ids,
    priceId,
    clients,
  };
  await load({ ...options, money: ledger, forSeconds: 1 });
  const batched: Figures[] = [];
  const alone: Figures[] = [];
  for (let round = 0; round < rounds; round++) {
    batched.push(await load({ ...options, money: ledger, forSeconds: seconds }));
    alone.push(await load({ ...options, money: oneByOne(single, epoch), forSeconds: seconds }));
    print(`${name}, round ${round + 1}, batched`, batched.at(-1));
    print(`${name}, round ${round + 1}, one transaction per operation`, alone.at(-1));
  }
  const rate = (figures: readonly Figures[]) => median(figures.map(({ pairsPerSecond }) => pairsPerSecond));
  const ratios = batched.map(({ pairsPerSecond }, round) => pairsPerSecond / alone[round]!.pairsPerSecond);
  print(`${name}, medians`, {
    batched: rate(batched),
    alone: rate(alone),
    ratio: Number(median(ratios).toFixed(1)),
    ...(ratioMin !== null && { ratioAsked: ratioMin }),
  });
  if (ratioMin !== null && median(ratios) < ratioMin) process.exitCode = 1;
  const report = await store.verify();
  print(`${name}, books`, { receipts: report.receipts, openHolds: report.openHolds, violations: report.violations });
}

function print(what: string, figures: unknown): void {
  process.stdout.write(`${what}: ${JSON.stringify(figures)}\n`);
}

const engines = values.engine.split(',');
if (engines.includes('sqlite')) await inScratchFolder((folder) => onSqlite(folder, 'SQLite', null));
if (engines.includes('slow-here')) {
  const name = `SQLite, every sync ${SLOWER_MICROS} µs slower`;
  await inScratchFolder((folder) => onSqlite(folder, name, SLOW_RATIO_MIN));
}
if (engines.includes('slow')) await onSlowDisk('ledger.ts', [...process.argv.slice(2), '--engine', 'slow-here']);
if (engines.includes('postgres')) await onPostgres();
