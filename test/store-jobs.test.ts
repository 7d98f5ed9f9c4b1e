import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock, systemClock } from '../src/kit/clock.ts';
import { idFloorAt } from '../src/kit/ids.ts';
import { LIMITS } from '../src/limits.ts';
import { compactStore } from '../src/main/compact-store.ts';
import { copyStore } from '../src/main/copy-store.ts';
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts';
import { backUp } from '../src/store/sqlite/backup.ts';
import { restoreBooks } from '../src/store/sqlite/restore.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import type { HoldOperation, Store } from '../src/store/store.ts';
import { ALL_JOBS, aChunk, aFinish, aGroup, aJob, aRelease, aReserve, aStart, LEASE_MS } from './job-fixtures.ts';
import { freshSchema, runSql } from './postgres.ts';
import { takeSnapshot } from './postgres-snapshot.ts';
import { aCredit, aHold, aKey, aSettle, NOON_MS, prepare } from './store-fixtures.ts';
import { until } from './until.ts';

const silent = () => undefined;
const clock = new ManualClock(NOON_MS);
const DAY_MS = 86_400_000;
const PAGE = { after: null, limit: 100 };

/**
 * Job 10 waits, job 11 runs, job 12 has ended. Group 50 is accepted, but its line 51 is not a job yet; group 60 is staged.
 */
async function fill(store: Store): Promise<void> {
  await prepare(store);
  await store.createKey(aKey(7n, 1n));
  await store.apply([aCredit(1n, 1_000n)]);
  const owned = { keyId: 7n };
  const rows = [aJob(10n, 100n, owned), aJob(11n, 200n, owned), aJob(12n, 50n, owned)];
  await store.jobs.stage(
    rows,
    rows.map(({ id }) => aChunk(id)),
  );
  await store.apply(rows.map(({ id, reservedNanousd }) => aReserve(id, reservedNanousd, owned)));
  await store.jobs.claim(1n, NOON_MS, LEASE_MS, 10);
  await store.apply([aStart(21n, 11n, 200n, owned), aStart(22n, 12n, 50n, owned), aFinish(22n, 12n, 30n)]);
  for (const groupId of [50n, 60n]) {
    await store.jobs.createGroup(aGroup(groupId, owned));
    await store.jobs.stage([aJob(groupId + 1n, 70n, { ...owned, groupId, line: 1 })], [aChunk(groupId + 1n)]);
  }
  await store.apply([aReserve(50n, 70n, { ...owned, isGroup: true })]);
}

async function statesOf(store: Store): Promise<Record<string, string>> {
  const jobs = await store.jobs.list(ALL_JOBS, PAGE);
  return Object.fromEntries(jobs.map(({ id, state }) => [String(id), state]));
}

async function moneyOf(store: Store): Promise<bigint[]> {
  const account = await store.findAccount(1n);
  return [account!.balanceNanousd, account!.heldNanousd, account!.reservedNanousd];
}

const WAITING = { '10': 'queued', '11': 'running', '12': 'succeeded' };
const PAUSED = { '10': 'paused', '11': 'paused', '12': 'succeeded', '51': 'paused' };

/** Whatever may have run since stays as it is, with its reservation, until an operator decides. */
async function expectPaused(store: Store): Promise<void> {
  expect(await statesOf(store)).toEqual(PAUSED);
  expect(await moneyOf(store)).toEqual([970n, 0n, 370n]);
  expect(await store.jobs.claim(1n, NOON_MS + LEASE_MS, LEASE_MS, 10)).toEqual([]);
  expect((await store.verify()).violations).toEqual([]);
  expect(await store.jobs.resumePaused(NOON_MS, 1)).toBe(1);
  expect(await statesOf(store)).toEqual({ ...PAUSED, '10': 'queued' });
  const released = await store.apply([aRelease(11n, { end: 'failed' }), aRelease(51n, { end: 'failed' })]);
  expect(released.map(({ kind }) => kind)).toEqual(['released', 'released']);
  expect(await moneyOf(store)).toEqual([970n, 0n, 100n]);
  await store.beginInstance();
  expect(await statesOf(store)).toEqual({ ...PAUSED, '10': 'queued', '11': 'failed', '51': 'failed' });
  expect((await store.verify()).violations).toEqual([]);
}

