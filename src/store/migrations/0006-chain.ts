import type { Migration } from './migration.ts';

/** The caller's chain that a call belongs to; most calls belong to none. */
export const chain: Migration = {
  number: 6,
  name: 'chain',
  sqlite: 'ALTER TABLE call ADD COLUMN chain TEXT;',
  postgres: 'ALTER TABLE call ADD COLUMN chain text;',
};
