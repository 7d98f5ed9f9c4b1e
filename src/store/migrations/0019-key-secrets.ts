import type { Migration } from './migration.ts';

/** The secret that a key had before its current one, which is in `api_key`; it works until `expires_ms`. */
const sqlite = `
CREATE TABLE key_secret (
  key_id INTEGER PRIMARY KEY REFERENCES api_key (id),
  sha256 TEXT NOT NULL UNIQUE,
  expires_ms INTEGER NOT NULL
) STRICT;
`;

export const keySecrets: Migration = {
  number: 19,
  name: 'key secrets',
  sqlite,
  postgres: sqlite.replace(') STRICT;', ');').replaceAll('INTEGER', 'int8').replace('TEXT', 'text COLLATE "C"'),
};
