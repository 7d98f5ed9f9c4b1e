import type { Migration } from './migration.ts';

/**
 * Lets running replicas notice that PostgreSQL was put back to an older state (see store/postgres/registration.ts). The
 * token tells a registration from a later one with the same epoch; a row of `instance_commit` counts the commits of one
 * connection, so that batches of the same process do not wait for each other.
 */
export const olderState: Migration = {
  number: 17,
  name: 'older state',
  sqlite: '',
  postgres: `
INSERT INTO meta VALUES ('generation', 1);
ALTER TABLE instance ADD COLUMN token int8 NOT NULL DEFAULT 0;
CREATE TABLE instance_commit (
  token int8 NOT NULL,
  line int2 NOT NULL,
  commits int8 NOT NULL,
  PRIMARY KEY (token, line)
) WITH (fillfactor = 50);
`,
};
