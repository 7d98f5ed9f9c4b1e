import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { randomCases } from '../../../test/random-cases.ts';
import { aHold } from '../../../test/store-fixtures.ts';
import { AccountIndex } from './account-index.ts';
import { migrate } from './migrate.ts';
import { ReceiptReader } from './receipts.ts';

const SLICE_ROWS = 5;
const ROWS_AT_ONCE = 2;
const EVERYTHING = { keyId: null, sinceMs: null, untilMs: null, model: null, chain: null };
const ALL = { limit: 100, after: null, examineMax: 1_000 };

function emptyLedger(): DatabaseSync {
  const database = new DatabaseSync(':memory:', { readBigInts: true });
  migrate(database);
  database.exec("INSERT INTO name VALUES (1, 'x'); INSERT INTO price_list VALUES (1, 'p', '{}')");
  return database;
}

function openLedger(database = emptyLedger()) {
  const insert = database.prepare(`
    INSERT INTO call (id, state, epoch, account_id, held, price_id, route, stream, requested_model, effective_model, created_ms)
    VALUES (?, 1, 1, ?, 0, 1, 1, 0, 1, 1, ?)`);
  return {
    database,
    index: new AccountIndex(database, SLICE_ROWS, ROWS_AT_ONCE),
    add: (id: bigint, accountId: bigint) => void insert.run(id, accountId, aHold(id, 0n).createdMs),
    listed: (accountId: bigint) =>
      new ReceiptReader(database).listOfAccount({ accountId, ...EVERYTHING }, ALL).receipts.map(({ id }) => Number(id)),
    stored: () => Number(database.prepare('SELECT count(*) AS rows FROM account_call').get()?.rows),
  };
}

test('calls are listed in slices, some with each batch, and found before, meanwhile and after that', () => {
  const { index, add, listed, stored } = openLedger();
  const sizes: number[] = [];
  for (let id = 1n; id <= 12n; id++) {
    add(id, 1n);
    index.note(1n, id);
    index.flush();
    sizes.push(stored());
    expect(listed(1n)).toEqual(Array.from({ length: Number(id) }, (_, at) => Number(id) - at));
  }
  expect(sizes).toEqual([0, 0, 0, 0, 2, 4, 5, 5, 5, 7, 9, 10]);
});

test('a new life goes on where the last one stopped', () => {
  const { database, index, add, stored } = openLedger();
  for (const id of [1n, 2n, 3n, 4n]) {
    add(id, 1n);
    index.note(1n, id);
  }
  index.flush();
  const next = new AccountIndex(database, SLICE_ROWS, ROWS_AT_ONCE);
  add(5n, 1n);
  next.note(1n, 5n);
  for (let batch = 0; batch < 3; batch++) next.flush();
  expect(stored()).toBe(5);
});

test('a slice is listed faster than calls arrive', () => {
  const { index, add, stored } = openLedger();
  for (let id = 1n; id <= 100n; id++) {
    add(id, 1n + (id % 3n));
    index.note(1n + (id % 3n), id);
    if (id % 10n === 0n) index.flush();
  }
  expect(stored()).toBe(100);
});

test('a call that is deleted before it is listed does not come into the list', () => {
  const { database, index, add, stored } = openLedger();
  for (const id of [1n, 2n, 3n, 4n]) {
    add(id, 1n);
    index.note(1n, id);
  }
  index.flush();
  database.exec('DELETE FROM call WHERE id <= 3');
  index.callsDeleted(3n);
  for (let id = 5n; id <= 8n; id++) {
    add(id, 1n);
    index.note(1n, id);
  }
  for (let batch = 0; batch < 3; batch++) index.flush();
  expect(stored()).toBe(5);
});

test('a ledger without lists, which was copied from elsewhere, is listed at once', () => {
  const { database, index, add, listed, stored } = openLedger();
  for (let id = 1n; id <= 50n; id++) add(id, 1n);
  index.flush();
  expect(stored()).toBe(50);
  add(51n, 1n);
  index.note(1n, 51n);
  index.flush();
  expect(listed(1n)).toHaveLength(51);
  database.close();
});

test('every call of an account is listed once, whatever the order of ids, the batches and the restarts', () => {
  const database = emptyLedger();
  const ids = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 40 });
  fc.assert(
    fc.property(ids, fc.infiniteStream(fc.nat(9)), (order, dice) => {
      database.exec('BEGIN');
      const { index: first, add, listed } = openLedger(database);
      let index = first;
      const made: [number, number][] = [];
      for (const id of order) {
        const roll = dice.next().value;
        made.push([id, 1 + (roll % 2)]);
        add(BigInt(id), BigInt(1 + (roll % 2)));
        index.note(BigInt(1 + (roll % 2)), BigInt(id));
        if (roll > 6) index.flush();
        if (roll === 9) index = new AccountIndex(database, SLICE_ROWS, ROWS_AT_ONCE);
      }
      index.flush();
      for (const account of [1, 2]) {
        const wanted = made.filter(([, of]) => of === account).map(([id]) => id);
        expect(listed(BigInt(account))).toEqual(wanted.sort((a, b) => b - a));
      }
      database.exec('ROLLBACK');
    }),
    { numRuns: randomCases(200) },
  );
  database.close();
});
