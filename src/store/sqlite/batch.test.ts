import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { aJob, aRelease, aReserve } from '../../../test/job-fixtures.ts';
import { aCredit, aHold, aSettle, NOON_MS } from '../../../test/store-fixtures.ts';
import type { LedgerOperation } from '../store.ts';
import { AccountReader } from './accounts.ts';
import { isBroken, NO_GUARD, StoreBroken } from './batch.ts';
import { fillBatchBuffer } from './batch-buffer.ts';
import { fullOutcome } from './lean-outcome.ts';
import { migrate } from './migrate.ts';
import { type WriterVerbs, writerVerbs } from './writer-verbs.ts';

describe('a batch', () => {
  let database: DatabaseSync;
  let verbs: WriterVerbs;

  beforeEach(() => {
    database = new DatabaseSync(':memory:', { readBigInts: true });
    migrate(database);
    verbs = writerVerbs(database);
    verbs.createAccount({ id: 1n, name: 'a', kind: 'prepaid', createdMs: NOON_MS });
    verbs.registerPrices(NOON_MS, 'p', '{}');
    verbs.beginEpoch(NOON_MS);
  });

  const apply = (...operations: LedgerOperation[]) => verbs.apply(fillBatchBuffer(operations), NOON_MS);
  const rows = (table: string) => Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n);
  const balanceAndHeld = () => {
    const account = new AccountReader(database).find(1n);
    return [account?.balanceNanousd, account?.heldNanousd];
  };
  const thrownBy = (run: () => unknown): unknown => {
    try {
      run();
    } catch (error) {
      return error;
    }
    return null;
  };

  it('runs the batches of two threads in one commit, each in its order', () => {
    apply(aCredit(1n, 300n));
    const before = database.prepare("SELECT value FROM meta WHERE name = 'tip'").get()?.value as bigint;
    const batches = [[aHold(11n, 200n), aHold(12n, 200n)], [aHold(13n, 100n)]].map(fillBatchBuffer);
    const [first, second] = verbs.applyAll(batches, NOON_MS);
    expect([first!.map(fullOutcome), second!.map(fullOutcome)]).toMatchObject([
      [{ kind: 'held' }, { kind: 'hold_refused' }],
      [{ kind: 'held' }],
    ]);
    expect(database.prepare("SELECT value FROM meta WHERE name = 'tip'").get()?.value).toBe(before + 1n);
    expect(balanceAndHeld()).toEqual([300n, 300n]);
  });

  it('fails the store when the disk is full, instead of one operation', () => {
    apply(aCredit(1n, 1_000_000n));
    const pages = database.prepare('PRAGMA page_count').get()?.page_count;
    database.exec(`PRAGMA max_page_count = ${pages}`);
    const many = Array.from({ length: 500 }, (_, index) =>
      aHold(BigInt(index + 1), 1n, { labels: { text: 'x'.repeat(99) } }),
    );
    expect(thrownBy(() => apply(...many))).toBeInstanceOf(StoreBroken);
  });

  it('fails the store when a commit fails', () => {
    database.exec(`
      PRAGMA foreign_keys = ON;
      CREATE TABLE parent (id INTEGER PRIMARY KEY);
      CREATE TABLE child (id INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED);
      CREATE TRIGGER break_commit AFTER INSERT ON credit BEGIN INSERT INTO child VALUES (1); END;`);
    expect(thrownBy(() => apply(aCredit(1n, 1n)))).toBeInstanceOf(StoreBroken);
    expect(thrownBy(() => database.exec('SELECT * FROM nothing'))).not.toSatisfy(isBroken);
  });

  it('fails the store when the mark of a commit cannot be written, and does not run its operations again', () => {
    let commits = 0;
    const committed = () => {
      commits++;
      throw Object.assign(new Error('EROFS'), { code: 'EROFS', syscall: 'write' });
    };
    const marked = writerVerbs(database, { ...NO_GUARD, committed });
    const error = thrownBy(() => marked.apply(fillBatchBuffer([aCredit(1n, 10n)]), NOON_MS));
    expect(error).toBeInstanceOf(StoreBroken);
    expect(String(error)).toContain('the disk is read-only');
    expect([commits, rows('credit'), balanceAndHeld()]).toEqual([1, 1, [10n, 0n]]);
  });

  it('applies the other operations around one that throws, in one commit', () => {
    database.exec(`
      CREATE TRIGGER poison AFTER INSERT ON credit WHEN NEW.reference = 'poison'
      BEGIN INSERT INTO credit VALUES (NEW.id + 100, NEW.account_id, 'x', 1, NULL, 0, NULL); SELECT RAISE(ABORT, 'poison'); END;`);
    const outcomes = apply(
      aCredit(1n, 10n),
      aCredit(2n, 20n, { reference: 'poison' }),
      aCredit(3n, 30n),
      aHold(4n, 40n),
    );
    expect(outcomes).toEqual([
      { kind: 'credited', balanceNanousd: 10n },
      { kind: 'operation_failed', message: expect.stringContaining('poison') },
      { kind: 'credited', balanceNanousd: 40n },
      0,
    ]);
    expect([rows('credit'), rows('call')]).toEqual([2, 1]);
    expect(balanceAndHeld()).toEqual([40n, 40n]);
    expect(database.isTransaction).toBe(false);
  });

  it('does not add up the open calls again for operations that throw before they change anything', () => {
    apply(aCredit(1n, 1_000n), aHold(1n, 10n));
    const prepare = vi.spyOn(database, 'prepare');
    const priceless = Array.from({ length: 50 }, (_, at) => aHold(BigInt(at + 100), 1n, { priceId: 99 }));
    const outcomes = apply(aHold(2n, 20n), ...priceless, aHold(3n, 30n), aSettle(1n, 5n));
    expect(outcomes.filter((outcome) => outcome !== 0 && outcome !== 1)).toHaveLength(50);
    const sums = prepare.mock.calls.filter(([sql]) => sql.startsWith('SELECT account_id, sum(held)'));
    expect(sums.length).toBeLessThanOrEqual(1);
    expect(balanceAndHeld()).toEqual([995n, 50n]);
    expect(verbs.heldDrift(NOON_MS)).toEqual([]);
  });

  it('leaves no more to spend after a release that fails, because nothing is reserved', () => {
    verbs.changeJobs('stage', [[aJob(10n, 60n)], []]);
    expect(apply(aCredit(1n, 100n), aReserve(10n, 60n))).toMatchObject([{ kind: 'credited' }, { kind: 'reserved' }]);
    database.exec('UPDATE balance SET reserved = 0');
    verbs = writerVerbs(database);
    const failed = { kind: 'operation_failed', message: expect.stringContaining('nothing reserved') };
    expect(apply(aRelease(10n), aHold(11n, 101n))).toEqual([failed, expect.objectContaining({ reason: 'balance' })]);
    expect(apply(aHold(12n, 100n))).toEqual([0]);
  });

  it('writes a hold before the batch needs its row, and refuses a second hold with its id', () => {
    const many = Array.from({ length: 20 }, (_, index) => aHold(BigInt(index + 10), 1n));
    expect(apply(aCredit(1n, 100n), ...many, aSettle(29n, 1n), aSettle(29n, 1n), aHold(30n, 1n))).toEqual([
      { kind: 'credited', balanceNanousd: 100n },
      ...many.map(() => 0),
      1,
      { kind: 'settle_repeated', costNanousd: 1n },
      0,
    ]);
    expect(apply(aHold(31n, 1n), aHold(31n, 1n), aHold(10n, 1n), aHold(32n, 1n))).toEqual([
      0,
      { kind: 'operation_failed', message: expect.stringContaining('UNIQUE') },
      { kind: 'operation_failed', message: expect.stringContaining('UNIQUE') },
      0,
    ]);
    expect(balanceAndHeld()).toEqual([99n, 22n]);
    expect(rows('call')).toBe(23);
  });

  it('fails an operation alone that cannot be encoded', () => {
    const absurd = aHold(2n ** 80n, 1n);
    expect(apply(aCredit(1n, 10n), absurd, aHold(2n, 1n, { createdMs: 0.5 }), aHold(3n, 10n))).toEqual([
      { kind: 'credited', balanceNanousd: 10n },
      { kind: 'operation_failed', message: expect.stringContaining('64 bits') },
      { kind: 'operation_failed', message: expect.stringContaining('0.5') },
      0,
    ]);
  });
});
