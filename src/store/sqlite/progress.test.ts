import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, it } from 'vitest';
import { aCredit, aHold, aSettle, NOON_MS } from '../../../test/store-fixtures.ts';
import type { LedgerOperation } from '../store.ts';
import { NO_GUARD } from './batch.ts';
import { fillBatchBuffer } from './batch-buffer.ts';
import { migrate } from './migrate.ts';
import { type Progress, readProgress } from './progress.ts';
import { Verification } from './verification.ts';
import { type WriterVerbs, writerVerbs } from './writer-verbs.ts';

describe('the progress of a ledger', () => {
  let database: DatabaseSync;
  let verbs: WriterVerbs;
  let committed: Progress[];

  beforeEach(() => {
    database = new DatabaseSync(':memory:', { readBigInts: true });
    migrate(database);
    committed = [];
    verbs = writerVerbs(database, {
      ...NO_GUARD,
      committed: ({ booksId, generation, tip, receipts, spentNanousd }) =>
        committed.push({ booksId, generation, tip, receipts, spentNanousd }),
    });
    verbs.createAccount({ id: 1n, name: 'a', kind: 'prepaid', createdMs: NOON_MS });
    verbs.registerPrices(NOON_MS, 'p', '{}');
    verbs.beginEpoch(NOON_MS);
    apply(aCredit(1n, 1_000_000n));
  });

  const apply = (...operations: LedgerOperation[]) => verbs.apply(fillBatchBuffer(operations), NOON_MS);

  it('is raised by every commit, and reported between the commit and its outcomes', () => {
    const before = readProgress(database);
    expect(committed.at(-1)).toEqual(before);
    apply(aHold(1n, 100n), aHold(2n, 100n));
    apply(aSettle(1n, 60n), { kind: 'void', id: 2n, reason: 'gone' });
    const after = readProgress(database);
    expect(committed.at(-1)).toEqual(after);
    expect(after).toEqual({ ...before, tip: before.tip + 2n, receipts: 2n, spentNanousd: 60n });
  });

  it('is raised by changes of accounts and keys too', () => {
    const { tip } = readProgress(database);
    verbs.createAccount({ id: 2n, name: 'b', kind: 'prepaid', createdMs: NOON_MS });
    expect(readProgress(database).tip).toBe(tip + 1n);
    expect(committed.at(-1)?.tip).toBe(tip + 1n);
  });

  it('stays where it is when nothing changes, so that a refusal needs no sync', () => {
    const { length } = committed;
    const before = readProgress(database);
    apply(aHold(1n, 5_000_000n));
    verbs.heldDrift(NOON_MS);
    expect(readProgress(database)).toEqual(before);
    expect(committed).toHaveLength(length);
  });

  it('counts the operations that are kept when one of their batch fails', () => {
    apply(aHold(1n, 100n), aHold(2n, 100n));
    const outcomes = apply(aSettle(1n, 60n), aHold(2n, 7n), aSettle(2n, 50n));
    expect(outcomes[1]).toMatchObject({ kind: 'operation_failed' });
    expect(readProgress(database)).toMatchObject({ receipts: 2n, spentNanousd: 110n });
    expect(committed.at(-1)).toEqual(readProgress(database));
  });

  it('is compared with the receipts themselves when the ledger is verified', () => {
    apply(aHold(1n, 100n));
    apply(aSettle(1n, 60n));
    expect(new Verification(database, NOON_MS).step()?.violations).toEqual([]);
    database.exec("UPDATE meta SET value = value + 1 WHERE name IN ('receipts', 'spent')");
    expect(new Verification(database, NOON_MS).step()?.violations).toEqual([
      expect.stringContaining('The number of receipts is 2'),
      expect.stringContaining('The sum of all spending is 61'),
    ]);
  });
});