/** In one day of key 7, a call is charged, and jobs 10 and 11 begin to wait. They reserve nothing: their model is free. */
async function fillFree(store: Store): Promise<void> {
  await prepare(store);
  await store.createKey(aKey(7n, 1n, { capWindow: 'day' }));
  await store.apply([aCredit(1n, 1_000n)]);
  await makeCall(store, { createdMs: NOON_MS, keyId: 7n, epoch: 1n });
  const rows = [aJob(10n, 0n, { keyId: 7n }), aJob(11n, 0n, { keyId: 7n })];
  await store.jobs.stage(rows, []);
  const reserved = await store.apply(rows.map(({ id }) => aReserve(id, 0n, { keyId: 7n })));
  expect(reserved.map(({ kind }) => kind)).toEqual(['reserved', 'reserved']);
}

async function makeCall(store: Store, call: Pick<HoldOperation, 'createdMs' | 'keyId' | 'epoch'>): Promise<void> {
  const id = idFloorAt(call.createdMs) + 1n;
  const ended = await store.apply([aHold(id, 10n, call), aSettle(id, 10n)]);
  expect(ended.map(({ kind }) => kind)).toEqual(['held', 'settled']);
}

/** An operator may decide about paused jobs long after other windows of their time are deleted. */
async function expectWindowsKept(store: Store, late: ManualClock): Promise<void> {
  const { epoch } = await store.beginInstance();
  expect(await statesOf(store)).toEqual({ '10': 'paused', '11': 'paused' });
  late.advance(LIMITS.windowKeptMs + 2 * DAY_MS);
  await makeCall(store, { createdMs: late.nowMs(), keyId: null, epoch });
  late.advance(LIMITS.closingAgeMs);
  await store.closeBooks(null);
  expect(await store.sweepWindows()).toBe(0);
  for (let left = 2; left > 0; left -= 1) {
    expect(await store.jobs.resumePaused(late.nowMs(), 1)).toBe(1);
    expect(await store.sweepWindows()).toBe(0);
  }
  const ended = await store.apply([aRelease(10n, { end: 'expired' }), aRelease(11n, { end: 'expired' })]);
  expect(ended.map(({ kind }) => kind)).toEqual(['released', 'released']);
  expect((await store.verify()).violations).toEqual([]);
  expect(await store.sweepWindows()).toBe(1);
  expect((await store.verify()).violations).toEqual([]);
}

