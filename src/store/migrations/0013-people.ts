import type { Migration } from './migration.ts';

/**
 * People who may manage the gateway, and the audit of what they do. Secrets are stored only as hashes. An address is
 * unique without regard to case: `email_key` is its lower-case form.
 */
const sqlite = `
CREATE TABLE person (
  id INTEGER PRIMARY KEY,
  email TEXT NOT NULL,
  email_key TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  password TEXT,
  sso_issuer TEXT,
  sso_subject TEXT,
  operator INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  disabled_ms INTEGER,
  version INTEGER NOT NULL,
  UNIQUE (sso_issuer, sso_subject)
) STRICT;

CREATE TABLE membership (
  account_id INTEGER NOT NULL REFERENCES account (id),
  person_id INTEGER NOT NULL REFERENCES person (id),
  role INTEGER NOT NULL,
  cap INTEGER,
  cap_window INTEGER NOT NULL,
  PRIMARY KEY (account_id, person_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX membership_by_person ON membership (person_id, account_id);

CREATE TABLE invitation (
  id INTEGER PRIMARY KEY,
  sha256 TEXT NOT NULL UNIQUE,
  email TEXT NOT NULL,
  operator INTEGER NOT NULL,
  account_id INTEGER REFERENCES account (id),
  role INTEGER,
  invited_by INTEGER REFERENCES person (id),
  resets_person INTEGER REFERENCES person (id),
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL,
  accepted_ms INTEGER,
  revoked_ms INTEGER
) STRICT;

CREATE TABLE session (
  id INTEGER PRIMARY KEY,
  sha256 TEXT NOT NULL UNIQUE,
  person_id INTEGER NOT NULL REFERENCES person (id),
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL,
  used_ms INTEGER NOT NULL,
  address TEXT NOT NULL,
  user_agent TEXT NOT NULL
) STRICT;
CREATE INDEX session_by_person ON session (person_id);

CREATE TABLE management_key (
  id INTEGER PRIMARY KEY,
  sha256 TEXT NOT NULL UNIQUE,
  prefix TEXT NOT NULL,
  last_four TEXT NOT NULL,
  name TEXT NOT NULL,
  minted_by INTEGER REFERENCES person (id),
  account_id INTEGER REFERENCES account (id),
  role INTEGER,
  read_only INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER,
  revoked_ms INTEGER,
  used_ms INTEGER
) STRICT;

CREATE TABLE audit (
  id INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  actor_kind INTEGER NOT NULL,
  actor_id INTEGER,
  actor_name TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  account_id INTEGER,
  before_json TEXT,
  after_json TEXT,
  address TEXT
) STRICT;
CREATE INDEX audit_by_account ON audit (account_id, id);
CREATE INDEX audit_by_time ON audit (at_ms);

ALTER TABLE api_key ADD COLUMN person_id INTEGER REFERENCES person (id);
ALTER TABLE api_key ADD COLUMN disabled_ms INTEGER;
CREATE INDEX api_key_by_person ON api_key (person_id) WHERE person_id IS NOT NULL;
`;

/** The same tables and columns, with PostgreSQL's names of the types. */
const postgres = sqlite
  .replaceAll(/\) STRICT(, WITHOUT ROWID)?;/g, ');')
  .replaceAll(/\b(operator|role|cap_window|actor_kind|read_only) INTEGER\b/g, '$1 int2')
  .replaceAll('INTEGER', 'int8')
  .replaceAll('TEXT', 'text');

export const people: Migration = { number: 13, name: 'people', sqlite, postgres };
