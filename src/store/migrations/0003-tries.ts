import type { Migration } from './migration.ts';

/** The attempts of a call that needed more than one, as a JSON list. */
export const tries: Migration = {
  number: 3,
  name: 'tries',
  sqlite: 'ALTER TABLE call ADD COLUMN tries TEXT;',
  postgres: 'ALTER TABLE call ADD COLUMN tries text;',
};
