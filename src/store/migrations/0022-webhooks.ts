import type { Migration } from './migration.ts';

/**
 * Webhooks, their secrets, and the deliveries that wait. `due_ms` of a webhook is when something is to be sent next, and
 * NULL if nothing waits. Nothing is sent before `next_ms`, which is also the lease of whoever delivers.
 */
const sqlite = `
CREATE TABLE webhook (
  id INTEGER PRIMARY KEY,
  account_id INTEGER REFERENCES account (id),
  name TEXT NOT NULL,
  url TEXT NOT NULL,
  events TEXT,
  created_ms INTEGER NOT NULL,
  version INTEGER NOT NULL,
  next_ms INTEGER NOT NULL,
  due_ms INTEGER,
  failures INTEGER NOT NULL,
  delivered_ms INTEGER,
  failing_ms INTEGER,
  dropped INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX webhook_by_name ON webhook ((coalesce(account_id, 0)), name);
CREATE INDEX webhook_by_due ON webhook (due_ms) WHERE due_ms IS NOT NULL;

CREATE TABLE webhook_secret (
  id INTEGER PRIMARY KEY,
  webhook_id INTEGER NOT NULL REFERENCES webhook (id),
  sealed BLOB NOT NULL,
  expires_ms INTEGER
) STRICT;
CREATE INDEX webhook_secret_by_webhook ON webhook_secret (webhook_id);

CREATE TABLE webhook_delivery (
  webhook_id INTEGER NOT NULL REFERENCES webhook (id),
  event_id INTEGER NOT NULL,
  type TEXT NOT NULL,
  data TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  state INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  due_ms INTEGER NOT NULL,
  tried_ms INTEGER,
  http_status INTEGER,
  error TEXT,
  PRIMARY KEY (webhook_id, event_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_delivery_pending ON webhook_delivery (webhook_id, due_ms) WHERE state = 0;
CREATE INDEX webhook_delivery_finished ON webhook_delivery (webhook_id, event_id) WHERE state <> 0;
`;

export const webhooks: Migration = {
  number: 22,
  name: 'webhooks',
  sqlite,
  postgres: sqlite
    .replaceAll(/\) STRICT(, WITHOUT ROWID)?;/g, ');')
    .replaceAll(/\bstate INTEGER\b/g, 'state int2')
    .replaceAll('INTEGER', 'int8')
    .replaceAll('BLOB', 'bytea')
    .replaceAll('TEXT', 'text'),
};
