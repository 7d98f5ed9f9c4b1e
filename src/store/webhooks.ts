import type { AuditRow } from './people.ts';

/** A URL that events are sent to: of one account, or of the whole gateway for the operator. */
export interface NewWebhook {
  readonly id: bigint;
  /** Null: the operator's. */
  readonly accountId: bigint | null;
  readonly name: string;
  readonly url: string;
  /** The types of events that are sent; null sends all. */
  readonly events: readonly string[] | null;
  readonly createdMs: number;
}

export interface Webhook extends NewWebhook {
  readonly version: bigint;
  /** Attempts that failed since the last one that succeeded. */
  readonly failures: number;
  readonly deliveredMs: number | null;
  /** Since when deliveries are given up; null after the next one that succeeds. */
  readonly failingMs: number | null;
  /** Events that were not stored because too many were waiting. */
  readonly dropped: number;
}

/** One of the secrets that sign deliveries. The newest one does not expire; the previous one may still be valid. */
export interface WebhookSecret {
  readonly id: bigint;
  readonly webhookId: bigint;
  readonly webhookName: string;
  readonly accountId: bigint | null;
  readonly sealed: Uint8Array;
  readonly expiresMs: number | null;
}

/** Something that happened. It is stored once for every webhook that it is sent to. */
export interface WebhookEvent {
  readonly id: bigint;
  /** The account whose webhooks get it; null: the operator's get it. */
  readonly accountId: bigint | null;
  readonly type: string;
  /** JSON, without secrets and without anything that a caller wrote to a model. */
  readonly dataJson: string;
  readonly createdMs: number;
  /** It is sent only to this webhook of the account. */
  readonly webhookId?: bigint;
  /** It is also sent to the operator's webhooks. */
  readonly toOperator?: boolean;
}

/** `pending`: it will be tried, for the first time or again. `failed`: it was given up. */
export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface Delivery {
  readonly webhookId: bigint;
  readonly eventId: bigint;
  readonly type: string;
  readonly dataJson: string;
  readonly createdMs: number;
  readonly state: DeliveryState;
  readonly attempts: number;
  /** When it is tried next, if it is pending. */
  readonly dueMs: number;
  readonly triedMs: number | null;
  /** The status that the receiver answered; null if it did not answer. */
  readonly httpStatus: number | null;
  readonly error: string | null;
}

/** A delivery that this process, and no other, tries until the lease ends. */
export interface ClaimedDelivery {
  readonly webhook: Webhook;
  readonly delivery: Delivery;
  /** Tells this lease from a later one of another process. */
  readonly leaseEndMs: number;
}

export interface DueWebhook {
  readonly id: bigint;
  /** Null for a webhook of the operator. */
  readonly accountId: bigint | null;
  readonly url: string;
}

export interface LeasedDelivery {
  readonly webhookId: bigint;
  readonly eventId: bigint;
  readonly leaseEndMs: number;
}

export interface DeliveryOutcome {
  readonly state: DeliveryState;
  readonly triedMs: number;
  /** When a pending delivery is tried again. */
  readonly dueMs: number;
  /** Nothing is sent to the webhook before this time. */
  readonly nextMs: number;
  readonly httpStatus: number | null;
  readonly error: string | null;
}

export type PutWebhook =
  | { readonly kind: 'created' | 'changed'; readonly webhook: Webhook }
  | { kind: 'too_many' | 'account_closed' };

/** Webhooks, their secrets, and the deliveries that wait for them. */
export interface WebhookRows {
  /**
   * Creates the webhook with its first secret, or changes URL and events of the one that has this name. An
   * account has at most `LIMITS.webhooksPerAccountMax`.
   */
  putWebhook(webhook: NewWebhook, secret: { id: bigint; sealed: Uint8Array }, audit: AuditRow): Promise<PutWebhook>;
  findWebhook(accountId: bigint | null, name: string): Promise<Webhook | null>;
  listWebhooks(accountId: bigint | null): Promise<Webhook[]>;
  /** With its secrets and deliveries. */
  removeWebhook(accountId: bigint | null, name: string, audit: AuditRow): Promise<boolean>;
  /** The previous secret is valid until `oldExpiresMs`. Older ones are no longer valid. */
  rotateWebhookSecret(
    webhookId: bigint,
    secret: { id: bigint; sealed: Uint8Array },
    oldExpiresMs: number,
    audit: AuditRow,
  ): Promise<boolean>;
  /** The valid ones, the newest first. */
  webhookSecrets(webhookId: bigint, nowMs: number): Promise<WebhookSecret[]>;
  /** The secrets of all webhooks, ordered by id, for re-encrypting every row. */
  webhookSecretsAfter(id: bigint | null, limit: number): Promise<WebhookSecret[]>;
  /** False, without a change, if the row is gone or was encrypted again meanwhile. */
  resealWebhookSecret(id: bigint, before: Uint8Array, after: Uint8Array): Promise<boolean>;

  /** Stores the event for every webhook that it is sent to, and returns for how many. The audit is written if there is one. */
  emitEvent(event: WebhookEvent, audit?: AuditRow): Promise<number>;
  /** Webhooks that something is to be sent to now, those that have waited longest first. */
  dueWebhooks(nowMs: number, limit: number): Promise<DueWebhook[]>;
  /** Null if another process has claimed it, or nothing is due. The lease keeps other processes from the webhook. */
  claimDelivery(webhookId: bigint, nowMs: number, leaseMs: number): Promise<ClaimedDelivery | null>;
  /**
   * Returns when the webhook is due again; null if nothing is pending. A process that was stalled until its lease ended can
   * only note that the delivery arrived: it does not end the lease of another process, nor count as its failure.
   */
  finishDelivery(claimed: LeasedDelivery, outcome: DeliveryOutcome): Promise<number | null>;
  /** The newest first. Only the last `LIMITS.webhookDeliveriesKept` finished ones are kept. */
  listDeliveries(
    webhookId: bigint,
    page: { readonly before: bigint | null; readonly limit: number },
  ): Promise<Delivery[]>;
  findDelivery(webhookId: bigint, eventId: bigint): Promise<Delivery | null>;
  /** How many deliveries wait, of one webhook or of all with null; at most `LIMITS.webhookPendingMax` are counted. */
  countPending(webhookId: bigint | null): Promise<number>;
}
