import type { Migration } from './migration.ts';

/** What an account's callers have cost the operator in one hour by hanging up, and which calls were charged for it. */
export const lossAllowance: Migration = {
  number: 11,
  name: 'loss allowance',
  sqlite: `
ALTER TABLE balance ADD COLUMN loss_hour INTEGER NOT NULL DEFAULT 0;
ALTER TABLE balance ADD COLUMN lost INTEGER NOT NULL DEFAULT 0;
ALTER TABLE call ADD COLUMN hangup_charged INTEGER;
`,
  postgres: `
ALTER TABLE balance ADD COLUMN loss_hour int8 NOT NULL DEFAULT 0;
ALTER TABLE balance ADD COLUMN lost int8 NOT NULL DEFAULT 0;
ALTER TABLE call ADD COLUMN hangup_charged int2;
`,
};
