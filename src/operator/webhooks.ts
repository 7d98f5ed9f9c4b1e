import { z } from 'zod';
import { GatewayError } from '../canonical/errors.ts';
import { ACCOUNT_PREFIX, EVENT_PREFIX } from '../canonical/id-prefixes.ts';
import { MasterKeyError } from '../custody/master-keys.ts';
import { formatId } from '../kit/ids.ts';
import { shellWord } from '../kit/shell-words.ts';
import { secondsOrNull, toSeconds } from '../kit/unix-seconds.ts';
import { LIMITS } from '../limits.ts';
import type { Delivery, DeliveryState } from '../store/webhooks.ts';
import type { ShownWebhook, WebhookAudit, WebhookOwner, WebhookTargets } from '../webhooks/targets.ts';
import { auditRow } from './actor.ts';
import { OperatorError } from './error.ts';
import { idOrName, page } from './input.ts';
import { accountNamed, afterId } from './lookup.ts';
import type { OperatorServices } from './services.ts';
import { type ListView, listView } from './view.ts';

export { DELIVERY_STATES } from '../store/webhooks.ts';

/** Null names the operator's own webhooks. */
const account = idOrName.nullable().default(null);
const name = z.string().min(1).max(LIMITS.webhookNameCharsMax);
const events = z.array(z.string().min(1).max(LIMITS.nameCharsMax)).max(LIMITS.webhookEventsMax);

export const webhookOwner = z.strictObject({ account });
export const webhookChoice = z.strictObject({ account, name });
export const webhookInput = z.strictObject({
  account,
  name,
  url: z.string().min(1).max(LIMITS.urlCharsMax),
  /** Null for all events. */
  events: events.nullable().default(null),
});
export const webhookRotation = z.strictObject({
  account,
  name,
  /** How long the old secret also signs. */
  grace_seconds: z
    .int()
    .min(0)
    .max(LIMITS.webhookGraceMaxMs / 1000)
    .default(LIMITS.webhookGraceMs / 1000),
});
export const deliveryPage = z.strictObject({ account, name, ...page });

/** Times are in seconds since 1970. */
export interface WebhookView {
  readonly object: 'webhook';
  readonly name: string;
  /** Null if it belongs to the operator. */
  readonly account: string | null;
  readonly url: string;
  readonly events: readonly string[] | null;
  /** `retrying`: the last attempt failed. `failing`: a delivery was given up, and none has succeeded since. */
  readonly status: 'active' | 'retrying' | 'failing';
  readonly created: number;
  readonly last_delivered_at: number | null;
  readonly failing_since: number | null;
  /** Deliveries that wait. */
  readonly pending: number;
  /** Events that were not stored because too many waited. */
  readonly dropped: number;
  /** Until when the previous secret also signs; null if it no longer does. */
  readonly old_secret_expires_at: number | null;
}

/** The secret is shown only when it is new. */
export type NewWebhookView = WebhookView & { readonly secret: string | null };

export interface DeliveryView {
  readonly object: 'webhook_delivery';
  /** The event's id, which is the header `webhook-id`. */
  readonly id: string;
  readonly type: string;
  readonly status: DeliveryState;
  readonly attempts: number;
  readonly created: number;
  readonly last_attempt_at: number | null;
  readonly next_attempt_at: number | null;
  /** Null if the receiver did not answer. */
  readonly http_status: number | null;
  readonly error: string | null;
}

export interface RemovedWebhookView {
  readonly object: 'webhook';
  readonly name: string;
  readonly status: 'removed';
}

export function webhookView({ webhook, pending, oldSecretExpiresMs }: ShownWebhook): WebhookView {
  const { accountId, failures, failingMs } = webhook;
  return {
    object: 'webhook',
    name: webhook.name,
    account: accountId === null ? null : formatId(ACCOUNT_PREFIX, accountId),
    url: webhook.url,
    events: webhook.events,
    status: failingMs !== null ? 'failing' : failures > 0 ? 'retrying' : 'active',
    created: toSeconds(webhook.createdMs),
    last_delivered_at: secondsOrNull(webhook.deliveredMs),
    failing_since: secondsOrNull(failingMs),
    pending,
    dropped: webhook.dropped,
    old_secret_expires_at: secondsOrNull(oldSecretExpiresMs),
  };
}