describe('jobs of a data folder', () => {
  let home: string;
  let folder: string;
  const open = (at = folder) => openSqliteStore({ folder: at, clock, threads: false });

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'tollgate-jobs-'));
    folder = join(home, 'data');
  });
  afterEach(() => rmSync(home, { recursive: true }));

  it('go on after a restart', async () => {
    let store = await open();
    await fill(store);
    expect(await statesOf(store)).toEqual(WAITING);
    await store.close();
    store = await open();
    await store.beginInstance();
    expect(await statesOf(store)).toEqual({ ...WAITING, '11': 'failed' });
    expect(await moneyOf(store)).toEqual([970n, 0n, 170n]);
    expect((await store.verify()).violations).toEqual([]);
    await store.close();
  });

  it('go on after the folder was compacted, which loses nothing', async () => {
    const store = await open();
    await fill(store);
    const before = await store.directory.booksMark();
    await store.close();
    expect(await compactStore({ store: null, folder, progress: silent }, clock)).toMatchObject({ engine: 'sqlite' });
    const compacted = await open();
    await compacted.beginInstance();
    expect(await statesOf(compacted)).toEqual({ ...WAITING, '11': 'failed' });
    expect(await compacted.directory.booksMark()).toEqual(before);
    await compacted.close();
  });

  it('are paused by a backup that is restored', async () => {
    const store = await open();
    await fill(store);
    await backUp({ folder, file: join(home, 'backup.sqlite'), clock, progress: silent });
    await store.close();
    const restored = join(home, 'restored');
    const lease = await openSqliteStore({ folder: restored, clock, threads: false });
    await lease.close();
    restoreBooks({ file: join(home, 'backup.sqlite'), folder: restored, force: true, clock, progress: silent });
    const again = await open(restored);
    await again.beginInstance();
    await expectPaused(again);
    await again.close();
  });

  it('keep the windows of their time while one is paused, and until it has ended when it is resumed', async () => {
    const late = new ManualClock(NOON_MS);
    const store = await openSqliteStore({ folder, clock: late, threads: false });
    await fillFree(store);
    const file = join(home, 'backup.sqlite');
    await backUp({ folder, file, clock: late, progress: silent });
    await store.close();
    restoreBooks({ file, folder, force: true, clock: late, progress: silent });
    const restored = await openSqliteStore({ folder, clock: late, threads: false });
    await expectWindowsKept(restored, late);
    await restored.close();
  });

  it.each([
    ['reservations of an account', 'UPDATE balance SET reserved = reserved + 1', /Account 1: reserved is 171/],
    ['reservations of a key', 'UPDATE key_window SET reserved = 0', /Key 7, window 0: reserved is 0/],
    ['the sum of a group', 'UPDATE job_group SET reserved = 1 WHERE id = 50', /Group 50: its sums/],
    ['the counts of a group', 'UPDATE job_group SET waiting = 2 WHERE id = 50', /Group 50: its sums/],
    ['the counters of an account', 'UPDATE job_account SET running = 0', /Account 1: the counters of its jobs/],
    ['a job that runs without a hold', 'UPDATE job SET call_id = 22 WHERE id = 11', /Job 11: its state or its cost/],
    ['a cost that no receipt has', 'UPDATE job SET cost = 31 WHERE id = 12', /Job 12: its state or its cost/],
    ['a job that is gone', 'DELETE FROM job WHERE id = 10', /Account 1: reserved is 170/],
  ])('verify names %s', async (_, sql, finding) => {
    const store = await open();
    await fill(store);
    const database = new DatabaseSync(join(folder, 'tollgate.sqlite'));
    database.exec(sql);
    database.close();
    expect((await store.verify()).violations.join('\n')).toMatch(finding);
    await store.close();
  });

  it('move to PostgreSQL with their requests, and are paused if somebody returns to the folder', async () => {
    const store = await open();
    await fill(store);
    await store.close();
    const url = await freshSchema();
    const report = await copyStore({ from: folder, to: url, progress: silent }, systemClock);
    expect(report).toMatchObject({ faults: [] });
    const moved = await openPostgresStore({ url, clock, databaseTime: false });
    await moved.beginInstance();
    expect(await statesOf(moved)).toEqual({ ...WAITING, '11': 'failed' });
    expect(await moved.jobs.readChunk(aChunk(10n))).not.toBeNull();
    while ((await moved.jobs.activate(50n)) > 0);
    expect((await moved.jobs.claim(1n, NOON_MS + LEASE_MS, LEASE_MS, 10)).map(({ id }) => id)).toEqual([10n, 51n]);
    expect((await moved.verify()).violations).toEqual([]);
    await moved.close();
    rmSync(join(folder, 'moved.json'));
    const returned = await open();
    await returned.beginInstance();
    expect(await statesOf(returned)).toEqual({ ...PAUSED, '11': 'failed' });
    await returned.close();
  });
});

