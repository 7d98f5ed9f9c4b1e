import type { Migration } from './migration.ts';

/**
 * Deferred jobs (see docs/decisions/0053). `reserved` of an account and a window is the sum over jobs that wait to run. A
 * job with the state 0 is staged: it is not accepted and not visible. `due_ms` of a queued job is also the lease of whoever
 * claimed it. `job_account` has the counters that limits are checked against, so that nothing has to be counted.
 */
const jobTables = `
CREATE TABLE job (
  id INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL,
  key_id INTEGER,
  person_id INTEGER,
  group_id INTEGER,
  line INTEGER NOT NULL,
  state INTEGER NOT NULL,
  due_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL,
  claim INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0,
  reserved INTEGER NOT NULL CHECK (reserved >= 0),
  window_id INTEGER,
  person_window_id INTEGER,
  created_ms INTEGER NOT NULL,
  not_before_ms INTEGER,
  result_ttl_ms INTEGER NOT NULL,
  on_unknown INTEGER NOT NULL,
  custom_id TEXT,
  endpoint TEXT NOT NULL,
  requested_model TEXT NOT NULL,
  effective_model TEXT NOT NULL,
  webhook TEXT,
  metadata TEXT,
  headers TEXT,
  price_version TEXT NOT NULL,
  request_digest TEXT NOT NULL,
  request_chunks INTEGER NOT NULL,
  request_bytes INTEGER NOT NULL,
  started_ms INTEGER,
  finished_ms INTEGER,
  result_expires_ms INTEGER,
  content_gone_ms INTEGER,
  call_id INTEGER,
  cost INTEGER,
  http_status INTEGER,
  error_code TEXT,
  error_message TEXT,
  result_digest TEXT,
  result_chunks INTEGER,
  result_bytes INTEGER
) STRICT;
CREATE INDEX job_by_account ON job (account_id, id);
CREATE INDEX job_by_state ON job (account_id, state, id);
CREATE INDEX job_by_group ON job (group_id, line) WHERE group_id IS NOT NULL;
CREATE INDEX job_by_call ON job (call_id) WHERE call_id IS NOT NULL;
CREATE INDEX job_due ON job (account_id, due_ms, id) WHERE state = 1;
CREATE INDEX job_by_expiry ON job (expires_ms) WHERE state = 1;
CREATE INDEX job_staged ON job (created_ms) WHERE state = 0;
CREATE INDEX job_to_activate ON job (group_id, line) WHERE state = 0;
CREATE INDEX job_paused ON job (id) WHERE state = 4;
CREATE INDEX job_content ON job (result_expires_ms) WHERE result_expires_ms IS NOT NULL AND content_gone_ms IS NULL;
CREATE INDEX job_emptied ON job (content_gone_ms) WHERE content_gone_ms IS NOT NULL;

CREATE TABLE job_group (
  id INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL,
  key_id INTEGER,
  person_id INTEGER,
  created_ms INTEGER NOT NULL,
  accepted_ms INTEGER,
  active INTEGER NOT NULL DEFAULT 0,
  finished_ms INTEGER,
  webhook TEXT,
  metadata TEXT,
  window_id INTEGER,
  person_window_id INTEGER,
  lines INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  reserved INTEGER NOT NULL DEFAULT 0 CHECK (reserved >= 0),
  charged INTEGER NOT NULL DEFAULT 0,
  waiting INTEGER NOT NULL DEFAULT 0,
  running INTEGER NOT NULL DEFAULT 0,
  succeeded INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  cancelled INTEGER NOT NULL DEFAULT 0,
  expired INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX job_group_by_account ON job_group (account_id, id);
CREATE INDEX job_group_staged ON job_group (created_ms) WHERE accepted_ms IS NULL;
CREATE INDEX job_group_inactive ON job_group (id) WHERE accepted_ms IS NOT NULL AND active = 0;
CREATE INDEX job_group_finished ON job_group (finished_ms) WHERE finished_ms IS NOT NULL;

CREATE TABLE job_account (
  account_id INTEGER PRIMARY KEY,
  waiting INTEGER NOT NULL CHECK (waiting >= 0),
  running INTEGER NOT NULL CHECK (running >= 0),
  bytes INTEGER NOT NULL
) STRICT;
CREATE INDEX job_account_waiting ON job_account (account_id) WHERE waiting > 0;

CREATE TABLE job_chunk (
  job_id INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  digest TEXT NOT NULL,
  part INTEGER NOT NULL,
  sealed BLOB NOT NULL,
  PRIMARY KEY (job_id, attempt, digest, part)
) STRICT;

CREATE TABLE job_event (
  subject_id INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL,
  type TEXT NOT NULL,
  created_ms INTEGER NOT NULL
) STRICT;

INSERT INTO meta SELECT 'jobs_generation', value FROM meta WHERE name = 'generation';
`;

const sqlite = `${jobTables}
ALTER TABLE balance ADD COLUMN reserved INTEGER NOT NULL DEFAULT 0
  CHECK (reserved >= 0 AND (kind = 2 OR reserved <= balance));
ALTER TABLE key_window ADD COLUMN reserved INTEGER NOT NULL DEFAULT 0 CHECK (reserved >= 0);
ALTER TABLE person_window ADD COLUMN reserved INTEGER NOT NULL DEFAULT 0 CHECK (reserved >= 0);
`;

const postgres = `${jobTables
  .replaceAll(') STRICT;', ');')
  .replaceAll(/\b(state|on_unknown|active|http_status) INTEGER\b/g, '$1 int2')
  .replaceAll(/\b(line|claim|attempts|attempt|part|window_id|person_window_id) INTEGER\b/g, '$1 int4')
  .replaceAll('INTEGER', 'int8')
  .replaceAll('BLOB', 'bytea')
  .replaceAll('digest TEXT', 'digest text COLLATE "C"')
  .replaceAll('TEXT', 'text')}
ALTER TABLE balance ADD COLUMN reserved int8 NOT NULL DEFAULT 0;
ALTER TABLE balance ADD CHECK (reserved >= 0 AND (kind = 2 OR held::numeric + reserved <= balance));
ALTER TABLE key_window ADD COLUMN reserved int8 NOT NULL DEFAULT 0 CHECK (reserved >= 0);
ALTER TABLE person_window ADD COLUMN reserved int8 NOT NULL DEFAULT 0 CHECK (reserved >= 0);
`;

export const jobs: Migration = { number: 28, name: 'jobs', sqlite, postgres };
