import { copyFileSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fillStore } from '../bench/fill-store.ts';
import { systemClock } from '../src/kit/clock.ts';
import { compactStore } from '../src/main/compact-store.ts';
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts';
import { lockFolder } from '../src/store/sqlite/lock.ts';
import { createMark, readMark } from '../src/store/sqlite/mark-file.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import { freshSchema } from './postgres.ts';

const DAY_MS = 86_400_000;
const progress = () => undefined;

describe('compacting a data folder', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-compact-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const file = () => join(folder, 'tollgate.sqlite');
  const compact = () => compactStore({ store: null, folder, progress }, systemClock);
  const verified = async () => {
    const store = await openSqliteStore({ folder, clock: systemClock, threads: false });
    const { receipts, violations } = await store.verify();
    await store.close();
    return { receipts, violations };
  };

  /** 5,000 receipts, of which most were deleted. */
  const fill = async (): Promise<void> => {
    fillStore({ folder, calls: 5_000, accounts: 3, days: 100 });
    const store = await openSqliteStore({ folder, clock: systemClock, threads: false });
    await store.closeBooks(Date.now() - 20 * DAY_MS);
    await store.close();
  };

  it('makes the file smaller, keeps every row, and says how much it was', async () => {
    await fill();
    const before = statSync(file()).size;
    const compacted = await compact();
    expect(compacted).toEqual({
      object: 'store_compact',
      engine: 'sqlite',
      bytes_before: before,
      bytes_after: statSync(file()).size,
    });
    expect(statSync(file()).size).toBeLessThan(before * 0.8);
    expect(await verified()).toEqual({ receipts: 5_000, violations: [] });
    expect(readdirSync(folder).filter((name) => /^(replacement|before)/.test(name))).toEqual([]);
  });

  it('is finished by the next start if it was killed after the new file was ready', async () => {
    await fill();
    const old = join(folder, 'old');
    copyFileSync(file(), old);
    const mark = readMark(folder);
    await compact();
    // As between the intent and the renaming: the old database and its mark, and the new one beside them.
    const { generation } = readMark(folder) as Exclude<typeof mark, string>;
    copyFileSync(file(), join(folder, 'replacement.sqlite'));
    copyFileSync(old, file());
    createMark(folder, mark as Exclude<typeof mark, string>);
    writeFileSync(join(folder, 'replacement.json'), JSON.stringify({ generation: String(generation), keptIn: null }));
    expect(await verified()).toEqual({ receipts: 5_000, violations: [] });
    expect(statSync(file()).size).toBeLessThan(statSync(old).size * 0.8);
    expect(readdirSync(folder).filter((name) => name.startsWith('replacement'))).toEqual([]);
  });

  it('leaves no half-written file on the disk if it fails or is killed', async () => {
    await fill();
    const drafts = () => readdirSync(folder).filter((name) => name.startsWith('replacement'));
    const full = () => {
      throw new Error('ENOSPC');
    };
    await expect(compactStore({ store: null, folder, progress: full }, systemClock)).rejects.toThrow('ENOSPC');
    expect(drafts()).toEqual([]);
    copyFileSync(file(), join(folder, 'replacement.sqlite'));
    expect(await verified()).toEqual({ receipts: 5_000, violations: [] });
    expect(drafts()).toEqual([]);
  });

  it('refuses a ledger whose usage sums differ from its receipts, and keeps it', async () => {
    await fill();
    const database = new DatabaseSync(file());
    database.exec('UPDATE usage_day SET cost = cost + 1');
    database.close();
    const { ino } = statSync(file());
    expect(await compact()).toMatchObject({ refused: expect.stringMatching(/Usage of the day .* sum of its hours/) });
    expect(statSync(file()).ino).toBe(ino);
    expect(readdirSync(folder).filter((name) => name.startsWith('replacement'))).toEqual([]);
  });

  it('refuses a folder that a process has open, or that has no ledger, and changes nothing', async () => {
    expect(await compact()).toEqual({ refused: `There is no ledger in ${folder}.`, unreachable: true });
    await fill();
    const before = statSync(file());
    const lock = lockFolder(folder, { pid: 1, url: null, socketPath: null, startedMs: 0 });
    expect(await compact()).toMatchObject({ refused: expect.stringMatching(/is in use by process 1/) });
    if ('release' in lock) lock.release();
    expect(statSync(file()).ino).toBe(before.ino);
  });
});

it('vacuums the tables of a ledger in PostgreSQL', async () => {
  const url = await freshSchema();
  await (await openPostgresStore({ url, clock: systemClock })).close();
  const store = { url: { reveal: () => url }, name: 'test' } as never;
  const tables: number[] = [];
  const compacted = await compactStore(
    { store, folder: '', progress: ({ rowsRead }) => void tables.push(rowsRead) },
    systemClock,
  );
  expect(compacted).toMatchObject({ engine: 'postgres', bytes_before: expect.any(Number) });
  expect(tables.length).toBeGreaterThan(30);
});
