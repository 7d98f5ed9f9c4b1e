import { LIMITS } from '../../limits.ts';
import {
  ALERT_KINDS,
  type Alert,
  type AlertFilter,
  type AlertSettings,
  type NewAlert,
  type Raised,
} from '../alerts.ts';
import { INT64_MAX } from '../int64.ts';
import type { AuditRow } from '../people.ts';
import { writeAudit } from './audit.ts';
import { emitEvent } from './deliveries.ts';
import { type Program, query, rowOf, rowsOf, type SqlValue } from './program.ts';

interface AlertColumns {
  readonly id: bigint;
  readonly condition: string;
  readonly kind: bigint;
  readonly account_id: bigint | null;
  readonly subject: string;
  readonly message: string;
  readonly data: string;
  readonly created_ms: bigint;
  readonly resolved_ms: bigint | null;
  readonly acknowledged_ms: bigint | null;
  readonly acknowledged_by: string | null;
  readonly confirmed_ms: bigint | null;
}

export function* raiseAlert(alert: NewAlert, quietMs: number): Program<Raised> {
  const { id, condition, kind, accountId, subject, message, dataJson, createdMs } = alert;
  const last = yield* rowOf<AlertColumns>(
    'SELECT * FROM alert WHERE condition = ? ORDER BY id DESC LIMIT 1',
    condition,
  );
  if (last !== null && last.resolved_ms === null) return 'open';
  if (last !== null && Number(last.created_ms) > createdMs - quietMs) {
    yield query('UPDATE alert SET resolved_ms = NULL WHERE id = ?', last.id);
    return 'reopened';
  }
  const stored = yield* rowOf(
    `INSERT INTO alert (id, condition, kind, account_id, subject, message, data, created_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (condition) WHERE resolved_ms IS NULL DO NOTHING RETURNING id`,
    id,
    condition,
    ALERT_KINDS.indexOf(kind),
    accountId,
    subject,
    message,
    dataJson,
    createdMs,
  );
  if (stored === null) return 'open';
  yield* emitEvent({ id, accountId, type: `alert.${kind}`, dataJson, createdMs, toOperator: true });
  return 'raised';
}

export function* resolveAlert(condition: string, nowMs: number): Program<boolean> {
  const resolved = yield* rowOf(
    'UPDATE alert SET resolved_ms = ? WHERE condition = ? AND resolved_ms IS NULL RETURNING id',
    nowMs,
    condition,
  );
  return resolved !== null;
}

export function* confirmAlerts(conditions: readonly string[], nowMs: number): Program<void> {
  if (conditions.length === 0) return;
  yield query(
    `UPDATE alert SET confirmed_ms = ? WHERE resolved_ms IS NULL AND condition IN (${conditions.map(() => '?')})`,
    nowMs,
    ...conditions,
  );
}

export function* openAlerts(page: { readonly after: bigint | null; readonly limit: number }): Program<Alert[]> {
  const rows = yield* rowsOf<AlertColumns>(
    'SELECT * FROM alert WHERE resolved_ms IS NULL AND id > ? ORDER BY id LIMIT ?',
    page.after ?? 0n,
    page.limit,
  );
  return rows.map(alertOf);
}

export function* openConditions(conditions: readonly string[]): Program<string[]> {
  if (conditions.length === 0) return [];
  const rows = yield* rowsOf<{ condition: string }>(
    `SELECT condition FROM alert WHERE resolved_ms IS NULL AND condition IN (${conditions.map(() => '?')})`,
    ...conditions,
  );
  return rows.map(({ condition }) => condition);
}

export function* findAlert(id: bigint): Program<Alert | null> {
  const row = yield* rowOf<AlertColumns>('SELECT * FROM alert WHERE id = ?', id);
  return row === null ? null : alertOf(row);
}

export function* listAlerts(
  filter: AlertFilter,
  page: { readonly before: bigint | null; readonly limit: number },
): Program<Alert[]> {
  const conditions = ['id < ?'];
  const values: SqlValue[] = [page.before ?? INT64_MAX];
  if (filter.accountId !== null) {
    conditions.push('account_id = ?');
    values.push(filter.accountId);
  }
  if (filter.kind !== null) {
    conditions.push('kind = ?');
    values.push(ALERT_KINDS.indexOf(filter.kind));
  }
  if (filter.unacknowledged) conditions.push('acknowledged_ms IS NULL');
  if (filter.open) conditions.push('resolved_ms IS NULL');
  const rows = yield* rowsOf<AlertColumns>(
    `SELECT * FROM alert WHERE ${conditions.join(' AND ')} ORDER BY id DESC LIMIT ?`,
    ...values,
    page.limit,
  );
  return rows.map(alertOf);
}

