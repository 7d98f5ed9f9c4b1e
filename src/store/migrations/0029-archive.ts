import type { Migration } from './migration.ts';

/** Files with receipts that were written to them and then deleted. */
const sqlite = `
CREATE TABLE archive_file (
  month_ms INTEGER NOT NULL,
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  first_id INTEGER NOT NULL,
  up_to INTEGER NOT NULL UNIQUE,
  receipts INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  manifest_sha256 TEXT NOT NULL,
  archived_ms INTEGER NOT NULL,
  PRIMARY KEY (month_ms, number)
) STRICT;
`;

export const archive: Migration = {
  number: 29,
  name: 'archive',
  sqlite,
  postgres: sqlite.replaceAll(') STRICT;', ');').replaceAll('INTEGER', 'int8').replaceAll('TEXT', 'text'),
};
