import type { Migration } from './migration.ts';

/**
 * SQLite writes whole pages, and an index by account is on another page for each call. The writer now lists calls by account
 * many at a time; `listed_up_to` is the last one listed.
 */
export const callsByAccount: Migration = {
  number: 12,
  name: 'calls by account',
  sqlite: `
DROP INDEX call_by_account;
CREATE TABLE account_call (
  account_id INTEGER NOT NULL,
  id INTEGER NOT NULL,
  PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;
INSERT INTO account_call SELECT account_id, id FROM call ORDER BY account_id, id;
INSERT INTO meta SELECT 'listed_up_to', coalesce(max(id), 0) FROM call;
`,
  postgres: '',
};
