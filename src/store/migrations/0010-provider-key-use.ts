import type { Migration } from './migration.ts';

/** When the provider began to refuse a stored key, and when a call last used it. Both are null for a key that was never used. */
export const providerKeyUse: Migration = {
  number: 10,
  name: 'provider key use',
  sqlite: `
ALTER TABLE provider_key ADD COLUMN rejected_ms INTEGER;
ALTER TABLE provider_key ADD COLUMN used_ms INTEGER;
`,
  postgres: `
ALTER TABLE provider_key ADD COLUMN rejected_ms int8;
ALTER TABLE provider_key ADD COLUMN used_ms int8;
`,
};
