import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NEW_THREADS } from '../../../test/built-threads.ts';
import { copyEmptyLedger } from '../../../test/ledger-template.ts';
import { aCredit, aHold, aKey, aSettle, NOON_MS, prepare } from '../../../test/store-fixtures.ts';
import { ManualClock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import { type Store, StoreUnavailable } from '../store.ts';
import { databaseFile } from './database.ts';
import { openSqliteStore, type SqliteStoreOptions } from './sqlite-store.ts';

describe('the SQLite store', () => {
  let root: string;
  let folder: string;
  let clock: ManualClock;
  const opened: Store[] = [];

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'tollgate-sqlite-'));
    folder = join(root, 'deep', 'data');
    clock = new ManualClock(NOON_MS);
  });

  afterEach(async () => {
    vi.unstubAllEnvs();
    for (const store of opened.splice(0)) await store.close();
    rmSync(root, { recursive: true });
  });

  async function open(over: Partial<SqliteStoreOptions> = {}): Promise<Store> {
    const store = await openSqliteStore({ folder, clock, threads: false, ...over });
    opened.push(store);
    return store;
  }

  /** Changes the file over another connection. */
  function meddle(sql: string): void {
    const database = new DatabaseSync(databaseFile(folder));
    database.exec(sql);
    database.close();
  }

  /** A commit that really fails: each call's trigger adds a row that violates a deferred constraint. */
  const BREAK_COMMITS = `
    CREATE TABLE parent (id INTEGER PRIMARY KEY);
    CREATE TABLE child (id INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED);
    CREATE TRIGGER break_commit AFTER INSERT ON call BEGIN INSERT INTO child VALUES (1); END;`;

  it('leaves no thread behind when a damaged database cannot be opened: the process could not end', async () => {
    await (await open()).close();
    meddle('DROP TABLE provider_key');
    vi.stubEnv(NEW_THREADS, 'yes');
    const ports = () => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;
    const before = ports();
    await expect(open({ threads: true })).rejects.toThrow('no such table');
    expect(ports()).toBeLessThanOrEqual(before);
  });

  it('creates its folder and files readable by the owner only', async () => {
    const store = await open();
    await prepare(store);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readdirSync(folder).toSorted()).toEqual([
      'tollgate.mark',
      'tollgate.sqlite',
      'tollgate.sqlite-shm',
      'tollgate.sqlite-wal',
    ]);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });

  it('leaves the database and its mark behind when it is closed, and refuses all calls after that', async () => {
    const store = await open({ threads: true });
    await prepare(store);
    await store.close();
    await store.close();
    expect(readdirSync(folder).toSorted()).toEqual(['tollgate.mark', 'tollgate.sqlite']);
    await expect(store.apply([aHold(1n, 0n)])).rejects.toThrow(StoreUnavailable);
    await expect(store.listAccounts({ limit: 1, after: null })).rejects.toThrow(StoreUnavailable);
  });

  it('refuses a folder written by a newer version, in one sentence', async () => {
    await (await open()).close();
    meddle("UPDATE meta SET value = 99 WHERE name = 'schema'");
    await expect(open()).rejects.toThrow(/newer version of Tollgate \(schema 99; this version supports \d+\)/);
  });

  for (const threads of [false, true]) {
    it(`fails all pending calls when a commit fails, and never works again${threads ? ', across threads' : ''}`, async () => {
      const fatal: Error[] = [];
      const store = await open({ threads, onFatal: (error) => fatal.push(error) });
      await prepare(store);
      meddle(BREAK_COMMITS);
      const waiting = [store.apply([aHold(1n, 0n)]), store.apply([aCredit(2n, 5n)]), store.beginInstance()];
      for (const result of await Promise.allSettled(waiting)) {
        expect(result).toMatchObject({ status: 'rejected', reason: expect.any(StoreUnavailable) });
      }
      expect(fatal).toEqual([expect.any(StoreUnavailable)]);
      await expect(store.apply([aCredit(3n, 5n)])).rejects.toThrow('FOREIGN KEY');
      expect(await store.health()).toMatchObject({ ok: false, mayAdmit: false });
    });
  }

  it('sees changes that another connection made between two batches', async () => {
    const store = await open();
    await prepare(store);
    await store.apply([aCredit(1n, 1_000n), aHold(1n, 10n)]);
    meddle('UPDATE balance SET balance = 50');
    expect(await store.apply([aHold(2n, 41n)])).toEqual([
      { kind: 'hold_refused', reason: 'balance', availableNanousd: 40n },
    ]);
  });

  it('works when it has more rows than the cache may hold', async () => {
    const store = await open();
    await prepare(store);
    await store.apply([aCredit(1n, 10_000_000n)]);
    const count = LIMITS.storeCachedRowsMax + 10;
    for (let first = 1; first <= count; first += 5_000) {
      const holds = Array.from({ length: Math.min(5_000, count - first + 1) }, (_, index) =>
        aHold(BigInt(first + index), 1n),
      );
      await store.apply(holds);
    }
    const available = 10_000_000n - BigInt(count);
    expect(await store.apply([aHold(BigInt(count + 1), available + 1n)])).toMatchObject([
      { availableNanousd: available },
    ]);
    expect(await store.apply([aSettle(3n, 1n), aSettle(BigInt(count), 0n)])).toEqual([
      { kind: 'settled' },
      { kind: 'settled' },
    ]);
    expect(await store.verify()).toMatchObject({ openHolds: count - 2, violations: [] });
    expect((await store.beginInstance()).voidedHolds).toBe(count - 2);
    expect(await store.verify()).toMatchObject({ openHolds: 0, violations: [] });
  });

  it('forgets the starts of 90 days ago, and never the last epoch', async () => {
    const starts = (): unknown[] => {
      const database = new DatabaseSync(databaseFile(folder));
      const rows = database.prepare('SELECT epoch FROM instance ORDER BY epoch').all();
      database.close();
      return rows.map(({ epoch }) => epoch);
    };
    const store = await open();
    await store.beginInstance();
    await store.beginInstance();
    clock.advance(LIMITS.instanceForgottenMs);
    expect(await store.beginInstance()).toMatchObject({ epoch: 3n });
    expect(starts()).toEqual([1, 2, 3]);
    clock.advance(1);
    expect(await store.beginInstance()).toMatchObject({ epoch: 4n });
    expect(starts()).toEqual([3, 4]);
    clock.advance(2 * LIMITS.instanceForgottenMs);
    await store.close();
    expect(await (await open()).beginInstance()).toMatchObject({ epoch: 5n });
    expect(starts()).toEqual([5]);
  });

  it('verifies, closes and deletes in slices', async () => {
    const store = await open();
    await prepare(store);
    await store.createKey(aKey(7n, 1n));
    await store.apply([aCredit(1n, 10_000_000n)]);
    const count = LIMITS.storeSliceRows + 500;
    const ids = Array.from({ length: count }, (_, index) => BigInt(index + 1));
    await store.apply(ids.flatMap((id) => [aHold(id, 5n, { keyId: 7n }), aSettle(id, 3n)]));
    clock.advance(2 * LIMITS.closingAgeMs);
    const seen: number[] = [];
    const report = await store.verify(({ rowsRead, rowsTotal }) => seen.push(rowsRead / rowsTotal));
    expect(report).toMatchObject({ receipts: count, violations: [] });
    expect(seen).toEqual([LIMITS.storeSliceRows / count, 1, 1]);
    expect(await store.closeBooks(NOON_MS + 1)).toEqual({ closed: count, forgotten: count });
    expect(await store.verify()).toMatchObject({ receipts: count, violations: [] });
  });

  describe('verify names', () => {
    beforeEach(() => copyEmptyLedger(folder));

    const FRAUDS: Record<string, [sql: string, finding: RegExp]> = {
      'a balance that was raised': ['UPDATE balance SET balance = balance + 1', /Account 1: balance is 951, .* 950/],
      'a spend that was lowered': ['UPDATE balance SET spent = spent - 1', /Account 1: spent is 49, .* 50/],
      'a hold that nobody can pay': [
        'UPDATE call SET held = 951 WHERE id = 2',
        /Account 1: 951 held or reserved with a balance of 950/,
      ],
      'a key that spent less': ['UPDATE key_window SET spent = spent - 1', /Key 7, window 0: spent is 49, .* 50/],
      'a key window that is gone': ['DELETE FROM key_window', /Key 7, window 0 does not exist/],
      'a receipt that is gone': ['DELETE FROM call WHERE id = 1', /Account 1: spent is 50, .* 0/],
      'a receipt that costs less': [
        'UPDATE call SET cost = 49 WHERE id = 1',
        /Call 1: its columns do not match its state/,
      ],
      'a hold settled by hand': [
        'UPDATE call SET state = 2 WHERE id = 2',
        /Call 2: its columns do not match its state/,
      ],
      'a settlement opened by hand': [
        'UPDATE call SET state = 1 WHERE id = 1',
        /Call 1: its columns do not match its state/,
      ],
      'a state nobody knows': ['UPDATE call SET state = 9 WHERE id = 1', /Call 1: its columns do not match its state/],
      'a call without its window': [
        'UPDATE call SET window_id = NULL WHERE id = 1',
        /Call 1: its columns do not match its state/,
      ],
      'a credit that is gone': ['DELETE FROM credit', /Account 1: balance is 950, .* -50/],
      'an idempotency key set free': ['DELETE FROM idempotency_key', /Call 2 is open, but its idempotency key/],
      'an idempotency key finished by hand': ['UPDATE idempotency_key SET state = 2', /key does not match its call 2/],
      'an idempotency key of no call': ['UPDATE idempotency_key SET call_id = 9', /key does not match its call 9/],
      'a call of nobody': ['UPDATE call SET account_id = 5 WHERE id = 1', /Account 5 does not exist/],
    };

    for (const [title, [sql, finding]] of Object.entries(FRAUDS)) {
      it(title, async () => {
        const store = await open();
        await prepare(store);
        await store.createKey(aKey(7n, 1n));
        const components = { freshNanousd: 20n, cacheWriteNanousd: 0n, cacheReadNanousd: 0n, outputNanousd: 30n };
        const idempotency = { key: 'k', bodySha256: new Uint8Array(32) };
        const keyedHold = aHold(2n, 100n, { keyId: 7n, idempotency });
        const holds = [aHold(1n, 100n, { keyId: 7n }), keyedHold];
        await store.apply([aCredit(1n, 1_000n), ...holds, aSettle(1n, 50n, { components })]);
        expect((await store.verify()).violations).toEqual([]);
        meddle(sql);
        const { violations } = await store.verify();
        expect(
          violations.some((sentence) => finding.test(sentence)),
          violations.join('\n'),
        ).toBe(true);
      });
    }

    it('sums of receipts that were deleted', async () => {
      const store = await open();
      await prepare(store);
      await store.createKey(aKey(7n, 1n));
      await store.apply([aCredit(1n, 1_000n), aHold(1n, 100n, { keyId: 7n }), aSettle(1n, 50n)]);
      clock.advance(2 * LIMITS.closingAgeMs);
      await store.closeBooks(NOON_MS + 1);
      meddle('UPDATE month_tree SET spent = 40 WHERE part = 1; UPDATE key_window SET closed = 30');
      expect((await store.verify()).violations).toEqual([
        'Account 1, month 2026-03: spent is 40, but its receipts add up to 50.',
        'The sum of all spending is 50, but its entries add up to 40.',
        'Account 1: balance is 950, but its entries add up to 960.',
        'Account 1: spent is 50, but its entries add up to 40.',
        'Key 7, window 0: spent is 50, but its entries add up to 30.',
      ]);
    });
  });
});
