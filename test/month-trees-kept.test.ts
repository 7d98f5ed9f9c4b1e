import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../src/kit/clock.ts';
import { LIMITS } from '../src/limits.ts';
import { copyStore } from '../src/main/copy-store.ts';
import { restoreStore } from '../src/main/restore-store.ts';
import { closeSlice } from '../src/store/postgres/closing.ts';
import { ClosingSlices as PostgresSlices } from '../src/store/postgres/closing-slices.ts';
import { Connections } from '../src/store/postgres/connections.ts';
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts';
import { backUp } from '../src/store/sqlite/backup.ts';
import { ClosingSlices as SqliteSlices } from '../src/store/sqlite/closing-slices.ts';
import { openToRead, openToWrite } from '../src/store/sqlite/database.ts';
import { writerVerbs } from '../src/store/sqlite/writer-verbs.ts';
import { makeBooksWithAPast } from './filled-store.ts';
import { type MonthSubject, makeCalls, openAccounts, openSubject } from './month-subject.ts';
import { freshSchema, runSql } from './postgres.ts';
import { Random } from './random.ts';
import { aHold, aSettle } from './store-fixtures.ts';

const silent = () => undefined;

describe('hash trees of closed months', () => {
  let home: string;
  let folder: string;

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'tollgate-trees-'));
    folder = join(home, 'books');
    await makeBooksWithAPast({ folder, calls: 900 });
  });
  afterEach(() => rmSync(home, { recursive: true }));

  const inFile = (sql: string): Record<string, unknown>[] => {
    const database = openToWrite(folder);
    const rows = database.prepare(sql).all();
    database.close();
    return rows;
  };
  const TREES = 'SELECT * FROM month_tree ORDER BY month_ms, account_id, part';
  const plain = (rows: readonly object[]) =>
    rows.map((row) =>
      Object.entries(row).map(([name, cell]) => [name, cell instanceof Uint8Array ? Buffer.from(cell) : String(cell)]),
    );

  it('are copied to PostgreSQL, where the receipts have the same hashes although some texts are stored differently', async () => {
    const url = await freshSchema();
    expect(await copyStore({ from: folder, to: url, progress: silent }, systemClock)).toMatchObject({ ok: true });
    const trees = inFile(TREES);
    expect(trees.length).toBeGreaterThanOrEqual(6);
    expect(plain((await runSql(url, TREES)).rows)).toEqual(plain(trees));
    const store = await openPostgresStore({ url, clock: systemClock });
    const report = await store.verify();
    expect(report.violations).toEqual([]);
    expect(report.closedReceipts).toBeGreaterThan(100);
    expect((await store.closeBooks(null)).closed).toBeGreaterThan(100);
    expect((await store.verify()).violations).toEqual([]);
    await store.close();
  });

  it('keep a ledger with a changed closed receipt from being copied', async () => {
    inFile('UPDATE call SET http_status = 201 WHERE id = (SELECT min(id) FROM call)');
    const copied = await copyStore({ from: folder, to: await freshSchema(), progress: silent }, systemClock);
    expect(copied).toMatchObject({
      ok: false,
      faults: [expect.stringMatching(/^The source: Account \d, month/), expect.anything()],
    });
  });

  it('are in a backup, which is verified with them', async () => {
    const file = join(home, 'backup.sqlite');
    const { books } = await backUp({ folder, file, clock: systemClock });
    expect(books.violations).toEqual([]);
    expect(books.closedReceipts).toBeGreaterThan(100);
    const trees = inFile(TREES);
    await restoreStore({ file, folder, force: true, progress: silent }, systemClock);
    expect(plain(inFile(TREES))).toEqual(plain(trees));
    inFile('DELETE FROM call WHERE id = (SELECT min(id) FROM call)');
    const again = await backUp({ folder, file: join(home, 'wrong.sqlite'), clock: systemClock });
    expect(again.books.violations.join('\n')).toMatch(
      /Account \d, month \d{4}-\d\d: it was closed with \d+ receipts, but has \d+/,
    );
  });
});

