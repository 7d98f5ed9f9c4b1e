import type { Migration } from './migration.ts';

/**
 * A call stores its idempotency key as text; the row in `idempotency_key`, which other calls look up, exists for a day.
 * `state` is coded as in store/codes.ts. The stored response is the last column, so that reading the others never reads
 * it.
 */
const sqlite = `
CREATE TABLE provider_key (
  id INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES account (id),
  provider TEXT NOT NULL,
  base_url TEXT NOT NULL,
  last_four TEXT NOT NULL,
  sealed BLOB NOT NULL,
  created_ms INTEGER NOT NULL,
  verified_ms INTEGER NOT NULL,
  UNIQUE (account_id, provider)
) STRICT;

ALTER TABLE call ADD COLUMN idempotency_key TEXT;

CREATE TABLE idempotency_key (
  account_id INTEGER NOT NULL,
  key TEXT NOT NULL,
  call_id INTEGER NOT NULL,
  body_sha256 BLOB NOT NULL,
  state INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  kept BLOB,
  UNIQUE (account_id, key)
) STRICT;
CREATE INDEX idempotency_key_by_age ON idempotency_key (created_ms) WHERE state <> 1;
`;

const postgres = `
CREATE TABLE provider_key (
  id int8 PRIMARY KEY,
  account_id int8 NOT NULL REFERENCES account (id),
  provider text COLLATE "C" NOT NULL,
  base_url text NOT NULL,
  last_four text NOT NULL,
  sealed bytea NOT NULL,
  created_ms int8 NOT NULL,
  verified_ms int8 NOT NULL,
  UNIQUE (account_id, provider)
);

ALTER TABLE call ADD COLUMN idempotency_key text COLLATE "C";

CREATE TABLE idempotency_key (
  account_id int8 NOT NULL,
  key text COLLATE "C" NOT NULL,
  call_id int8 NOT NULL,
  body_sha256 bytea NOT NULL,
  state int2 NOT NULL,
  created_ms int8 NOT NULL,
  kept bytea,
  PRIMARY KEY (account_id, key)
);
CREATE INDEX idempotency_key_by_age ON idempotency_key (created_ms) WHERE state <> 1;
`;

export const custodyAndIdempotency: Migration = { number: 2, name: 'custody and idempotency', sqlite, postgres };
