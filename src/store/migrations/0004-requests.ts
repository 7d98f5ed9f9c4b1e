import type { Migration } from './migration.ts';

/**
 * How many requests of a key each process admitted, for processes that share a store. The table is unlogged because it
 * has no value after a crash. SQLite has one process and needs none.
 */
export const requests: Migration = {
  number: 4,
  name: 'requests',
  sqlite: '',
  postgres: `
CREATE UNLOGGED TABLE request_count (
  epoch int8 NOT NULL,
  key_id int8 NOT NULL,
  total int8 NOT NULL,
  first_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (epoch, key_id)
) WITH (fillfactor = 50);
`,
};
