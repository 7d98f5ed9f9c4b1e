import type { Migration } from './migration.ts';

/**
 * Closed months (`closed_month`), and each account's receipts in them: their number, sums and hash tree (`month_tree`,
 * see store/month-tree.ts). `closing` keeps the sums of receipts that are in no tree: those that an earlier version
 * deleted and, until they are added, those that it closed.
 */
export const monthTrees: Migration = {
  number: 14,
  name: 'month trees',
  sqlite: `
CREATE TABLE closed_month (
  month_ms INTEGER PRIMARY KEY,
  up_to INTEGER NOT NULL,
  latest_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE month_tree (
  month_ms INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  part INTEGER NOT NULL,
  form INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  spent INTEGER NOT NULL,
  held INTEGER NOT NULL,
  loss INTEGER NOT NULL,
  root BLOB NOT NULL,
  peaks BLOB NOT NULL,
  PRIMARY KEY (month_ms, account_id, part)
) STRICT, WITHOUT ROWID;
`,
  postgres: `
CREATE TABLE closed_month (
  month_ms int8 PRIMARY KEY,
  up_to int8 NOT NULL,
  latest_ms int8 NOT NULL
);
CREATE TABLE month_tree (
  month_ms int8 NOT NULL,
  account_id int8 NOT NULL,
  part int2 NOT NULL,
  form int2 NOT NULL,
  calls int8 NOT NULL,
  spent int8 NOT NULL,
  held int8 NOT NULL,
  loss int8 NOT NULL,
  root bytea NOT NULL,
  peaks bytea NOT NULL,
  PRIMARY KEY (month_ms, account_id, part)
) WITH (fillfactor = 50);
`,
};