describe('jobs of a database', () => {
  it('are paused when it was put back to an older state', async () => {
    const url = await freshSchema();
    const store = await openPostgresStore({ url, clock, databaseTime: false });
    await fill(store);
    // As a restore leaves it: another timeline than when the jobs last ran.
    await runSql(url, "UPDATE meta SET value = value + 1 WHERE name = 'jobs_timeline'");
    const before = await store.directory.booksMark();
    await store.beginInstance();
    await expectPaused(store);
    // So that signed receipts and roots distinguish the restored ledger from the original one.
    const restored = { ...before, generation: before.generation + 1n };
    expect(await store.directory.booksMark()).toEqual(restored);
    await store.beginInstance();
    expect(await store.directory.booksMark()).toEqual(restored);
    await store.close();
  });

  it('keep the windows of their time while one is paused, and until it has ended when it is resumed', async () => {
    const url = await freshSchema();
    const late = new ManualClock(NOON_MS);
    const store = await openPostgresStore({ url, clock: late, databaseTime: false });
    await fillFree(store);
    await runSql(url, "UPDATE meta SET value = value + 1 WHERE name = 'jobs_timeline'");
    await expectWindowsKept(store, late);
    await store.close();
  });

  it('do not start again before the next heartbeat if they ran after the state that it is put back to', async () => {
    const url = await freshSchema();
    const store = await openPostgresStore({ url, clock, databaseTime: false });
    await fill(store);
    const { putBack } = await takeSnapshot(url);
    const start = (callId: bigint) => aStart(callId, 10n, 100n, { keyId: 7n });
    const ran = await store.apply([start(23n), aFinish(23n, 10n, 30n)]);
    expect(ran.map(({ kind }) => kind)).toEqual(['held', 'settled']);
    await putBack();
    await expect(store.apply([start(24n)])).rejects.toThrow('commits that it had confirmed are missing');
    await store.beginInstance();
    expect(await statesOf(store)).toMatchObject(PAUSED);
    await store.close();
  });

  it('are claimed once by two processes at the same time', async () => {
    const url = await freshSchema();
    const [one, other] = [
      await openPostgresStore({ url, clock, databaseTime: false }),
      await openPostgresStore({ url, clock, databaseTime: false }),
    ];
    await prepare(one);
    await other.beginInstance();
    await one.apply([aCredit(1n, 1_000n)]);
    const ids = Array.from({ length: 30 }, (_, at) => BigInt(100 + at));
    await one.jobs.stage(
      ids.map((id) => aJob(id, 1n)),
      [],
    );
    await one.apply(ids.map((id) => aReserve(id, 1n)));
    const claims = Array.from({ length: 14 }, (_, at) => (at % 2 ? one : other).jobs.claim(1n, NOON_MS, LEASE_MS, 2));
    const claimed = (await Promise.all(claims)).flat();
    expect(new Set(claimed.map(({ id }) => id)).size).toBe(claimed.length);
    expect(claimed.every(({ claim }) => claim === 1)).toBe(true);
    const rest = await one.jobs.claim(1n, NOON_MS, LEASE_MS, 30);
    expect(claimed.length + rest.length).toBe(30);
    await one.close();
    await other.close();
  });

  it('of a large group all start to wait, although another process does the same and dies', async () => {
    const url = await freshSchema();
    const store = await openPostgresStore({ url, clock, databaseTime: false });
    await prepare(store);
    await store.apply([aCredit(1n, 1_000n)]);
    await store.jobs.createGroup(aGroup(50n));
    const slice = LIMITS.jobStageRowsMax;
    const lines = Array.from({ length: slice + 8 }, (_, at) =>
      aJob(BigInt(100 + at), 1n, { groupId: 50n, line: at + 1 }),
    );
    for (const some of [lines.slice(0, slice), lines.slice(slice)]) await store.jobs.stage(some, []);
    await store.apply([aReserve(50n, BigInt(lines.length), { isGroup: true })]);
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    await other.query('BEGIN');
    await other.query('UPDATE job SET state = 1 WHERE group_id = 50 AND line <= $1', [slice]);
    const activated = store.jobs.activate(50n);
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    await until(async () => (await runSql(url, waiting)).rowCount === 1, 'it waits for the other process');
    await other.query('COMMIT');
    await other.end();
    expect(await activated).toBe(8);
    expect(await store.jobs.findGroup(50n, null)).toMatchObject({ isActive: false });
    expect(await store.jobs.activate(50n)).toBe(0);
    expect(await store.jobs.findGroup(50n, null)).toMatchObject({ isActive: true });
    expect(await store.jobs.claim(1n, NOON_MS, LEASE_MS, 100)).toHaveLength(lines.length);
    await store.close();
  });
});
