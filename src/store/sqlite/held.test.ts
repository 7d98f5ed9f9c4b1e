import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aCredit, aHold, aKey, aSettle, NOON_MS, prepare } from '../../../test/store-fixtures.ts';
import { ManualClock } from '../../kit/clock.ts';
import { MIGRATIONS } from '../migrations/index.ts';
import type { LedgerOperation, Store } from '../store.ts';
import { fillBatchBuffer } from './batch-buffer.ts';
import { createFiles, databaseFile } from './database.ts';
import { migrate } from './migrate.ts';
import { RowCache } from './row-cache.ts';
import { openSqliteStore } from './sqlite-store.ts';
import { type WriterVerbs, writerVerbs } from './writer-verbs.ts';

const refused = (reason: 'balance' | 'key_cap', availableNanousd: bigint) => ({
  kind: 'hold_refused',
  reason,
  availableNanousd,
});

describe('held amounts in the cache of the writer', () => {
  let database: DatabaseSync;
  let verbs: WriterVerbs;

  /** Account 1 has 1,000; its key 7 may spend 500 of it. */
  beforeEach(() => {
    database = new DatabaseSync(':memory:', { readBigInts: true });
    migrate(database);
    verbs = writerVerbs(database);
    verbs.createAccount({ id: 1n, name: 'a', kind: 'prepaid', createdMs: NOON_MS });
    verbs.createKey(aKey(7n, 1n, { capNanousd: 500n }));
    verbs.registerPrices(NOON_MS, 'p', '{}');
    verbs.beginEpoch(NOON_MS);
    apply(aCredit(1n, 1_000n), aHold(1n, 300n, { keyId: 7n }), aHold(2n, 50n));
  });

  const apply = (...operations: LedgerOperation[]) => verbs.apply(fillBatchBuffer(operations), NOON_MS);
  /** The rest of the key's cap and of the balance. */
  const left = () => apply(aHold(90n, 501n, { keyId: 7n }), aHold(91n, 1_001n));
  /** Without the three that say how far the ledger has come, which every commit writes. */
  const rowsChangedBy = (run: () => unknown) => {
    const total = () => database.prepare('SELECT total_changes() AS rows').get()!.rows as bigint;
    const rowsBefore = total();
    run();
    return Number(total() - rowsBefore) - 3;
  };
  const poison = (operation: 'INSERT' | 'UPDATE', id: number) =>
    database.exec(`
      CREATE TRIGGER poison AFTER ${operation} ON call WHEN NEW.id = ${id}
      BEGIN SELECT RAISE(ABORT, 'poison'); END;`);

  it('are written only with the calls', () => {
    expect(rowsChangedBy(() => apply(aHold(3n, 10n, { keyId: 7n }), aHold(4n, 10n), aHold(5n, 10n)))).toBe(3);
    // An end writes the call; with a cost, also the balance and the key's window.
    expect(rowsChangedBy(() => apply(aSettle(3n, 7n, { host: null })))).toBe(3);
    expect(rowsChangedBy(() => apply(aSettle(4n, 0n, { host: null })))).toBe(1);
    expect(rowsChangedBy(() => apply({ kind: 'void', id: 5n, reason: 'gone' }))).toBe(1);
    expect(left()).toEqual([refused('key_cap', 193n), refused('balance', 643n)]);
  });

  it('create the row of a window with its first hold', () => {
    verbs.createKey(aKey(8n, 1n));
    const rows = () => database.prepare('SELECT * FROM key_window WHERE key_id = 8').all();
    apply(aHold(3n, 2_000n, { keyId: 8n }));
    expect(rows()).toEqual([]);
    expect(rowsChangedBy(() => apply(aHold(3n, 10n, { keyId: 8n }), aHold(4n, 10n, { keyId: 8n })))).toBe(3);
    expect(rows()).toEqual([{ key_id: 8n, window_id: 0n, spent: 0n, closed: 0n, reserved: 0n }]);
    expect(rowsChangedBy(() => apply(aHold(5n, 10n, { keyId: 8n })))).toBe(1);
  });

  it('are added up again by the next writer', () => {
    verbs = writerVerbs(database);
    expect(left()).toEqual([refused('key_cap', 200n), refused('balance', 650n)]);
    expect(apply(aCredit(2n, -651n), aCredit(3n, -650n))).toEqual([
      { kind: 'credit_refused', reason: 'exceeds_available' },
      { kind: 'credited', balanceNanousd: 350n },
    ]);
    verbs = writerVerbs(database);
    expect(apply(aSettle(1n, 100n))).toEqual([1]);
    expect(left()).toEqual([refused('key_cap', 400n), refused('balance', 200n)]);
    expect(verbs.heldDrift(NOON_MS)).toEqual([]);
  });

  it('are right after a batch with an operation that could not be written', () => {
    poison('INSERT', 4);
    const hold = (id: bigint) => aHold(id, 10n, { keyId: 7n });
    expect(apply(hold(3n), hold(4n), aSettle(2n, 20n), hold(5n))).toEqual([
      0,
      { kind: 'operation_failed', message: expect.stringContaining('poison') },
      1,
      0,
    ]);
    expect(left()).toEqual([refused('key_cap', 180n), refused('balance', 660n)]);
    expect(verbs.heldDrift(NOON_MS)).toEqual([]);
  });

  it('are right after a settlement that could not be written', () => {
    poison('UPDATE', 1);
    expect(apply(aSettle(2n, 20n), aSettle(1n, 20n))).toMatchObject([1, { kind: 'operation_failed' }]);
    expect(left()).toEqual([refused('key_cap', 200n), refused('balance', 680n)]);
    expect(verbs.heldDrift(NOON_MS)).toEqual([]);
  });

  it('are right after other work of the writer was rolled back', () => {
    apply(aHold(3n, 10n, { keyId: 7n }));
    expect(() => verbs.registerPrices(NOON_MS, 'p', '{"other":1}')).toThrow('never change');
    expect(left()).toEqual([refused('key_cap', 190n), refused('balance', 640n)]);
  });

  it('are never reduced for a hold that was not counted', () => {
    const cache = new RowCache(database);
    const call = cache.call(1n)!;
    call.window!.held = 299n;
    expect(() => cache.endHold(call, 0n)).toThrow('Call 1 has no hold in the cache.');
    cache.forget();
    cache.balance(1n)!.held = 299n;
    expect(() => cache.endHold(cache.call(1n)!, 0n)).toThrow('Call 1 has no hold in the cache.');
  });
});

