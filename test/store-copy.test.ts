import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readStore } from '../src/config/store.ts';
import { systemClock } from '../src/kit/clock.ts';
import { LIMITS } from '../src/limits.ts';
import { copyStore } from '../src/main/copy-store.ts';
import { type CopyTarget, copyLedger, keyOf, LEDGER_TABLES } from '../src/store/copy.ts';
import { openPostgresTarget } from '../src/store/postgres/copy-target.ts';
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts';
import { openSqliteSource } from '../src/store/sqlite/copy-source.ts';
import { openToRead } from '../src/store/sqlite/database.ts';
import { lockFolder } from '../src/store/sqlite/lock.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../src/store/store.ts';
import { makeBooksWithAPast } from './filled-store.ts';
import { startHarness } from './harness.ts';
import { databaseInEnglish, freshSchema, runSql } from './postgres.ts';
import { ALL_RECEIPTS, aCredit, aHold, anAccount, aSettle, FIRST_PAGE, prepare } from './store-fixtures.ts';

const silent = () => undefined;
/** Instances and meta rows: each engine has its own, and a copy takes over only what matters. */
const NO_BOOKS = ['instance', 'meta'];
const NOT_COPIED = ['request_count', 'instance_commit'];

describe('copying a ledger from SQLite to PostgreSQL', () => {
  let folder: string;
  let url: string;

  beforeEach(async () => {
    folder = join(mkdtempSync(join(tmpdir(), 'tollgate-copy-')), 'books');
    url = await freshSchema();
  });

  afterEach(() => rmSync(join(folder, '..'), { recursive: true }));

  const copy = () => copyStore({ from: folder, to: url, progress: silent }, systemClock);

  /** One attempt that is interrupted at the given page, before or after it is written. */
  const breakOff = async (pages: number, moment: 'before' | 'after'): Promise<'broken' | 'whole'> => {
    const target = await openPostgresTarget({ url, clock: systemClock });
    const source = await openSqliteSource({ folder, clock: systemClock });
    let left = pages;
    const failing: CopyTarget = Object.create(target, {
      write: {
        value: async (...page: Parameters<CopyTarget['write']>) => {
          left -= 1;
          if (left === 0 && moment === 'before') throw new Error('broken off');
          await target.write(...page);
          if (left === 0) throw new Error('broken off');
        },
      },
    });
    for (const name of ['begin', 'lastKey', 'count', 'read', 'asStored', 'setState', 'verify', 'finish'] as const) {
      Object.defineProperty(failing, name, { value: target[name].bind(target) });
    }
    try {
      await copyLedger(source, failing, silent);
      return 'whole';
    } catch (error) {
      expect(String(error)).toContain('broken off');
      return 'broken';
    } finally {
      await source.close();
      await target.close();
    }
  };

  it('knows every table of both engines', async () => {
    await makeBooksWithAPast({ folder, calls: 1 });
    await (await openPostgresStore({ url, clock: systemClock })).close();
    const database = openToRead(folder);
    const here = database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .all()
      .map((row) => row.name);
    database.close();
    const there = await runSql(url, 'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()');
    const known = (names: readonly unknown[]) => names.filter((name) => !String(name).startsWith('sqlite_')).sort();
    const copied = LEDGER_TABLES.map(({ name }) => name);
    // Lists of calls by account are made again from the calls.
    expect(known(here).filter((name) => name !== 'account_call')).toEqual([...copied, ...NO_BOOKS].sort());
    // Counts of requests and commits belong to running processes and are not copied.
    expect(known(there.rows.map(({ name }) => name)).filter((name) => !NOT_COPIED.includes(String(name)))).toEqual(
      [...copied, ...NO_BOOKS].sort(),
    );
  });

  it('copies into a database that orders texts as a language does', async () => {
    await makeBooksWithAPast({ folder, calls: 600 });
    const sqlite = await openSqliteStore({ folder, clock: systemClock, threads: false });
    const [account] = await sqlite.listAccounts(FIRST_PAGE);
    for (const model of ['gpt-5-mini', 'Qwen/Qwen3-8B'])
      await sqlite.directory.noteTokenOverrun({ model, accountId: account!.id, factor: 1.5, notedMs: 1 });
    await sqlite.close();
    const english = await databaseInEnglish();
    try {
      const copied = await copyStore({ from: folder, to: english.url, progress: silent }, systemClock);
      expect(copied).toMatchObject({ ok: true, faults: [] });
    } finally {
      await english.drop();
    }
  });

  it('copies everything, so that both stores return the same', async () => {
    await makeBooksWithAPast({ folder, calls: 600 });
    expect(await copy()).toMatchObject({ ok: true, start: 'begun', rows_found: 0, faults: [] });
    const sqlite = await openSqliteStore({ folder, clock: systemClock, threads: false });
    const postgres = await openPostgresStore({ url, clock: systemClock });
    const all = { limit: 1_000, after: null };
    const rowsOf = async (store: Store) => ({
      accounts: await store.listAccounts(FIRST_PAGE),
      keys: await store.listKeys(null, FIRST_PAGE),
      changed: await store.keysChangedSince(0n),
      windows: await Promise.all((await store.listKeys(null, FIRST_PAGE)).map(({ id }) => store.keyWindow(id))),
      providerKeys: (await store.providerKeysAfter(null, 100)).map((row) => ({
        ...row,
        sealed: Buffer.from(row.sealed).toString('hex'),
      })),
      verified: await store.verify(),
    });
    expect(await rowsOf(postgres)).toEqual(await rowsOf(sqlite));
    const [receipts, originals] = [
      await postgres.listReceipts(ALL_RECEIPTS, all),
      await sqlite.listReceipts(ALL_RECEIPTS, all),
    ];
    expect(originals.length).toBeGreaterThan(300);
    expect(receipts.map(({ requestedModel: _, lossReason: __, ...rest }) => rest)).toEqual(
      originals.map(({ requestedModel: _, lossReason: __, ...rest }) => rest),
    );
    await sqlite.close();
    await postgres.close();
  });

  it('leaves a ledger that can be used at once', async () => {
    await makeBooksWithAPast({ folder, calls: 50 });
    await copy();
    const store = await openPostgresStore({ url, clock: systemClock });
    const { epoch, voidedHolds } = await store.beginInstance();
    const sqlite = await openSqliteStore({ folder, clock: systemClock, threads: false });
    expect(epoch).toBe((await sqlite.beginInstance()).epoch);
    expect(voidedHolds).toBe(0);
    await sqlite.close();
    expect(await store.registerPrices('prices-2', '{"model":"zwölf \\"Euro\\""}')).toBe(2);
    expect(await store.registerPrices('prices-3', '{}')).toBe(3);
    expect(await store.apply([aCredit(1n, 1n)])).toMatchObject([
      { kind: 'credit_refused', reason: 'reference_differs' },
    ]);
    const hold = { kind: 'hold', id: 2n ** 62n, epoch, accountId: 3n, keyId: null, amountNanousd: 5n } as const;
    const call = {
      ceilingNanousd: null,
      route: '/v1/new',
      stream: false,
      requestedModel: 'new',
      effectiveModel: 'new',
    };
    const outcomes = await store.apply([
      { ...hold, ...call, priceId: 3, createdMs: systemClock.nowMs(), labels: null, idempotency: null },
    ]);
    expect(outcomes).toEqual([{ kind: 'held' }]);
    expect((await store.verify()).violations).toEqual([]);
    await store.close();
  });

  it('resumes after an interruption at any page, before or after its commit, without duplicates', async () => {
    await makeBooksWithAPast({ folder, calls: 60 });
    const endings: string[] = [];
    for (let attempt = 0; attempt < 40 && endings.at(-1) !== 'whole'; attempt++) {
      endings.push(await breakOff(1, attempt % 2 === 0 ? 'before' : 'after'));
    }
    // Nothing is closed in this ledger, no count fell short, and nobody manages it.
    const sums = ['usage_hour', 'usage_day', 'usage_state', 'refusal_hour', 'refusal'];
    const closed = ['closing', 'closed_month', 'month_tree', 'tree_chunk', 'token_overrun', ...sums];
    const empty = [
      ...closed,
      'person',
      'membership',
      'former_member',
      'invitation',
      'session',
      'management_key',
      'audit',
      'person_window',
      'webhook',
      'webhook_secret',
      'webhook_delivery',
      'alert',
      'archive_file',
      'receipt_key',
      'month_salt',
      'month_root',
      'alert_setting',
      'job',
      'job_group',
      'job_account',
      'job_chunk',
      'job_event',
    ];
    expect(endings).toHaveLength(2 * (LEDGER_TABLES.length - empty.length) + 1);
    const store = await openPostgresStore({ url, clock: systemClock });
    expect(await store.verify()).toMatchObject({ receipts: 61, violations: [] });
    await store.beginInstance();
    await store.close();
  });

  it('limits the size of a page, however large the stored responses are', async () => {
    const store = await openSqliteStore({ folder, clock: systemClock, threads: false });
    await prepare(store);
    await store.apply([aCredit(1n, 1_000n)]);
    const kept = new Uint8Array(LIMITS.idempotencyAnswerBytesMax).fill(1);
    for (let id = 1n; id <= 10n; id++) {
      const idempotency = { key: `key ${id}`, bodySha256: new Uint8Array(32) };
      await store.apply([aHold(id, 1n, { idempotency }), aSettle(id, 1n, {}, kept)]);
    }
    await store.close();
    const source = await openSqliteSource({ folder, clock: systemClock });
    const table = LEDGER_TABLES.find(({ name }) => name === 'idempotency_key')!;
    const first = source.page(table, null);
    expect(first.length).toBe(Math.floor(LIMITS.copyPageBytes / (kept.length + 1_000)));
    expect(source.page(table, keyOf(table, first.at(-1)!))).toHaveLength(10 - first.length);
    await source.close();
    expect(await copy()).toMatchObject({ ok: true, tables: { idempotency_key: 10 } });
  });

  it('lets only one process copy at a time', async () => {
    await makeBooksWithAPast({ folder, calls: 20 });
    const source = await openSqliteSource({ folder, clock: systemClock });
    const targets = [
      await openPostgresTarget({ url, clock: systemClock }),
      await openPostgresTarget({ url, clock: systemClock }),
    ];
    for (const target of targets) await target.begin(source.mark, source.columns);
    const [table] = LEDGER_TABLES;
    const rows = source.page(table!, null);
    const written = await Promise.allSettled(targets.map((target) => target.write(table!, rows, null)));
    const refused = written.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
    expect(refused).toEqual([expect.stringContaining('Another process is copying')]);
    expect(await targets[0]!.count(table!)).toBe(rows.length);
    for (const opened of [source, ...targets]) await opened.close();
  });

  it('serves the same callers afterwards: keys, money, receipts and stored responses', async () => {
    const before = await startHarness({ hosted: true, folder });
    const hello = { model: 'sim-gpt', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 20 };
    const { secret, accountId } = await before.mint({ capNanousd: 900_000_000n, capWindow: 'month' });
    const headers = { authorization: `Bearer ${secret}`, 'idempotency-key': 'the same' };
    const first = await before.post(hello, headers);
    expect(first.status).toBe(200);
    const id = first.headers.get('x-gateway-request-id')!;
    const receipt = await before.receipt(id, secret);
    const balance = await (await before.get('/v1/balance', headers)).json();
    await before.stop();
    expect(await copy()).toMatchObject({ ok: true });
    const after = await startHarness({ hosted: true, folder, config: { store: readStore(url) } });
    expect(await (await after.get('/v1/balance', headers)).json()).toEqual(balance);
    expect(await after.receipt(id, secret)).toEqual(receipt);
    const again = await after.post(hello, headers);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect(await again.text()).toBe(await first.text());
    expect((await after.post(hello, { authorization: headers.authorization })).status).toBe(200);
    const { spentNanousd } = (await after.running.books.store.findAccount(accountId))!;
    expect(spentNanousd).toBe(2n * BigInt(receipt.cost_nanousd!));
    await after.expectCleanBooks();
    await after.stop();
  });

  it('starts again if the source was used after an interruption', async () => {
    await makeBooksWithAPast({ folder, calls: 60 });
    expect(await breakOff(9, 'after')).toBe('broken');
    const store = await openSqliteStore({ folder, clock: systemClock, threads: false });
    await store.beginInstance();
    await store.apply([aCredit(1_000n, 77n, { reference: 'meanwhile' })]);
    await store.close();
    expect(await copy()).toMatchObject({ ok: true, start: 'begun_anew', rows_found: 0 });
  });

  it('cannot be served from before it is finished', async () => {
    await makeBooksWithAPast({ folder, calls: 20 });
    await breakOff(5, 'after');
    const store = await openPostgresStore({ url, clock: systemClock });
    await expect(store.beginInstance()).rejects.toThrow('tollgate store copy');
    await copy();
    expect(await store.beginInstance()).toMatchObject({ voidedHolds: 0 });
    await store.close();
  });

  it('refuses a folder that a process has open, and one without a ledger', async () => {
    await makeBooksWithAPast({ folder, calls: 5 });
    const lock = lockFolder(folder, { pid: 4711, url: 'http://127.0.0.1:8080', socketPath: null, startedMs: 0 });
    expect(await copy()).toEqual({ refused: expect.stringContaining('process 4711'), unreachable: true });
    if ('release' in lock) lock.release();
    expect(await copyStore({ from: join(folder, 'elsewhere'), to: url, progress: silent }, systemClock)).toEqual({
      refused: expect.stringContaining('no ledger'),
      unreachable: true,
    });
    expect((await runSql(url, "SELECT to_regclass('account') AS there")).rows).toEqual([{ there: null }]);
  });

  it('refuses a database with another ledger, and one that a server uses', async () => {
    await makeBooksWithAPast({ folder, calls: 5 });
    const store = await openPostgresStore({ url, clock: systemClock });
    await store.beginInstance();
    expect(await copy()).toEqual({ refused: expect.stringContaining('A server is using') });
    await store.createAccount(anAccount(1n));
    expect(await copy()).toEqual({ refused: expect.stringContaining('already contains a ledger') });
    await store.close();
  });

  it('refuses a database with an unfinished copy of another ledger, and one with a finished copy', async () => {
    await makeBooksWithAPast({ folder, calls: 5 });
    await breakOff(3, 'after');
    const other = join(folder, '..', 'other');
    await makeBooksWithAPast({ folder: other, calls: 5 });
    const refused = await copyStore({ from: other, to: url, progress: silent }, systemClock);
    expect(refused).toEqual({ refused: expect.stringContaining('another ledger') });
    expect(await copy()).toMatchObject({ ok: true });
    const late = await copyStore({ from: other, to: url, progress: silent }, systemClock);
    expect(late).toEqual({ refused: expect.stringContaining('already contains a ledger') });
  });

  it.each([
    ['a row that is missing', 'DELETE FROM call WHERE id = (SELECT max(id) FROM call)', 'call'],
    ['a cell that differs', "UPDATE credit SET note = 'other' WHERE id = 3", 'credit: the row id 3'],
    ['an amount that differs', 'UPDATE balance SET balance = balance + 1 WHERE account_id = 4', 'balance adds up'],
    ['a row too many', 'INSERT INTO name (id, text) VALUES (100000, $$new$$)', 'name'],
  ])('says of %s what is wrong, and does not let it be used', async (_, damage, words) => {
    await makeBooksWithAPast({ folder, calls: 30 });
    await runSql(url, 'SELECT 1');
    const target = await openPostgresTarget({ url, clock: systemClock });
    const source = await openSqliteSource({ folder, clock: systemClock });
    const setState = target.setState.bind(target);
    target.setState = async (...args) => {
      await setState(...args);
      await runSql(url, damage);
    };
    const report = await copyLedger(source, target, silent);
    await source.close();
    await target.close();
    expect(report).toMatchObject({ faults: expect.arrayContaining([expect.stringContaining(words)]) });
    const store = await openPostgresStore({ url, clock: systemClock });
    await expect(store.beginInstance()).rejects.toThrow('not finished');
    await store.close();
  });
});
