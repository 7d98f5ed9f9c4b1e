import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fillPostgres } from '../bench/fill-postgres.ts';
import { fillStore } from '../bench/fill-store.ts';
import { systemClock as clock } from '../src/kit/clock.ts';
import { compactStore } from '../src/main/compact-store.ts';
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../src/store/store.ts';
import { startPostgres } from '../test/postgres-server.ts';
import { readFlags, refuseFlag } from '../test/read-flags.ts';
import { archiveAudit } from './archive/audit.ts';

/**
 * Archives four fifths of a large ledger as a command does without a server, verifies what is left, and compacts it. Prints
 * how long each step took, and sizes.
 */

const DAY_MS = 86_400_000;
const DAYS = 300;
const KEPT_DAYS = DAYS / 5;

async function main(): Promise<number> {
  const { values } = readFlags({
    options: {
      receipts: { type: 'string', default: '5000000' },
      accounts: { type: 'string', default: '1000' },
      engine: { type: 'string', default: 'sqlite,postgres' },
    },
  });
  const size = { calls: readCount(values.receipts, 'receipts'), accounts: readCount(values.accounts, 'accounts') };
  let faults = 0;
  if (values.engine.includes('sqlite')) faults += await onSqlite(size);
  if (values.engine.includes('postgres')) faults += await onPostgres(size);
  say(faults === 0 ? 'Nothing was lost.' : `${faults} faults.`);
  return faults === 0 ? 0 : 1;
}

interface Size {
  readonly calls: number;
  /** Each has one row of sums for every hour in which it makes calls. */
  readonly accounts: number;
}

function readCount(text: string, name: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  refuseFlag(`--${name} must be a whole number above 0.`);
}

async function onSqlite({ calls, accounts }: Size): Promise<number> {
  const home = mkdtempSync(join(tmpdir(), 'tollgate-archive-'));
  const folder = join(home, 'books');
  try {
    say('SQLite:');
    await timed('filled', async () => fillStore({ folder, calls, accounts, days: DAYS }));
    const archiveFolder = join(home, 'archive');
    const open = () => openSqliteStore({ folder, clock, archiveFolder, threads: false });
    const faults = await archive(await open(), archiveFolder, calls);
    await compact({ store: null, folder });
    const store = await open();
    const { violations } = await timed('verified', () => store.verify());
    await store.close();
    return faults + violations.length;
  } finally {
    rmSync(home, { recursive: true });
  }
}

async function onPostgres({ calls, accounts }: Size): Promise<number> {
  const server = await startPostgres("max_wal_size = '4GB'");
  const archiveFolder = mkdtempSync(join(tmpdir(), 'tollgate-archive-'));
  const url = server.url();
  try {
    say('PostgreSQL:');
    await (await openPostgresStore({ url, clock })).close();
    await timed('filled', () => fillPostgres({ url, calls, accounts, days: DAYS }));
    const faults = await archive(await openPostgresStore({ url, clock, archiveFolder }), archiveFolder, calls);
    await compact({ store: { url: { reveal: () => url }, name: 'campaign' } as never, folder: '' });
    return faults;
  } finally {
    await server.stop();
    rmSync(archiveFolder, { recursive: true });
  }
}

async function archive(store: Store, folder: string, calls: number): Promise<number> {
  await timed('closed', () => store.closeBooks(null));
  const beforeMs = clock.nowMs() - KEPT_DAYS * DAY_MS;
  const { files, forgotten } = await timed('archived', () =>
    store.archive.run({ folder, beforeMs, clock, audit: archiveAudit }),
  );
  const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  say(`  ${forgotten} of ${calls} receipts are in ${files.length} files of ${megabytes(bytes)}`);
  const { problems } = await timed('checked', () => store.archive.check(folder));
  const { violations, receipts } = await timed('verified', () => store.verify());
  const [first] = files;
  const isFound = (await store.findReceipt(first!.firstId, null)) !== null;
  await store.close();
  for (const sentence of [...problems, ...violations].slice(0, 20)) say(`  ${sentence}`);
  return problems.length + violations.length + (receipts === calls && isFound ? 0 : 1);
}

async function compact(place: Pick<Parameters<typeof compactStore>[0], 'store' | 'folder'>): Promise<void> {
  const done = await timed('compacted', () => compactStore({ ...place, progress: () => undefined }, clock));
  if ('refused' in done) throw new Error(done.refused);
  say(`  ${megabytes(done.bytes_before)} before, ${megabytes(done.bytes_after)} afterwards`);
}

async function timed<Result>(what: string, run: () => Promise<Result>): Promise<Result> {
  const startedMs = clock.monotonicMs();
  const result = await run();
  say(`  ${what} in ${((clock.monotonicMs() - startedMs) / 1000).toFixed(1)} s`);
  return result;
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}

function say(words: string): void {
  process.stdout.write(`${words}\n`);
}

process.exitCode = await main();
