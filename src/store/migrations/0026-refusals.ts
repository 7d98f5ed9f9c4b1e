import type { Migration } from './migration.ts';

/** Refused calls: how many there were, by hour, and the most recent ones. */
const sqlite = `
CREATE TABLE refusal_hour (
  start_ms INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  key_id INTEGER NOT NULL,
  code TEXT NOT NULL,
  refused INTEGER NOT NULL,
  PRIMARY KEY (start_ms, account_id, key_id, code)
) STRICT, WITHOUT ROWID;

CREATE TABLE refusal (
  id INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL,
  key_id INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  route TEXT NOT NULL,
  model TEXT,
  status INTEGER NOT NULL,
  code TEXT NOT NULL,
  message TEXT NOT NULL,
  worst INTEGER,
  available INTEGER
) STRICT;
CREATE INDEX refusal_by_account ON refusal (account_id, id);
`;

/** The same tables, with PostgreSQL's names of the types. */
const postgres = sqlite
  .replaceAll(/\) STRICT(, WITHOUT ROWID)?;/g, ');')
  .replaceAll('INTEGER', 'int8')
  .replaceAll('code TEXT', 'code text COLLATE "C"')
  .replaceAll('TEXT', 'text');

export const refusals: Migration = { number: 26, name: 'refusals', sqlite, postgres };
