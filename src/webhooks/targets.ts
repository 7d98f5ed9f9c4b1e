import { GatewayError } from '../canonical/errors.ts';
import { EVENT_PREFIX, WEBHOOK_PREFIX } from '../canonical/id-prefixes.ts';
import { EgressFailure, ForbiddenUrl } from '../egress/forbidden-url.ts';
import type { GuardedEgress } from '../egress/guarded-egress.ts';
import { stringifyJson } from '../json/stringify.ts';
import type { Clock } from '../kit/clock.ts';
import { formatId } from '../kit/ids.ts';
import type { Secret } from '../kit/secret.ts';
import { toSeconds } from '../kit/unix-seconds.ts';
import { LIMITS } from '../limits.ts';
import type { Directory } from '../store/directory.ts';
import type { AuditRow } from '../store/people.ts';
import type { Delivery, Webhook, WebhookRows } from '../store/webhooks.ts';
import { EVENT_CHOICES, type EventType, isEventChoice } from './event-types.ts';
import { type SecretSealer, sealSecret } from './secret-box.ts';
import { newWebhookSecret } from './signature.ts';

export type WebhookStore = Pick<Directory, keyof WebhookRows>;

interface TargetTerms {
  readonly store: WebhookStore;
  readonly sealer: SecretSealer;
  readonly egress: Pick<GuardedEgress, 'vet'>;
  readonly ids: { next(): bigint };
  readonly clock: Clock;
  /** Something waits to be delivered. */
  nudge(): void;
}

/** Whose webhooks: an account's, or the operator's with null. */
export type WebhookOwner = bigint | null;

/** The row of the audit for a change of this webhook. */
export type WebhookAudit = (action: string, subject: string, after: object | null, before?: object | null) => AuditRow;

interface WebhookTerms {
  readonly name: string;
  readonly url: string;
  /** Null for all events. */
  readonly events: readonly string[] | null;
}

export interface ShownWebhook {
  readonly webhook: Webhook;
  readonly pending: number;
  /** When the previous secret stops being valid; null if there is none. */
  readonly oldSecretExpiresMs: number | null;
}

/** Creates, changes and shows webhooks. What it refuses is a `GatewayError` that names the field. */
export class WebhookTargets {
  readonly #terms: TargetTerms;

  constructor(terms: TargetTerms) {
    this.#terms = terms;
  }

  /** The secret is returned only for a webhook that is new. */
  async put(
    owner: WebhookOwner,
    terms: WebhookTerms,
    audit: WebhookAudit,
  ): Promise<ShownWebhook & { secret: Secret | null }> {
    const { store, sealer, ids, clock } = this.#terms;
    refuseName(terms.name);
    refuseEvents(terms.events);
    const url = await this.#vetted(terms.url);
    const id = ids.next();
    const secret = newWebhookSecret();
    const secretId = ids.next();
    const sealed = sealSecret(sealer, secret, { id: secretId, webhookId: id, accountId: owner });
    const { name, events } = terms;
    const webhook = { id, accountId: owner, name, url, events, createdMs: clock.nowMs() };
    const known = await store.findWebhook(owner, name);
    const change = audit('webhook.put', name, auditedTerms(webhook), known === null ? null : auditedTerms(known));
    const put = await store.putWebhook(webhook, { id: secretId, sealed }, change);
    if (!('webhook' in put)) throw put.kind === 'too_many' ? tooMany() : accountClosed();
    const shown = await this.#shown(put.webhook);
    return { ...shown, secret: put.kind === 'created' ? secret : null };
  }