export function deliveryView(delivery: Delivery): DeliveryView {
  return {
    object: 'webhook_delivery',
    id: formatId(EVENT_PREFIX, delivery.eventId),
    type: delivery.type,
    status: delivery.state,
    attempts: delivery.attempts,
    created: toSeconds(delivery.createdMs),
    last_attempt_at: secondsOrNull(delivery.triedMs),
    next_attempt_at: delivery.state === 'pending' ? toSeconds(delivery.dueMs) : null,
    http_status: delivery.httpStatus,
    error: delivery.error,
  };
}

export function putWebhook(
  services: OperatorServices,
  { account, ...terms }: z.output<typeof webhookInput>,
): Promise<NewWebhookView> {
  return withTargets(services, account, async (targets, owner, audit) => {
    const { secret, ...shown } = await targets.put(owner, terms, audit);
    return { ...webhookView(shown), secret: secret?.reveal() ?? null };
  });
}

export function listWebhooks(
  services: OperatorServices,
  { account }: z.output<typeof webhookOwner>,
): Promise<ListView<WebhookView>> {
  return withTargets(services, account, async (targets, owner) => {
    const shown = await targets.list(owner);
    return { object: 'list', data: shown.map(webhookView), next: null };
  });
}

export function showWebhook(
  services: OperatorServices,
  { account, name }: z.output<typeof webhookChoice>,
): Promise<WebhookView> {
  return withTargets(services, account, async (targets, owner) => webhookView(await targets.find(owner, name)));
}

export function rotateWebhook(
  services: OperatorServices,
  { account, name, grace_seconds }: z.output<typeof webhookRotation>,
): Promise<NewWebhookView> {
  return withTargets(services, account, async (targets, owner, audit) => {
    const { secret, ...shown } = await targets.rotate(owner, name, grace_seconds * 1000, audit);
    return { ...webhookView(shown), secret: secret.reveal() };
  });
}

export function testWebhook(
  services: OperatorServices,
  { account, name }: z.output<typeof webhookChoice>,
): Promise<DeliveryView> {
  return withTargets(services, account, async (targets, owner, audit) =>
    deliveryView(await targets.test(owner, name, audit)),
  );
}

export function listDeliveries(
  services: OperatorServices,
  { account, name, after, limit }: z.output<typeof deliveryPage>,
): Promise<ListView<DeliveryView>> {
  return withTargets(services, account, async (targets, owner) => {
    const rows = await targets.deliveries(owner, name, { before: afterId(EVENT_PREFIX, after), limit });
    return listView(rows.map(deliveryView), limit);
  });
}

export function removeWebhook(
  services: OperatorServices,
  { account, name }: z.output<typeof webhookChoice>,
): Promise<RemovedWebhookView> {
  return withTargets(services, account, async (targets, owner, audit) => {
    await targets.remove(owner, name, audit);
    return { object: 'webhook', name, status: 'removed' };
  });
}

async function withTargets<Result>(
  services: OperatorServices,
  account: string | null,
  run: (targets: WebhookTargets, owner: WebhookOwner, audit: WebhookAudit) => Promise<Result>,
): Promise<Result> {
  const owner = account === null ? null : (await accountNamed(services, account)).id;
  const audit: WebhookAudit = (action, subject, after, before = null) =>
    auditRow(services, { action, subject, accountId: owner, before, after });
  try {
    return await run(await services.webhooks(), owner, audit);
  } catch (error) {
    if (error instanceof MasterKeyError) throw new OperatorError('refused', error.message);
    if (!(error instanceof GatewayError)) throw error;
    const isUnknown = error.kind === 'webhook_not_found';
    const ofAccount = account === null ? '' : ` --account ${shellWord(account)}`;
    const hint = isUnknown ? `tollgate webhooks list${ofAccount}` : null;
    throw new OperatorError(isUnknown ? 'not_found' : 'invalid_input', error.message, hint);
  }
}
