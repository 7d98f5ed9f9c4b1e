import { LIMITS } from '../../limits.ts';
import { INT64_MAX } from '../int64.ts';
import type { AuditRow } from '../people.ts';
import {
  type ClaimedDelivery,
  DELIVERY_STATES,
  type Delivery,
  type DeliveryOutcome,
  type DueWebhook,
  type LeasedDelivery,
  type WebhookEvent,
} from '../webhooks.ts';
import { writeAudit } from './audit.ts';
import { insert, type Program, query, rowOf, rowsOf } from './program.ts';
import { type WebhookColumns, webhookOf } from './webhooks.ts';

interface DeliveryColumns {
  readonly webhook_id: bigint;
  readonly event_id: bigint;
  readonly type: string;
  readonly data: string;
  readonly created_ms: bigint;
  readonly state: bigint;
  readonly attempts: bigint;
  readonly due_ms: bigint;
  readonly tried_ms: bigint | null;
  readonly http_status: bigint | null;
  readonly error: string | null;
}

const PENDING = DELIVERY_STATES.indexOf('pending');

/**
 * Part of every program that causes an event, so that an event and its deliveries are one commit. It locks the rows of the
 * webhooks in the order of their ids: otherwise one that just ran out of deliveries could miss the new one.
 */
export function* emitEvent(event: WebhookEvent, audit?: AuditRow): Program<number> {
  const owners =
    event.toOperator === true && event.accountId !== null ? [event.accountId, 0n] : [event.accountId ?? 0n];
  const rows = yield* rowsOf<WebhookColumns>(
    `SELECT * FROM webhook WHERE coalesce(account_id, 0) IN (${owners.map(() => '?')}) ORDER BY id`,
    ...owners,
  );
  let told = 0;
  for (const { id, events } of rows.map(webhookOf)) {
    if (event.webhookId !== undefined ? event.webhookId !== id : !isTold(events, event.type)) continue;
    if (yield* addDelivery(id, event)) told++;
  }
  if (audit !== undefined && told > 0) yield* writeAudit(audit);
  return told;
}

/** `alert.*` stands for every type that begins with `alert.`. */
function isTold(events: readonly string[] | null, type: string): boolean {
  return events === null || events.includes(type) || events.includes(`${type.split('.', 1)[0]}.*`);
}

/** The webhook may be due only for the next attempt of another delivery, hours later; the new one does not wait for that. */
function* addDelivery(webhookId: bigint, { id, type, dataJson, createdMs }: WebhookEvent): Program<boolean> {
  const locked = yield* rowOf(
    `UPDATE webhook SET due_ms = CASE WHEN due_ms <= next_ms OR due_ms <= ? THEN due_ms
       WHEN next_ms > ? THEN next_ms ELSE ? END WHERE id = ? RETURNING id`,
    createdMs,
    createdMs,
    createdMs,
    webhookId,
  );
  if (locked === null) return false;
  if ((yield* countPending(webhookId)) >= LIMITS.webhookPendingMax) {
    yield query('UPDATE webhook SET dropped = dropped + 1 WHERE id = ?', webhookId);
    return false;
  }
  yield insert('webhook_delivery', {
    webhook_id: webhookId,
    event_id: id,
    type,
    data: dataJson,
    created_ms: createdMs,
    state: PENDING,
    attempts: 0,
    due_ms: createdMs,
  });
  return true;
}

export function* dueWebhooks(nowMs: number, limit: number): Program<DueWebhook[]> {
  const rows = yield* rowsOf<{ id: bigint; account_id: bigint | null; url: string }>(
    'SELECT id, account_id, url FROM webhook WHERE due_ms <= ? ORDER BY due_ms LIMIT ?',
    nowMs,
    limit,
  );
  return rows.map(({ id, account_id, url }) => ({ id, accountId: account_id, url }));
}

export function* claimDelivery(webhookId: bigint, nowMs: number, leaseMs: number): Program<ClaimedDelivery | null> {
  const untilMs = nowMs + leaseMs;
  const row = yield* rowOf<WebhookColumns>(
    'UPDATE webhook SET due_ms = ?, next_ms = ? WHERE id = ? AND due_ms <= ? RETURNING *',
    untilMs,
    untilMs,
    webhookId,
    nowMs,
  );
  if (row === null) return null;
  const next = yield* rowOf<DeliveryColumns>(
    `SELECT * FROM webhook_delivery WHERE webhook_id = ? AND state = ${PENDING} AND due_ms <= ?
     ORDER BY due_ms, event_id LIMIT 1`,
    webhookId,
    nowMs,
  );
  if (next !== null) return { webhook: webhookOf(row), delivery: deliveryOf(next), leaseEndMs: untilMs };
  yield* release(webhookId, nowMs);
  return null;
}

