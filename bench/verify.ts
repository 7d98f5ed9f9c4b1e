import { systemClock } from '../src/kit/clock.ts';
import { LIMITS } from '../src/limits.ts';
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts';
import { ClosingSlices } from '../src/store/sqlite/closing-slices.ts';
import { openToRead, openToWrite } from '../src/store/sqlite/database.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import { writerVerbs } from '../src/store/sqlite/writer-verbs.ts';
import type { Store } from '../src/store/store.ts';
import { startPostgres } from '../test/postgres-server.ts';
import { readFlags } from '../test/read-flags.ts';
import { fillPostgres } from './fill-postgres.ts';
import { fillStore } from './fill-store.ts';
import { describeMachine } from './machine.ts';
import { inScratchFolder } from './scratch.ts';
import { median } from './table.ts';

/** How fast closed receipts are verified, and how long closing a slice of them keeps the writer from serving calls. */

const { values } = readFlags({
  options: {
    engine: { type: 'string', default: 'sqlite,postgres' },
    rows: { type: 'string', default: '500000' },
    accounts: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '3' },
  },
});
const calls = Number(values.rows);
const accounts = Number(values.accounts);

async function onSqlite(folder: string): Promise<void> {
  print(`machine: ${JSON.stringify(describeMachine(folder))}`);
  fillStore({ folder, calls, accounts });
  closeSqlite(folder);
  const store = await openSqliteStore({ folder, clock: systemClock });
  await verify('SQLite', store);
  await store.close();
}

/** Closes everything in this thread, so that the two halves of a slice can be timed. */
function closeSqlite(folder: string): void {
  const [reader, database] = [openToRead(folder), openToWrite(folder)];
  const slices = new ClosingSlices(reader);
  const writer = writerVerbs(database);
  const nowMs = systemClock.nowMs();
  const [prepared, written]: [number[], number[]] = [[], []];
  for (;;) {
    const begunMs = systemClock.monotonicMs();
    const slice = slices.nextSettled(nowMs, LIMITS.storeWriteSliceRows);
    if (slice === null) break;
    const readMs = systemClock.monotonicMs();
    writer.closeSlice(nowMs, slice);
    prepared.push(readMs - begunMs);
    written.push(systemClock.monotonicMs() - readMs);
  }
  reader.close();
  database.close();
  print(`SQLite: ${written.length} slices; prepared beside the writer in ${range(prepared)}`);
  print(`SQLite: a slice blocks the writer for ${range(written)}`);
}

async function onPostgres(): Promise<void> {
  const given = process.env.TOLLGATE_TEST_POSTGRES;
  const server = given === undefined ? await startPostgres("max_wal_size = '4GB'") : null;
  const url = given ?? server!.url();
  try {
    await (await openPostgresStore({ url, clock: systemClock })).close();
    await fillPostgres({ url, calls, accounts });
    const store = await openPostgresStore({ url, clock: systemClock });
    const begunMs = systemClock.monotonicMs();
    const { closed } = await store.closeBooks(null);
    print(`PostgreSQL: closed ${closed} receipts in ${Math.round(systemClock.monotonicMs() - begunMs)} ms`);
    await verify('PostgreSQL', store);
    await store.close();
  } finally {
    await server?.stop();
  }
}

async function verify(engine: string, store: Store): Promise<void> {
  const rates = { whole: [] as number[], withoutUsage: [] as number[] };
  const cpuRates: number[] = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const name of ['withoutUsage', 'whole'] as const) {
      const begunMs = systemClock.monotonicMs();
      const before = process.cpuUsage();
      const { closedReceipts, violations } = await store.verify(undefined, null, name === 'whole');
      rates[name].push((closedReceipts * 1000) / (systemClock.monotonicMs() - begunMs));
      const { user, system } = process.cpuUsage(before);
      if (name === 'whole') cpuRates.push((closedReceipts * 1_000_000) / (user + system));
      if (closedReceipts !== calls || violations.length > 0) throw new Error(`The ledger is wrong: ${violations[0]}`);
    }
  }
  const perCpu = `${Math.round(median(cpuRates))} per second of this process's CPU time`;
  const whole = `${Math.round(median(rates.whole))} receipts/s (${rates.whole.map(Math.round).join(', ')}), ${perCpu}`;
  print(`${engine}: verifies ${whole}; without the usage sums ${Math.round(median(rates.withoutUsage))} receipts/s`);
}

function range(ms: readonly number[]): string {
  const sorted = [...ms].sort((a, b) => a - b);
  return `${median(ms).toFixed(1)} ms (median), ${sorted.at(-1)!.toFixed(1)} ms (longest)`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

if (values.engine.includes('sqlite')) await inScratchFolder(onSqlite);
if (values.engine.includes('postgres')) await onPostgres();
