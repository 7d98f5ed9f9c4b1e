import type { Migration } from './migration.ts';

/** Alerts, of which one per condition is open at a time, and the alert thresholds of accounts. */
const sqlite = `
CREATE TABLE alert (
  id INTEGER PRIMARY KEY,
  condition TEXT NOT NULL,
  kind INTEGER NOT NULL,
  account_id INTEGER REFERENCES account (id),
  subject TEXT NOT NULL,
  message TEXT NOT NULL,
  data TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  resolved_ms INTEGER,
  acknowledged_ms INTEGER,
  acknowledged_by TEXT
) STRICT;
CREATE UNIQUE INDEX alert_open ON alert (condition) WHERE resolved_ms IS NULL;
CREATE INDEX alert_by_condition ON alert (condition, id);
CREATE INDEX alert_by_account ON alert (account_id, id);

CREATE TABLE alert_setting (
  account_id INTEGER PRIMARY KEY REFERENCES account (id),
  balance_below INTEGER,
  cap_percent INTEGER
) STRICT;
`;

export const alerts: Migration = {
  number: 27,
  name: 'alerts',
  sqlite,
  postgres: sqlite
    .replaceAll(') STRICT;', ');')
    .replaceAll(/\bkind INTEGER\b/g, 'kind int2')
    .replaceAll('INTEGER', 'int8')
    .replaceAll('TEXT', 'text'),
};