/** The first outcome of a delivery stands: a process that lost its lease may report a second one. */
export function* finishDelivery(
  { webhookId, eventId, leaseEndMs }: LeasedDelivery,
  outcome: DeliveryOutcome,
): Program<number | null> {
  const { state, triedMs, dueMs, nextMs, httpStatus, error } = outcome;
  const lease = yield* rowOf<{ next_ms: bigint }>(
    'UPDATE webhook SET version = version WHERE id = ? RETURNING next_ms',
    webhookId,
  );
  const isLeased = lease?.next_ms === BigInt(leaseEndMs);
  if (lease === null || (!isLeased && state !== 'delivered')) return null;
  const health =
    state === 'delivered'
      ? query('UPDATE webhook SET failures = 0, delivered_ms = ?, failing_ms = NULL WHERE id = ?', triedMs, webhookId)
      : query(
          `UPDATE webhook SET failures = failures + 1, failing_ms = CASE WHEN ? = 1 THEN coalesce(failing_ms, ?) ELSE failing_ms END
           WHERE id = ?`,
          state === 'failed' ? 1 : 0,
          triedMs,
          webhookId,
        );
  yield health;
  yield query(
    `UPDATE webhook_delivery SET state = ?, attempts = attempts + 1, tried_ms = ?, due_ms = ?, http_status = ?, error = ?
     WHERE webhook_id = ? AND event_id = ? AND state = ${PENDING}`,
    DELIVERY_STATES.indexOf(state),
    triedMs,
    dueMs,
    httpStatus,
    error,
    webhookId,
    eventId,
  );
  yield* forgetOld(webhookId);
  return isLeased ? yield* release(webhookId, nextMs) : null;
}

/** Ends the lease. The row of the webhook is locked, so no delivery can be added meanwhile. */
function* release(webhookId: bigint, nextMs: number): Program<number | null> {
  const first = yield* rowOf<{ due_ms: bigint | null }>(
    `SELECT min(due_ms) AS due_ms FROM webhook_delivery WHERE webhook_id = ? AND state = ${PENDING}`,
    webhookId,
  );
  const pendingMs = first?.due_ms ?? null;
  const dueMs = pendingMs === null ? null : Math.max(Number(pendingMs), nextMs);
  yield query('UPDATE webhook SET due_ms = ?, next_ms = ? WHERE id = ?', dueMs, nextMs, webhookId);
  return dueMs;
}

function* forgetOld(webhookId: bigint): Program<void> {
  yield query(
    `DELETE FROM webhook_delivery WHERE webhook_id = ? AND state <> ${PENDING} AND event_id <=
       (SELECT event_id FROM webhook_delivery WHERE webhook_id = ? AND state <> ${PENDING}
        ORDER BY event_id DESC LIMIT 1 OFFSET ?)`,
    webhookId,
    webhookId,
    LIMITS.webhookDeliveriesKept,
  );
}

export function* listDeliveries(
  webhookId: bigint,
  page: { readonly before: bigint | null; readonly limit: number },
): Program<Delivery[]> {
  const rows = yield* rowsOf<DeliveryColumns>(
    'SELECT * FROM webhook_delivery WHERE webhook_id = ? AND event_id < ? ORDER BY event_id DESC LIMIT ?',
    webhookId,
    page.before ?? INT64_MAX,
    page.limit,
  );
  return rows.map(deliveryOf);
}

export function* findDelivery(webhookId: bigint, eventId: bigint): Program<Delivery | null> {
  const row = yield* rowOf<DeliveryColumns>(
    'SELECT * FROM webhook_delivery WHERE webhook_id = ? AND event_id = ?',
    webhookId,
    eventId,
  );
  return row === null ? null : deliveryOf(row);
}

export function* countPending(webhookId: bigint | null): Program<number> {
  const ofWebhook = webhookId === null ? '' : 'AND webhook_id = ?';
  const row = yield* rowOf<{ pending: bigint }>(
    `SELECT count(*) AS pending FROM
       (SELECT 1 FROM webhook_delivery WHERE state = ${PENDING} ${ofWebhook} LIMIT ?) AS waiting`,
    ...(webhookId === null ? [] : [webhookId]),
    LIMITS.webhookPendingMax,
  );
  return Number(row!.pending);
}

function deliveryOf(row: DeliveryColumns): Delivery {
  return {
    webhookId: row.webhook_id,
    eventId: row.event_id,
    type: row.type,
    dataJson: row.data,
    createdMs: Number(row.created_ms),
    state: DELIVERY_STATES[Number(row.state)]!,
    attempts: Number(row.attempts),
    dueMs: Number(row.due_ms),
    triedMs: row.tried_ms === null ? null : Number(row.tried_ms),
    httpStatus: row.http_status === null ? null : Number(row.http_status),
    error: row.error,
  };
}
