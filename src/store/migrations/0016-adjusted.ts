import type { Migration } from './migration.ts';

/** What was dropped from a request or lowered in it, and whether a key's calls allow that. */
export const adjusted: Migration = {
  number: 16,
  name: 'adjusted',
  sqlite: `
ALTER TABLE call ADD COLUMN adjusted TEXT;
ALTER TABLE api_key ADD COLUMN on_unsupported INTEGER NOT NULL DEFAULT 0;
`,
  postgres: `
ALTER TABLE call ADD COLUMN adjusted text;
ALTER TABLE api_key ADD COLUMN on_unsupported int8 NOT NULL DEFAULT 0;
`,
};
