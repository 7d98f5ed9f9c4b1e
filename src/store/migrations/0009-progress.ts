import type { Migration } from './migration.ts';

/**
 * How far the ledger has come, for the one engine whose files can lose commits unnoticed (see store/sqlite/mark-file.ts),
 * and the losses that an operator has accepted, which a copy takes along.
 */
export const progress: Migration = {
  number: 9,
  name: 'progress',
  sqlite: `
INSERT OR IGNORE INTO meta VALUES ('books_id', (random() & 4611686018427387903) | 1);
INSERT INTO meta VALUES ('generation', 1), ('tip', 0);
INSERT INTO meta SELECT 'receipts', (SELECT coalesce(sum(calls), 0) FROM closing) + (SELECT count(*) FROM call
  WHERE state <> 1 AND id > coalesce((SELECT value FROM meta WHERE name = 'closed_up_to'), 0));
INSERT INTO meta SELECT 'spent', coalesce(sum(spent), 0) FROM balance;

CREATE TABLE accepted_loss (
  generation INTEGER PRIMARY KEY,
  accepted_ms INTEGER NOT NULL,
  receipts INTEGER NOT NULL,
  spent INTEGER NOT NULL
) STRICT;
`,
  postgres: `
CREATE TABLE accepted_loss (
  generation int8 PRIMARY KEY,
  accepted_ms int8 NOT NULL,
  receipts int8 NOT NULL,
  spent int8 NOT NULL
);
`,
};
