import type { Migration } from './migration.ts';

/** A refund is a credit that names the call it pays back. */
export const refunds: Migration = {
  number: 20,
  name: 'refunds',
  sqlite: `
ALTER TABLE credit ADD COLUMN call_id INTEGER CHECK (call_id IS NULL OR amount > 0);
CREATE INDEX credit_by_call ON credit (call_id) WHERE call_id IS NOT NULL;
CREATE INDEX credit_by_account ON credit (account_id, id);
`,
  postgres: `
ALTER TABLE credit ADD COLUMN call_id int8 CHECK (call_id IS NULL OR amount > 0);
CREATE INDEX credit_by_call ON credit (call_id) WHERE call_id IS NOT NULL;
CREATE INDEX credit_by_account ON credit (account_id, id);
`,
};
