import type { Migration } from './migration.ts';

/** How long a stream's first content took. */
export const firstByte: Migration = {
  number: 24,
  name: 'first byte',
  sqlite: 'ALTER TABLE call ADD COLUMN first_byte_ms INTEGER;',
  postgres: 'ALTER TABLE call ADD COLUMN first_byte_ms int4;',
};
