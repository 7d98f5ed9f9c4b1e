import type { Migration } from './migration.ts';

/**
 * What all keys of a person spend in an account in one window, as `key_window` is for one key; the state of an account;
 * and keys that do not work because of their person. `person_disabled_ms` is apart from `disabled_ms`, so that enabling
 * the person does not enable a key that was disabled on its own. SQLite adds up what is held from the open calls.
 */
export const personCaps: Migration = {
  number: 18,
  name: 'person caps',
  sqlite: `
CREATE TABLE person_window (
  account_id INTEGER NOT NULL,
  person_id INTEGER NOT NULL,
  window_id INTEGER NOT NULL,
  spent INTEGER NOT NULL,
  closed INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, person_id, window_id),
  CHECK (spent >= closed)
) STRICT, WITHOUT ROWID;
ALTER TABLE call ADD COLUMN person_id INTEGER;
ALTER TABLE call ADD COLUMN person_window_id INTEGER;
CREATE INDEX call_open_by_person ON call (account_id, person_id, person_window_id, held)
  WHERE state = 1 AND person_window_id IS NOT NULL;
ALTER TABLE api_key ADD COLUMN person_disabled_ms INTEGER;
ALTER TABLE account ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE balance ADD COLUMN status INTEGER NOT NULL DEFAULT 0;
`,
  postgres: `
CREATE TABLE person_window (
  account_id int8 NOT NULL,
  person_id int8 NOT NULL,
  window_id int4 NOT NULL,
  spent int8 NOT NULL,
  held int8 NOT NULL,
  closed int8 NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, person_id, window_id),
  CHECK (held >= 0 AND spent >= closed)
) WITH (fillfactor = 50);
ALTER TABLE call ADD COLUMN person_id int8;
ALTER TABLE call ADD COLUMN person_window_id int4;
ALTER TABLE api_key ADD COLUMN person_disabled_ms int8;
ALTER TABLE account ADD COLUMN version int8 NOT NULL DEFAULT 1;
ALTER TABLE balance ADD COLUMN status int2 NOT NULL DEFAULT 0;
`,
};
