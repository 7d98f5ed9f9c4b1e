import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createFiles, openToWrite } from './database.ts';
import { migrate } from './migrate.ts';
import { openScanner } from './scanner-verbs.ts';

const OF_ONE = { accountId: 1n, keyId: null, sinceMs: null, untilMs: null, model: null, chain: null };

let folder: string;
let writer: DatabaseSync;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-scanner-'));
  createFiles(folder);
  writer = openToWrite(folder);
  migrate(writer);
  writer.exec(
    "INSERT INTO name VALUES (1, 'x'); INSERT INTO price_list VALUES (1, 'p', '{}'); PRAGMA foreign_keys = OFF",
  );
});
afterEach(() => {
  vi.restoreAllMocks();
  writer.close();
  rmSync(folder, { recursive: true });
});

function begin(id: number): void {
  writer.exec(`INSERT INTO call (id, state, epoch, account_id, held, price_id, route, stream, requested_model,
    effective_model, created_ms) VALUES (${id}, 1, 1, 1, 0, 1, 1, 0, 1, 1, 0)`);
}

test.each([OF_ONE.accountId, null])(
  'pages of receipts repeat none, although calls begin while one is read: account %s',
  (accountId) => {
    for (let id = 1; id <= 5; id++) begin(id);
    const { verbs, end } = openScanner(folder);
    let next = 6;
    const { prepare } = DatabaseSync.prototype;
    vi.spyOn(DatabaseSync.prototype, 'prepare').mockImplementation(function (this: DatabaseSync, sql, ...rest) {
      if (sql.includes('OFFSET')) begin(next++);
      return prepare.call(this, sql, ...rest);
    });
    const pageAfter = (after: bigint | null) =>
      verbs.listAccountReceipts({ ...OF_ONE, accountId }, { limit: 10, after, examineMax: 3 });
    const first = pageAfter(null);
    const second = pageAfter(first.next);
    expect([...first.receipts, ...second.receipts].map(({ id }) => Number(id))).toEqual([5, 4, 3, 2, 1]);
    end();
  },
);
