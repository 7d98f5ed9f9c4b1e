import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, it, test } from 'vitest';
import { aCredit, aHold, aKey, NOON_MS } from '../../../test/store-fixtures.ts';
import type { AuditRow } from '../people.ts';
import { fillBatchBuffer } from './batch-buffer.ts';
import { CACHED_TABLES, TABLES_OF_KEYS } from './cached-tables.ts';
import { writtenTable } from './directory.ts';
import { migrate } from './migrate.ts';
import { RowCache } from './row-cache.ts';
import { type WriterVerbs, writerVerbs } from './writer-verbs.ts';

const AUDIT: AuditRow = {
  id: 1n,
  atMs: NOON_MS,
  actorKind: 'command_line',
  actorId: null,
  actorName: 'test',
  action: 'test',
  subject: 'test',
  accountId: null,
  before: null,
  after: null,
  address: null,
};
let audits = 100n;
const audit = (): AuditRow => ({ ...AUDIT, id: audits++ });

describe('what the writer has cached', () => {
  let database: DatabaseSync;
  let verbs: WriterVerbs;

  /** Account 1 has 1,000. Person 3 is a member with a cap of 500, and key 7 is theirs. */
  beforeEach(() => {
    database = new DatabaseSync(':memory:', { readBigInts: true });
    migrate(database);
    verbs = writerVerbs(database);
    verbs.createAccount({ id: 1n, name: 'a', kind: 'prepaid', createdMs: NOON_MS });
    const person = { id: 3n, email: 'a@example.com', name: 'A', passwordHash: null, identity: null, isOperator: false };
    verbs.changeDirectory('createPerson', [{ ...person, createdMs: NOON_MS }, audit()]);
    giveCap(500n);
    verbs.createKey(aKey(7n, 1n, { personId: 3n }));
    verbs.registerPrices(NOON_MS, 'p', '{}');
    verbs.beginEpoch(NOON_MS);
    hold(1n, 100n, aCredit(1n, 1_000n));
  });

  const giveCap = (capNanousd: bigint) =>
    verbs.changeDirectory('putMembership', [
      { accountId: 1n, personId: 3n, role: 'member', capNanousd, capWindow: 'lifetime' },
      audit(),
    ]);
  const hold = (id: bigint, amount: bigint, ...before: ReturnType<typeof aCredit>[]) =>
    verbs.apply(fillBatchBuffer([...before, aHold(id, amount, { keyId: 7n, personId: 3n })]), NOON_MS).at(-1);

  /** Money that the file has and the cache does not know of. */
  const addUnseen = () => database.exec('UPDATE balance SET balance = balance + 100000 WHERE account_id = 1');

  it('stays when a session is used, so that the next call reads nothing again', () => {
    addUnseen();
    verbs.changeDirectory('touchSession', [5n, NOON_MS]);
    verbs.changeDirectory('closeAccount', [1n, { id: 9n, reference: 'r', note: '', createdMs: 1 }, audit()]);
    giveCap(1_000_000n);
    expect(hold(2n, 5_000n)).toMatchObject({ kind: 'hold_refused', reason: 'balance' });
  });

  it('is read again after the cap of a person, the person or the account was changed', () => {
    expect(hold(2n, 450n)).toMatchObject({ kind: 'hold_refused', reason: 'person_cap' });
    giveCap(600n);
    expect(hold(2n, 450n)).toBe(0);
    verbs.changeDirectory('disablePerson', [3n, NOON_MS, audit()]);
    expect(hold(3n, 1n)).toMatchObject({ kind: 'hold_refused', reason: 'key_inactive' });
    verbs.changeDirectory('enablePerson', [3n, audit()]);
    expect(hold(3n, 1n)).toBe(0);
    verbs.changeDirectory('setAccountStatus', [1n, 'suspended', audit()]);
    expect(hold(4n, 1n)).toMatchObject({ kind: 'hold_refused', reason: 'account_suspended' });
    expect(verbs.heldDrift(NOON_MS)).toEqual([]);
  });

  it('comes from the tables that are listed, and from no others', () => {
    const texts: string[] = [];
    class Recording extends DatabaseSync {
      override prepare(...given: Parameters<DatabaseSync['prepare']>): ReturnType<DatabaseSync['prepare']> {
        texts.push(given[0]);
        return super.prepare(...given);
      }
    }
    const recorded = new Recording(':memory:', { readBigInts: true });
    migrate(recorded);
    texts.length = 0;
    const cache = new RowCache(recorded);
    cache.heldDrift();
    const read = texts.flatMap((text) => [...text.matchAll(/\b(?:FROM|JOIN|INTO|UPDATE) +([a-z]\w*)/g)]);
    const tables = new Set(read.map(([, table]) => table!).filter((table) => table !== 'sqlite_schema'));
    const listed = [...CACHED_TABLES, ...TABLES_OF_KEYS].filter((table) => table !== 'unknown');
    expect(listed.toSorted()).toEqual([...tables].toSorted());
  });
});

test.each([
  ['SELECT 1', null],
  ['  UPDATE session SET used_ms = ?', 'session'],
  ['INSERT INTO audit (id) VALUES (?)', 'audit'],
  ['DELETE FROM membership WHERE true', 'membership'],
  ['WITH x AS (SELECT 1) UPDATE balance SET balance = 0', 'unknown'],
  ['INSERT OR REPLACE INTO balance VALUES (1)', 'unknown'],
])('the table that %j writes is %s', (text, table) => {
  expect(writtenTable(text)).toBe(table);
});