export function* acknowledgeAlert(
  id: bigint,
  by: string,
  nowMs: number,
  audit: AuditRow,
): Program<Alert | 'not_found'> {
  const changed = yield* rowOf(
    'UPDATE alert SET acknowledged_ms = ?, acknowledged_by = ? WHERE id = ? AND acknowledged_ms IS NULL RETURNING id',
    nowMs,
    by,
    id,
  );
  if (changed !== null) yield* writeAudit(audit);
  return (yield* findAlert(id)) ?? 'not_found';
}

export function* forgetAlerts(beforeMs: number): Program<number> {
  const oldest = yield* rowOf<{ id: bigint }>(
    'SELECT id FROM alert ORDER BY id DESC LIMIT 1 OFFSET ?',
    LIMITS.alertsKept,
  );
  const rows = yield* rowsOf(
    'DELETE FROM alert WHERE id <= ? OR (resolved_ms IS NOT NULL AND created_ms < ?) RETURNING id',
    oldest?.id ?? 0n,
    beforeMs,
  );
  return rows.length;
}

export function* alertSettings(accountId: bigint): Program<AlertSettings> {
  const row = yield* rowOf<{ balance_below: bigint | null; cap_percent: bigint | null }>(
    'SELECT * FROM alert_setting WHERE account_id = ?',
    accountId,
  );
  const percent = row?.cap_percent ?? null;
  return {
    balanceBelowNanousd: row?.balance_below ?? null,
    capPercent: percent === null ? null : Number(percent),
  };
}

export function* putAlertSettings(
  accountId: bigint,
  { balanceBelowNanousd, capPercent }: AlertSettings,
  audit: AuditRow,
  known?: AlertSettings,
): Program<'stored' | 'changed'> {
  yield { lock: 'account', id: accountId };
  const now = yield* alertSettings(accountId);
  const isChanged = now.balanceBelowNanousd !== known?.balanceBelowNanousd || now.capPercent !== known.capPercent;
  if (known !== undefined && isChanged) return 'changed';
  yield query(
    `INSERT INTO alert_setting (account_id, balance_below, cap_percent) VALUES (?, ?, ?)
     ON CONFLICT (account_id) DO UPDATE SET balance_below = excluded.balance_below, cap_percent = excluded.cap_percent`,
    accountId,
    balanceBelowNanousd,
    capPercent,
  );
  yield* writeAudit(audit);
  return 'stored';
}

export function* lossesBetween(
  id: bigint,
  lastId: bigint,
  limit: number,
): Program<{ readonly lossNanousd: bigint; readonly next: bigint | null }> {
  const row = yield* rowOf<{ calls: bigint; loss: bigint; last: bigint | null }>(
    `SELECT count(*) AS calls, CAST(coalesce(sum(loss), 0) AS bigint) AS loss, max(id) AS last FROM
       (SELECT id, loss FROM call WHERE id > ? AND id <= ? ORDER BY id LIMIT ?) AS following`,
    id,
    lastId,
    limit,
  );
  const isLast = row === null || row.calls < BigInt(limit);
  return { lossNanousd: row?.loss ?? 0n, next: isLast ? null : row.last };
}

function alertOf(row: AlertColumns): Alert {
  return {
    id: row.id,
    condition: row.condition,
    kind: ALERT_KINDS[Number(row.kind)]!,
    accountId: row.account_id,
    subject: row.subject,
    message: row.message,
    dataJson: row.data,
    createdMs: Number(row.created_ms),
    resolvedMs: row.resolved_ms === null ? null : Number(row.resolved_ms),
    acknowledgedMs: row.acknowledged_ms === null ? null : Number(row.acknowledged_ms),
    acknowledgedBy: row.acknowledged_by,
    seenMs: Number(row.confirmed_ms ?? row.created_ms),
  };
}
