import { parseJson } from '../../json/json.ts';
import { stringifyJson } from '../../json/stringify.ts';
import { LIMITS } from '../../limits.ts';
import type { AuditRow } from '../people.ts';
import { DELIVERY_STATES, type NewWebhook, type PutWebhook, type Webhook, type WebhookSecret } from '../webhooks.ts';
import { isClosed } from './account-state.ts';
import { writeAudit } from './audit.ts';
import { insert, type Program, query, rowOf, rowsOf } from './program.ts';

export interface WebhookColumns {
  readonly id: bigint;
  readonly account_id: bigint | null;
  readonly name: string;
  readonly url: string;
  readonly events: string | null;
  readonly created_ms: bigint;
  readonly version: bigint;
  readonly next_ms: bigint;
  readonly due_ms: bigint | null;
  readonly failures: bigint;
  readonly delivered_ms: bigint | null;
  readonly failing_ms: bigint | null;
  readonly dropped: bigint;
}

interface SecretColumns {
  readonly id: bigint;
  readonly webhook_id: bigint;
  readonly name: string;
  readonly account_id: bigint | null;
  readonly sealed: Uint8Array;
  readonly expires_ms: bigint | null;
}

/** Accounts have ids above 0, so 0 stands for the operator, as in the index. */
const OF_OWNER = 'coalesce(account_id, 0) = ?';

export function* putWebhook(
  webhook: NewWebhook,
  secret: { readonly id: bigint; readonly sealed: Uint8Array },
  audit: AuditRow,
): Program<PutWebhook> {
  const { accountId, name, url } = webhook;
  const events = webhook.events === null ? null : stringifyJson(webhook.events);
  // The account is locked first, as by its closing.
  if (accountId !== null && (yield* isClosed(accountId))) return { kind: 'account_closed' };
  yield { lock: 'webhooks' };
  const before = yield* findWebhook(accountId, name);
  if (before === null) {
    const others = yield* listWebhooks(accountId);
    if (others.length >= LIMITS.webhooksPerAccountMax) return { kind: 'too_many' };
    const { id, createdMs } = webhook;
    const cells = { id, account_id: accountId, name, url, events, created_ms: createdMs };
    yield insert('webhook', { ...cells, version: 1, next_ms: 0, due_ms: null, failures: 0, dropped: 0 });
    yield insert('webhook_secret', { ...secret, webhook_id: id });
  } else {
    yield query('UPDATE webhook SET url = ?, events = ?, version = version + 1 WHERE id = ?', url, events, before.id);
    if (url !== before.url) yield* endPause(before.id, audit.atMs);
  }
  yield* writeAudit(audit);
  const stored = yield* findWebhook(accountId, name);
  return { kind: before === null ? 'created' : 'changed', webhook: stored! };
}

const PENDING = DELIVERY_STATES.indexOf('pending');

/**
 * What waits because another URL failed is sent to the new one. A pause is known by ending later than any lease; before
 * that, a process may be sending to the webhook.
 */
function* endPause(webhookId: bigint, nowMs: number): Program<void> {
  yield query(
    'UPDATE webhook SET failures = 0, next_ms = CASE WHEN next_ms > ? THEN ? ELSE next_ms END WHERE id = ?',
    nowMs + LIMITS.webhookLeaseMs,
    nowMs,
    webhookId,
  );
  yield query(
    'UPDATE webhook SET due_ms = CASE WHEN next_ms > ? THEN next_ms ELSE ? END WHERE id = ? AND due_ms IS NOT NULL',
    nowMs,
    nowMs,
    webhookId,
  );
  yield query(
    `UPDATE webhook_delivery SET due_ms = ? WHERE webhook_id = ? AND state = ${PENDING} AND due_ms > ?`,
    nowMs,
    webhookId,
    nowMs,
  );
}

export function* findWebhook(accountId: bigint | null, name: string): Program<Webhook | null> {
  const row = yield* rowOf<WebhookColumns>(
    `SELECT * FROM webhook WHERE ${OF_OWNER} AND name = ?`,
    accountId ?? 0n,
    name,
  );
  return row === null ? null : webhookOf(row);
}

