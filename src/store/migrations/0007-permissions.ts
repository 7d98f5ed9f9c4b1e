import type { Migration } from './migration.ts';

/** What a key may do besides calling models, one bit each. Keys of earlier versions could change stored provider keys, and still can. */
export const permissions: Migration = {
  number: 7,
  name: 'permissions',
  sqlite: `
ALTER TABLE api_key ADD COLUMN permissions INTEGER NOT NULL DEFAULT 0;
UPDATE api_key SET permissions = 1;
`,
  postgres: `
ALTER TABLE api_key ADD COLUMN permissions int8 NOT NULL DEFAULT 0;
UPDATE api_key SET permissions = 1;
`,
};
