import type { Migration } from './migration.ts';

/**
 * How many requests of a key each life has let in, for those that share a store. It is worth nothing after a crash, and so
 * is not logged; one process needs no such table.
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
