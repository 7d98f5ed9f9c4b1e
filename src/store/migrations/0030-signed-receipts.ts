import type { Migration } from './migration.ts';

/**
 * Keys that sign receipts (`receipt_key`), and the signed roots of closed months (`month_root`), each of which names the
 * one before it. The accounts in a root are hashed with a salt of the month. `tree_chunk` has the hashes of complete
 * subtrees of an account's month, so that one receipt is proved without reading all others.
 */
const tables = `
CREATE TABLE receipt_key (
  number INTEGER PRIMARY KEY,
  id INTEGER NOT NULL UNIQUE,
  public_key BLOB NOT NULL,
  sealed BLOB NOT NULL,
  created_ms INTEGER NOT NULL,
  from_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE month_salt (
  month_ms INTEGER PRIMARY KEY,
  salt BLOB NOT NULL
) STRICT;
CREATE TABLE month_root (
  number INTEGER PRIMARY KEY,
  generation INTEGER NOT NULL,
  month_ms INTEGER NOT NULL,
  is_final INTEGER NOT NULL,
  root BLOB NOT NULL,
  statement TEXT NOT NULL,
  created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX month_root_by_month ON month_root (month_ms, number);
CREATE TABLE tree_chunk (
  month_ms INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  up_to INTEGER NOT NULL,
  hash BLOB NOT NULL,
  PRIMARY KEY (month_ms, account_id, number)
) STRICT, WITHOUT ROWID;
`;

/** SQLite has an id of the ledger since it notices lost commits. */
const booksId = `
INSERT INTO meta SELECT 'books_id', ('x' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 15))::bit(60)::int8 | 1;
`;

export const signedReceipts: Migration = {
  number: 30,
  name: 'signed receipts',
  sqlite: tables,
  postgres:
    tables
      .replaceAll(') STRICT, WITHOUT ROWID;', ');')
      .replaceAll(') STRICT;', ');')
      .replaceAll('INTEGER', 'int8')
      .replaceAll('BLOB', 'bytea')
      .replaceAll('TEXT', 'text') + booksId,
};
