import type { Migration } from './migration.ts';

/** A key's note, the most that one call with it may cost, and about when it was last used. */
export const keyTerms: Migration = {
  number: 21,
  name: 'key terms',
  sqlite: `
ALTER TABLE api_key ADD COLUMN note TEXT;
ALTER TABLE api_key ADD COLUMN max_cost INTEGER;
ALTER TABLE api_key ADD COLUMN used_ms INTEGER;
`,
  postgres: `
ALTER TABLE api_key ADD COLUMN note text;
ALTER TABLE api_key ADD COLUMN max_cost int8;
ALTER TABLE api_key ADD COLUMN used_ms int8;
`,
};