describe('held amounts of a data folder', () => {
  let folder: string;
  let store: Store | null;
  const clock = new ManualClock(NOON_MS);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-held-'));
    store = null;
  });

  afterEach(async () => {
    await store?.close();
    rmSync(folder, { recursive: true });
  });

  async function reopen(): Promise<Store> {
    await store?.close();
    store = await openSqliteStore({ folder, clock, threads: false });
    return store;
  }

  function run(use: (database: DatabaseSync) => void): void {
    const database = new DatabaseSync(databaseFile(folder), { readBigInts: true });
    use(database);
    database.close();
  }

  const heldIn = async (opened: Store) => [
    (await opened.findAccount(1n))?.heldNanousd,
    (await opened.findAccount('account-1'))?.heldNanousd,
    ...(await opened.listAccounts({ limit: 9, after: null })).map((account) => account.heldNanousd),
    (await opened.keyWindow(7n))?.heldNanousd,
  ];

  it('are right after a restart, before and after old holds are voided', async () => {
    let opened = await reopen();
    await prepare(opened);
    await opened.createAccount({ id: 2n, name: 'b', kind: 'prepaid', createdMs: NOON_MS });
    await opened.createKey(aKey(7n, 1n));
    await opened.apply([aCredit(1n, 1_000n), aHold(1n, 60n, { keyId: 7n }), aHold(2n, 5n), aHold(3n, 30n)]);
    await opened.apply([aSettle(3n, 10n)]);
    for (const _ of ['first', 'restarted']) {
      expect(await heldIn(opened)).toEqual([65n, 65n, 65n, 0n, 60n]);
      expect(await opened.verify()).toMatchObject({ openHolds: 2, violations: [] });
      opened = await reopen();
    }
    expect((await opened.beginInstance()).voidedHolds).toBe(2);
    expect(await heldIn(opened)).toEqual([0n, 0n, 0n, 0n, 0n]);
    expect(await opened.verify()).toMatchObject({ openHolds: 0, violations: [] });
  });

  it('that differ from the open calls are found by verify', async () => {
    const opened = await reopen();
    await prepare(opened);
    await opened.createKey(aKey(7n, 1n));
    await opened.apply([aCredit(1n, 1_000n)]);
    run((database) => {
      database.exec('CREATE TRIGGER more AFTER INSERT ON call BEGIN UPDATE call SET held = held + 1; END');
    });
    await opened.apply([aHold(1n, 60n, { keyId: 7n })]);
    expect((await opened.verify()).violations).toEqual([
      'Account 1: the writer counts 60 held, the open calls add up to 61.',
      'Key 7, window 0: the writer counts 60 held, the open calls add up to 61.',
    ]);
    expect((await opened.verify()).violations).toEqual([]);
    expect(await opened.apply([aHold(2n, 940n), aHold(3n, 939n)])).toMatchObject([
      { kind: 'hold_refused', availableNanousd: 939n },
      { kind: 'held' },
    ]);
  });

  /** A folder as a server of the previous schema left it when it died: one receipt, and an open hold of 60. */
  function makeOlderFolder(): void {
    createFiles(folder);
    run((database) => {
      migrate(database, MIGRATIONS.slice(0, 4));
      database.exec(`
        INSERT INTO account VALUES (1, 'account-1', 1, 0), (2, 'account-2', 2, 0);
        INSERT INTO balance VALUES (1, 1, 990, 60, 10), (2, 2, -5, 0, 5);
        INSERT INTO credit VALUES (1, 1, 'opening', 1000, NULL, 0);
        INSERT INTO api_key (id, account_id, name, sha256, prefix, last_four, cap, cap_window, created_ms, version)
          VALUES (7, 1, 'k', 's', 'p', 'f', 100, 0, 0, 1);
        INSERT INTO key_window VALUES (7, 0, 10, 60, 10);
        INSERT INTO name VALUES (1, 'route'), (2, 'model');
        INSERT INTO price_list VALUES (1, 'p', '{}');
        INSERT INTO instance VALUES (1, 0);
        INSERT INTO closing VALUES (1, 0, 1, 10, 0), (2, 0, 1, 5, 0);
        INSERT INTO meta VALUES ('closed_up_to', 1);
        INSERT INTO call (id, state, epoch, account_id, key_id, window_id, held, price_id, route, stream,
          requested_model, effective_model, created_ms) VALUES (2, 1, 1, 1, 7, 0, 60, 1, 1, 0, 2, 2, 0);`);
    });
  }

  it('are the same after migrating a folder of the previous schema with open holds', async () => {
    makeOlderFolder();
    const opened = await reopen();
    expect(await heldIn(opened)).toEqual([60n, 60n, 60n, 0n, 60n]);
    expect(await opened.apply([aHold(3n, 31n, { keyId: 7n }), aHold(4n, 931n), aHold(5n, 30n, { keyId: 7n })])).toEqual(
      [refused('key_cap', 30n), refused('balance', 930n), { kind: 'held' }],
    );
    expect(await opened.findAccount(2n)).toMatchObject({ balanceNanousd: -5n, spentNanousd: 5n });
    expect(await opened.verify()).toMatchObject({ openHolds: 2, receipts: 2, violations: [] });
    expect((await opened.beginInstance()).voidedHolds).toBe(2);
    expect(await opened.findAccount(1n)).toMatchObject({ balanceNanousd: 990n, heldNanousd: 0n, spentNanousd: 10n });
    expect(await opened.verify()).toMatchObject({ openHolds: 0, violations: [] });
  });

  it('leave the constraints of single rows in place', async () => {
    makeOlderFolder();
    await reopen();
    const wrong = [
      'UPDATE balance SET balance = -1 WHERE account_id = 1',
      'UPDATE balance SET spent = -1 WHERE account_id = 2',
      'UPDATE key_window SET spent = 9',
    ];
    run((database) => {
      for (const sql of wrong) expect(() => database.exec(sql), sql).toThrow('CHECK constraint failed');
    });
  });
});
