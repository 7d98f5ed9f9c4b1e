import type { Migration } from './migration.ts';

/** The classes in which times are counted; see store/usage-columns.ts. */
const classes = (time: string, type: string): string =>
  Array.from({ length: 16 }, (_, at) => `  ${time}_${at} ${type} NOT NULL`).join(',\n');

/** `deleted_` columns say which part of a sum comes from receipts that are no longer kept. */
const usage = (name: string, deleted: readonly string[], [int, small]: readonly [string, string]): string => `
CREATE TABLE ${name} (
  start_ms ${int} NOT NULL,
  account_id ${int} NOT NULL,
  key_id ${int} NOT NULL,
  person_id ${int} NOT NULL,
  effective_model ${small} NOT NULL,
  route ${small} NOT NULL,
  host ${small} NOT NULL,
  requests ${int} NOT NULL,
  fresh_tokens ${int} NOT NULL,
  cache_read_tokens ${int} NOT NULL,
  cache_write_tokens ${int} NOT NULL,
  cache_write_1h_tokens ${int} NOT NULL,
  output_tokens ${int} NOT NULL,
  reasoning_tokens ${int} NOT NULL,
  cost ${int} NOT NULL,
${deleted.map((column) => `  deleted_${column} ${int} NOT NULL DEFAULT 0,\n`).join('')}${classes('first_byte', small)},
${classes('duration', small)},
  PRIMARY KEY (start_ms, account_id, key_id, person_id, effective_model, route, host)
)`;

const state = (int: string): string => `
CREATE TABLE usage_state (
  id ${int} PRIMARY KEY,
  added_up_to ${int} NOT NULL
)`;

const SQLITE = ['INTEGER', 'INTEGER'] as const;
const POSTGRES = ['int8', 'int4'] as const;
const IN_HOURS = ['requests', 'cost', 'refunded'];
const IN_DAYS = ['refunded'];

/**
 * Sums over closed receipts by hour and by day, which outlive the receipts. `usage_state` has the last call that is in
 * them; without a row there is none yet. The next closing adds the receipts that were closed before, in slices.
 */
export const usageSums: Migration = {
  number: 25,
  name: 'usage sums',
  sqlite: `
${usage('usage_hour', IN_HOURS, SQLITE)} STRICT, WITHOUT ROWID;
${usage('usage_day', IN_DAYS, SQLITE)} STRICT, WITHOUT ROWID;
${state('INTEGER')} STRICT;
`,
  postgres: `
${usage('usage_hour', IN_HOURS, POSTGRES)} WITH (fillfactor = 70);
${usage('usage_day', IN_DAYS, POSTGRES)} WITH (fillfactor = 70);
${state('int8')};
`,
};
