import type { Migration } from './migration.ts';

/**
 * The held amount of an account or key window is the sum of its open calls, which are rows of `call` already. SQLite's
 * only writer keeps the sums in memory, so a hold writes only its call; the index of open calls contains the columns
 * for adding them up. Processes that share a database need the sums in the rows.
 */
export const heldInOpenCalls: Migration = {
  number: 5,
  name: 'held in open calls',
  sqlite: `
CREATE TABLE new_balance (
  account_id INTEGER PRIMARY KEY,
  kind INTEGER NOT NULL,
  balance INTEGER NOT NULL,
  spent INTEGER NOT NULL,
  CHECK (spent >= 0 AND (kind = 2 OR balance >= 0))
) STRICT;
INSERT INTO new_balance SELECT account_id, kind, balance, spent FROM balance;
DROP TABLE balance;
ALTER TABLE new_balance RENAME TO balance;

CREATE TABLE new_key_window (
  key_id INTEGER NOT NULL,
  window_id INTEGER NOT NULL,
  spent INTEGER NOT NULL,
  closed INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (key_id, window_id),
  CHECK (spent >= closed)
) STRICT, WITHOUT ROWID;
INSERT INTO new_key_window SELECT key_id, window_id, spent, closed FROM key_window;
DROP TABLE key_window;
ALTER TABLE new_key_window RENAME TO key_window;

DROP INDEX call_open;
CREATE INDEX call_open ON call (epoch, id, account_id, key_id, window_id, held) WHERE state = 1;
`,
  postgres: '',
};
