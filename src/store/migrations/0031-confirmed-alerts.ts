import type { Migration } from './migration.ts';

/** When a process last found that an alert about a host or a disk still holds. */
export const confirmedAlerts: Migration = {
  number: 31,
  name: 'confirmed alerts',
  sqlite: 'ALTER TABLE alert ADD COLUMN confirmed_ms INTEGER;',
  postgres: 'ALTER TABLE alert ADD COLUMN confirmed_ms int8;',
};