/** Closes only one slice, like a process that is killed before the second one. */
async function closeOneSlice({ engine, place, clock }: MonthSubject): Promise<void> {
  if (engine === 'postgres') {
    const connections = new Connections(place, systemClock, 1);
    const slices = new PostgresSlices(connections);
    const first = await slices.nextSettled(clock.nowMs());
    const killed = connections.transaction(async (sql) => {
      await closeSlice(sql, first!);
      throw new Error('killed before the commit');
    });
    await expect(killed).rejects.toThrow('killed');
    expect(await connections.transaction((sql) => closeSlice(sql, first!))).toBe(true);
    expect(await connections.transaction((sql) => closeSlice(sql, first!))).toBe(false);
    await connections.close();
    return;
  }
  const [reader, database] = [openToRead(place), openToWrite(place)];
  const slices = new SqliteSlices(reader);
  const first = slices.nextSettled(clock.nowMs(), LIMITS.storeWriteSliceRows)!;
  const verbs = writerVerbs(database);
  expect(verbs.closeSlice(clock.nowMs(), first)).toBe(true);
  expect(verbs.closeSlice(clock.nowMs(), first)).toBe(false);
  reader.close();
  database.close();
}

describe.each(['sqlite', 'postgres'] as const)('closing on %s', (engine) => {
  const sliceRows = engine === 'sqlite' ? LIMITS.storeWriteSliceRows : LIMITS.postgresClosingRows;
  let subject: MonthSubject;

  beforeEach(async () => {
    subject = await openSubject(engine);
    await openAccounts(subject);
    const first = Array.from({ length: sliceRows + 100 }, (_, at) => BigInt(at + 1));
    const hold = (id: bigint) => aHold(id, 1n, { accountId: (id % 3n) + 1n, createdMs: subject.clock.nowMs() });
    await subject.store.apply(first.flatMap((id) => [hold(id), aSettle(id, 1n)]));
    await makeCalls(subject, new Random(1), 5);
  });
  afterEach(() => subject.dispose());

  it('continues after a crash between two slices, and the ledger verifies at every point', async () => {
    const total = sliceRows + 105;
    await closeOneSlice(subject);
    await subject.reopen();
    expect(await subject.store.verify()).toMatchObject({
      receipts: total,
      closedReceipts: sliceRows,
      violations: [],
    });
    expect(await subject.store.closeBooks(null)).toEqual({ closed: 105, forgotten: 0 });
    expect(await subject.store.verify()).toMatchObject({ closedReceipts: total, violations: [] });
    expect((await subject.store.closeBooks(subject.clock.nowMs())).forgotten).toBe(total);
    expect(await subject.store.verify()).toMatchObject({ notKept: total, violations: [] });
  });

  it('reads a slice again if a call was added to it meanwhile', async () => {
    const { place, clock } = subject;
    const late = async () =>
      expect(await subject.store.apply([aHold(5_000n, 1n), aSettle(5_000n, 1n)])).toEqual([
        { kind: 'held' },
        { kind: 'settled' },
      ]);
    await subject.sql(`UPDATE call SET id = id + 10000 WHERE id > 100 AND id < 10000`);
    if (engine === 'sqlite') {
      const [reader, database] = [openToRead(place), openToWrite(place)];
      const slice = new SqliteSlices(reader).nextSettled(clock.nowMs(), LIMITS.storeWriteSliceRows)!;
      await late();
      expect(writerVerbs(database).closeSlice(clock.nowMs(), slice)).toBe(false);
      reader.close();
      database.close();
    } else {
      const connections = new Connections(place, systemClock, 1);
      const slice = await new PostgresSlices(connections).nextSettled(clock.nowMs());
      await late();
      expect(await connections.transaction((sql) => closeSlice(sql, slice!))).toBe(false);
      await connections.close();
    }
    await subject.store.closeBooks(null);
    expect((await subject.store.verify()).violations).toEqual([]);
  });
});
