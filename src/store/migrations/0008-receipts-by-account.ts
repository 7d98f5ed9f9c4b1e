import type { Migration } from './migration.ts';

/**
 * Lists an account's receipts without reading those of others. SQLite appends the id to every index. PostgreSQL writes all
 * indexes of a row again when the call is settled, so calls enter the index only then.
 */
export const receiptsByAccount: Migration = {
  number: 8,
  name: 'receipts by account',
  sqlite: `
CREATE INDEX call_by_account ON call (account_id);
CREATE INDEX call_by_chain ON call (account_id, substr(chain, 1, instr(chain, ';') - 1)) WHERE chain IS NOT NULL;
`,
  postgres: `
CREATE INDEX call_by_account ON call (account_id, id) WHERE state <> 1;
CREATE INDEX call_by_chain ON call (account_id, split_part(chain, ';', 1), id) WHERE chain IS NOT NULL;
`,
};