export function* listWebhooks(accountId: bigint | null): Program<Webhook[]> {
  const rows = yield* rowsOf<WebhookColumns>(
    `SELECT * FROM webhook WHERE ${OF_OWNER} ORDER BY name LIMIT ?`,
    accountId ?? 0n,
    LIMITS.webhooksPerAccountMax,
  );
  return rows.map(webhookOf);
}

export function* removeWebhook(accountId: bigint | null, name: string, audit: AuditRow): Program<boolean> {
  yield { lock: 'webhooks' };
  const webhook = yield* findWebhook(accountId, name);
  if (webhook === null) return false;
  yield* deleteWebhook(webhook.id);
  yield* writeAudit(audit);
  return true;
}

/** For an account that is closed: nothing more happens there, so its secrets should not be kept. */
export function* removeWebhooksOf(accountId: bigint): Program<void> {
  yield { lock: 'webhooks' };
  for (const { id } of yield* listWebhooks(accountId)) yield* deleteWebhook(id);
}

function* deleteWebhook(id: bigint): Program<void> {
  // Locks the row first, as every program that adds or ends deliveries does.
  yield query('UPDATE webhook SET version = version + 1 WHERE id = ?', id);
  yield query('DELETE FROM webhook_delivery WHERE webhook_id = ?', id);
  yield query('DELETE FROM webhook_secret WHERE webhook_id = ?', id);
  yield query('DELETE FROM webhook WHERE id = ?', id);
}

export function* rotateWebhookSecret(
  webhookId: bigint,
  secret: { readonly id: bigint; readonly sealed: Uint8Array },
  oldExpiresMs: number,
  audit: AuditRow,
): Program<boolean> {
  yield { lock: 'webhooks' };
  const found = yield* rowOf('UPDATE webhook SET version = version + 1 WHERE id = ? RETURNING id', webhookId);
  if (found === null) return false;
  yield query('DELETE FROM webhook_secret WHERE webhook_id = ? AND expires_ms IS NOT NULL', webhookId);
  yield query('UPDATE webhook_secret SET expires_ms = ? WHERE webhook_id = ?', oldExpiresMs, webhookId);
  yield insert('webhook_secret', { ...secret, webhook_id: webhookId });
  yield* writeAudit(audit);
  return true;
}

const SECRETS = `SELECT webhook_secret.*, account_id, name FROM webhook_secret JOIN webhook ON webhook.id = webhook_id`;

export function* webhookSecrets(webhookId: bigint, nowMs: number): Program<WebhookSecret[]> {
  const rows = yield* rowsOf<SecretColumns>(
    `${SECRETS} WHERE webhook_id = ? AND (expires_ms IS NULL OR expires_ms > ?) ORDER BY webhook_secret.id DESC`,
    webhookId,
    nowMs,
  );
  return rows.map(secretOf);
}

export function* webhookSecretsAfter(id: bigint | null, limit: number): Program<WebhookSecret[]> {
  const rows = yield* rowsOf<SecretColumns>(
    `${SECRETS} WHERE webhook_secret.id > ? ORDER BY webhook_secret.id LIMIT ?`,
    id ?? 0n,
    limit,
  );
  return rows.map(secretOf);
}

export function* resealWebhookSecret(id: bigint, before: Uint8Array, after: Uint8Array): Program<boolean> {
  const sql = 'UPDATE webhook_secret SET sealed = ? WHERE id = ? AND sealed = ? RETURNING id';
  return (yield* rowOf(sql, after, id, before)) !== null;
}

export function webhookOf(row: WebhookColumns): Webhook {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    url: row.url,
    events: row.events === null ? null : (parseJson(row.events) as string[]),
    createdMs: Number(row.created_ms),
    version: row.version,
    failures: Number(row.failures),
    deliveredMs: row.delivered_ms === null ? null : Number(row.delivered_ms),
    failingMs: row.failing_ms === null ? null : Number(row.failing_ms),
    dropped: Number(row.dropped),
  };
}

function secretOf({ id, webhook_id, name, account_id, sealed, expires_ms }: SecretColumns): WebhookSecret {
  return {
    id,
    webhookId: webhook_id,
    webhookName: name,
    accountId: account_id,
    sealed,
    expiresMs: expires_ms === null ? null : Number(expires_ms),
  };
}