  async list(owner: WebhookOwner): Promise<ShownWebhook[]> {
    const webhooks = await this.#terms.store.listWebhooks(owner);
    return Promise.all(webhooks.map((webhook) => this.#shown(webhook)));
  }

  async find(owner: WebhookOwner, name: string): Promise<ShownWebhook> {
    return this.#shown(await this.#named(owner, name));
  }

  /** The new secret. The old one also signs, until the end of the grace period. */
  async rotate(
    owner: WebhookOwner,
    name: string,
    graceMs: number,
    audit: WebhookAudit,
  ): Promise<ShownWebhook & { secret: Secret }> {
    const { store, sealer, ids, clock } = this.#terms;
    const webhook = await this.#named(owner, name);
    const secret = newWebhookSecret();
    const id = ids.next();
    const sealed = sealSecret(sealer, secret, { id, webhookId: webhook.id, accountId: owner });
    const oldExpiresMs = clock.nowMs() + graceMs;
    const change = audit('webhook.rotate', name, { old_secret_expires_at: toSeconds(oldExpiresMs) });
    if (!(await store.rotateWebhookSecret(webhook.id, { id, sealed }, oldExpiresMs, change))) throw notFound(name);
    return { ...(await this.#shown(webhook)), secret };
  }

  async remove(owner: WebhookOwner, name: string, audit: WebhookAudit): Promise<void> {
    const change = audit('webhook.remove', name, null, auditedTerms(await this.#named(owner, name)));
    if (!(await this.#terms.store.removeWebhook(owner, name, change))) throw notFound(name);
  }

  /** Stores an event for this webhook alone; it is delivered like any other. */
  async test(owner: WebhookOwner, name: string, audit: WebhookAudit): Promise<Delivery> {
    const { store, ids, clock, nudge } = this.#terms;
    const webhook = await this.#named(owner, name);
    const type: EventType = 'webhook.test';
    const dataJson = stringifyJson({ webhook: formatId(WEBHOOK_PREFIX, webhook.id), name });
    const event = { id: ids.next(), accountId: owner, type, dataJson, createdMs: clock.nowMs(), webhookId: webhook.id };
    const change = audit('webhook.test', name, { event: eventName(event.id) });
    if ((await store.emitEvent(event, change)) === 0) throw queueFull();
    nudge();
    return (await store.findDelivery(webhook.id, event.id))!;
  }

  /** The newest first. */
  async deliveries(
    owner: WebhookOwner,
    name: string,
    page: { readonly before: bigint | null; readonly limit: number },
  ): Promise<Delivery[]> {
    const webhook = await this.#named(owner, name);
    return this.#terms.store.listDeliveries(webhook.id, page);
  }

  async #named(owner: WebhookOwner, name: string): Promise<Webhook> {
    const webhook = await this.#terms.store.findWebhook(owner, name);
    if (webhook === null) throw notFound(name);
    return webhook;
  }

  async #shown(webhook: Webhook): Promise<ShownWebhook> {
    const { store, clock } = this.#terms;
    const secrets = await store.webhookSecrets(webhook.id, clock.nowMs());
    const oldSecretExpiresMs = secrets.find(({ expiresMs }) => expiresMs !== null)?.expiresMs ?? null;
    return { webhook, pending: await store.countPending(webhook.id), oldSecretExpiresMs };
  }

  /** The URL in its usual spelling. */
  async #vetted(text: string): Promise<string> {
    try {
      const { origin, path } = await this.#terms.egress.vet(text);
      return origin + path;
    } catch (error) {
      const isKnown = error instanceof ForbiddenUrl || error instanceof EgressFailure;
      throw isKnown ? invalid('url', error.message) : error;
    }
  }
}

/** Without the path of the URL, which may be a secret of the receiver's. */
function auditedTerms({ url, events }: Pick<Webhook, 'url' | 'events'>): object {
  return { origin: new URL(url).origin, events };
}

const NAME = /^[a-z0-9][a-z0-9_-]*$/i;

function isName(name: string): boolean {
  return NAME.test(name) && name.length <= LIMITS.webhookNameCharsMax;
}

function refuseName(name: string): void {
  if (isName(name)) return;
  throw invalid(
    'name',
    `The name of a webhook has at most ${LIMITS.webhookNameCharsMax} letters, digits, "-" and "_", and begins with a letter or a digit.`,
  );
}

function refuseEvents(events: readonly string[] | null): void {
  const unknown = events?.find((type) => !isEventChoice(type));
  if (events?.length !== 0 && unknown === undefined) return;
  throw invalid(
    'events',
    `\`events\` must be a list of some of these, or left out for all: ${EVENT_CHOICES.join(', ')}.`,
  );
}

function invalid(param: string, message: string): GatewayError {
  return new GatewayError('invalid_value', { param, message });
}

function notFound(name: string): GatewayError {
  const which = isName(name) ? `"${name}"` : 'of this name';
  return new GatewayError('webhook_not_found', { param: 'name', message: `There is no webhook ${which}.` });
}

function accountClosed(): GatewayError {
  const message = 'This account is closed for good and has no webhooks. Use another account.';
  return new GatewayError('account_suspended', { message });
}

function tooMany(): GatewayError {
  const most = LIMITS.webhooksPerAccountMax;
  return invalid('name', `There are ${most} webhooks already, which is the most. Remove one first.`);
}

function queueFull(): GatewayError {
  return invalid(
    'name',
    `${LIMITS.webhookPendingMax} deliveries wait for this webhook already, so no more are stored.`,
  );
}

export function eventName(eventId: bigint): string {
  return formatId(EVENT_PREFIX, eventId);
}
