import type { Migration } from './migration.ts';

/**
 * Rows are lean because every commit writes whole pages: amounts are nanodollars, ids are ordered integers, words
 * that repeat are numbers (`name`, and the codes of store/codes.ts). Balances stand apart from the accounts'
 * descriptions, so that the pages each commit writes are dense.
 */
const sqlite = `
CREATE TABLE account (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  kind INTEGER NOT NULL,
  created_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE balance (
  account_id INTEGER PRIMARY KEY,
  kind INTEGER NOT NULL,
  balance INTEGER NOT NULL,
  held INTEGER NOT NULL,
  spent INTEGER NOT NULL,
  CHECK (held >= 0 AND spent >= 0 AND (kind = 2 OR held <= balance))
) STRICT;

CREATE TABLE api_key (
  id INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES account (id),
  name TEXT NOT NULL,
  sha256 TEXT NOT NULL UNIQUE,
  prefix TEXT NOT NULL,
  last_four TEXT NOT NULL,
  cap INTEGER,
  cap_window INTEGER NOT NULL,
  expires_ms INTEGER,
  models TEXT,
  created_ms INTEGER NOT NULL,
  revoked_ms INTEGER,
  version INTEGER NOT NULL
) STRICT;
CREATE INDEX api_key_by_account ON api_key (account_id, id);
CREATE UNIQUE INDEX api_key_by_version ON api_key (version);

-- A key's spending in one window; closed is the part of spent that closed books cover.
CREATE TABLE key_window (
  key_id INTEGER NOT NULL,
  window_id INTEGER NOT NULL,
  spent INTEGER NOT NULL,
  held INTEGER NOT NULL,
  closed INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (key_id, window_id),
  CHECK (held >= 0 AND spent >= closed)
) STRICT, WITHOUT ROWID;

CREATE TABLE name (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE price_list (
  id INTEGER PRIMARY KEY,
  version TEXT NOT NULL UNIQUE,
  prices TEXT NOT NULL
) STRICT;

-- One row per hold, which settling turns into receipt and entry.
CREATE TABLE call (
  id INTEGER PRIMARY KEY,
  state INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  key_id INTEGER,
  window_id INTEGER,
  held INTEGER NOT NULL,
  cost INTEGER NOT NULL DEFAULT 0,
  price_id INTEGER NOT NULL,
  route INTEGER NOT NULL,
  stream INTEGER NOT NULL,
  requested_model INTEGER NOT NULL,
  effective_model INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  labels TEXT,
  ended_ms INTEGER,
  ended INTEGER,
  http_status INTEGER,
  usage_source INTEGER,
  fresh_tokens INTEGER,
  cache_read_tokens INTEGER,
  cache_write_tokens INTEGER,
  cache_write_1h_tokens INTEGER,
  output_tokens INTEGER,
  reasoning_tokens INTEGER,
  fresh INTEGER,
  cache_write INTEGER,
  cache_read INTEGER,
  output INTEGER,
  host INTEGER,
  attempts INTEGER,
  loss INTEGER,
  loss_reason TEXT,
  CHECK (cost >= 0 AND cost <= held)
) STRICT;
CREATE INDEX call_open ON call (epoch) WHERE state = 1;

CREATE TABLE credit (
  id INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES account (id),
  reference TEXT NOT NULL,
  amount INTEGER NOT NULL CHECK (amount <> 0),
  note TEXT,
  created_ms INTEGER NOT NULL,
  UNIQUE (account_id, reference)
) STRICT;

-- An account's calls of one month, as far as the books are closed; it outlives the receipts.
CREATE TABLE closing (
  account_id INTEGER NOT NULL,
  month_ms INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  spent INTEGER NOT NULL,
  loss INTEGER NOT NULL,
  PRIMARY KEY (account_id, month_ms)
) STRICT, WITHOUT ROWID;

CREATE TABLE instance (
  epoch INTEGER PRIMARY KEY,
  started_ms INTEGER NOT NULL
) STRICT;
`;

export const ledger: Migration = { number: 1, name: 'ledger', sqlite };
