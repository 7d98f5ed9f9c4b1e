import type { Migration } from './migration.ts';

/** Prompts that had more tokens than were counted, per model and account: the factor that would have sufficed, in thousandths. */
const sqlite = `
CREATE TABLE token_overrun (
  model TEXT NOT NULL,
  account_id INTEGER NOT NULL REFERENCES account (id),
  factor INTEGER NOT NULL,
  noted_ms INTEGER NOT NULL,
  PRIMARY KEY (model, account_id)
) STRICT, WITHOUT ROWID;
`;

export const tokenOverruns: Migration = {
  number: 15,
  name: 'token overruns',
  sqlite,
  postgres: sqlite.replace(') STRICT, WITHOUT ROWID;', ');').replaceAll('INTEGER', 'int8').replaceAll('TEXT', 'text'),
};
