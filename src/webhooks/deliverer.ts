import type { GuardedEgress } from '../egress/guarded-egress.ts';
import { stringifyJson } from '../json/stringify.ts';
import type { CacheSize } from '../kit/caches.ts';
import type { Clock } from '../kit/clock.ts';
import { toSeconds } from '../kit/unix-seconds.ts';
import { Waker } from '../kit/waker.ts';
import { LIMITS } from '../limits.ts';
import type { ClaimedDelivery, Delivery, DeliveryOutcome, DueWebhook, Webhook } from '../store/webhooks.ts';
import { OriginPace } from './origin-pace.ts';
import { isGivenUp, retryDelayMs } from './retry.ts';
import { openSecret, type SecretSealer } from './secret-box.ts';
import { type Attempt, post } from './send.ts';
import { signedHeaders } from './signature.ts';
import { eventName, type WebhookStore } from './targets.ts';

export interface DelivererTerms {
  readonly store: WebhookStore;
  readonly sealer: SecretSealer;
  readonly egress: Pick<GuardedEgress, 'recall' | 'send'>;
  readonly clock: Clock;
  /** From 0 to 1, so that retries do not come in step. */
  random(): number;
  /** An attempt ended. */
  onAttempt(attempt: DeliveryAttempt): void;
  /** The store could not be read or written; it is tried again. */
  onError(error: unknown): void;
}

export interface DeliveryAttempt {
  readonly webhook: Webhook;
  readonly delivery: Delivery;
  readonly outcome: DeliveryOutcome;
}

interface Running {
  readonly accountId: bigint | null;
  readonly ended: Promise<void>;
}

/**
 * Sends what waits in the store. Several processes may run one each: a webhook is claimed with a lease before anything is
 * sent to it, so that only one process sends to it at a time. If that process dies, another one sends the delivery again.
 */
export class WebhookDeliverer {
  readonly #terms: DelivererTerms;
  /** Webhooks that this process sends to now. */
  readonly #running = new Map<bigint, Running>();
  readonly #pace: OriginPace;
  readonly #waker: Waker;
  #stopped = false;
  readonly #stopping = new AbortController();

  constructor(terms: DelivererTerms) {
    this.#terms = terms;
    this.#pace = new OriginPace(terms.clock);
    this.#waker = new Waker(terms.clock, () => this.#look());
  }

  start(): void {
    this.#waker.wakeIn(LIMITS.webhookPollMs);
  }

  sizes(): CacheSize[] {
    const entriesMax = LIMITS.webhookDeliveriesAtOnce;
    return [{ cache: 'webhook_deliveries', entries: this.#running.size, entriesMax }];
  }

  /** Something was stored just now. */
  nudge(): void {
    this.#waker.wakeIn(0);
  }

  /** Attempts under way are aborted. They are made again when their lease has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#stopping.abort();
    this.#waker.stop();
    await this.#waker.idle();
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }

  async #look(): Promise<number> {
    let limit: number = LIMITS.webhookDueRows;
    try {
      // Those that wait longest may all be for one slow receiver, so more are read while there is room for others.
      while ((await this.#beginDue(limit)) && limit < LIMITS.webhookDueRowsMax) limit *= LIMITS.webhookDueRowsFactor;
    } catch (error) {
      this.#terms.onError(error);
    }
    return LIMITS.webhookPollMs;
  }

  /** Whether there may be more webhooks that are due, and room for them. */
  async #beginDue(limit: number): Promise<boolean> {
    const { store, clock } = this.#terms;
    const due = await store.dueWebhooks(clock.nowMs(), limit);
    for (const webhook of due) {
      if (this.#stopped || this.#running.size >= LIMITS.webhookDeliveriesAtOnce) return false;
      if (!this.#running.has(webhook.id) && this.#mayBegin(webhook)) this.#begin(webhook);
    }
    return due.length === limit;
  }

  /** An account with many slow receivers, and several such accounts, leave room for the webhooks of others. */
  #mayBegin({ accountId }: DueWebhook): boolean {
    let ofAccount = 0;
    for (const running of this.#running.values()) if (running.accountId === accountId) ofAccount++;
    const freeFor = LIMITS.webhookDeliveriesAtOnce - LIMITS.webhookPlacesReserved;
    return ofAccount === 0 || (ofAccount < LIMITS.webhookAccountAtOnce && this.#running.size < freeFor);
  }

  #begin({ id, accountId, url }: DueWebhook): void {
    const end = this.#pace.begin(url);
    if (typeof end === 'number') this.#waker.wakeIn(end);
    else this.#running.set(id, { accountId, ended: this.#serve(id).finally(end) });
  }

  async #serve(webhookId: bigint): Promise<void> {
    const { store, clock, onError } = this.#terms;
    try {
      const claimed = await store.claimDelivery(webhookId, clock.nowMs(), LIMITS.webhookLeaseMs);
      const dueMs = claimed === null ? null : await this.#deliver(claimed);
      if (dueMs !== null) this.#waker.wakeIn(Math.max(0, dueMs - clock.nowMs()));
    } catch (error) {
      onError(error);
    } finally {
      this.#running.delete(webhookId);
    }
  }

  /** When the webhook is due again; null if nothing waits. */
  async #deliver({ webhook, delivery, leaseEndMs }: ClaimedDelivery): Promise<number | null> {
    const { store, onAttempt } = this.#terms;
    const attempt = await this.#attempt(webhook, delivery);
    if (this.#stopped && attempt.error !== null) return null;
    const outcome = this.#outcomeOf(attempt, webhook, delivery);
    const leased = { webhookId: webhook.id, eventId: delivery.eventId, leaseEndMs };
    const dueMs = await store.finishDelivery(leased, outcome);
    onAttempt({ webhook, delivery, outcome });
    return dueMs;
  }

  async #attempt(webhook: Webhook, delivery: Delivery): Promise<Attempt> {
    const { store, sealer, clock } = this.#terms;
    const rows = await store.webhookSecrets(webhook.id, clock.nowMs());
    const secrets = rows.map((row) => openSecret(sealer, row)).filter((secret) => secret !== null);
    if (secrets.length === 0) return { httpStatus: null, error: UNREADABLE };
    const body = bodyOf(delivery);
    const headers = signedHeaders(eventName(delivery.eventId), toSeconds(clock.nowMs()), body, secrets);
    return post({ ...this.#terms, stopping: this.#stopping.signal }, webhook.url, headers, body);
  }

  #outcomeOf({ httpStatus, error }: Attempt, webhook: Webhook, delivery: Delivery): DeliveryOutcome {
    const nowMs = this.#terms.clock.nowMs();
    const common = { triedMs: nowMs, httpStatus, error };
    if (error === null)
      return { ...common, state: 'delivered', dueMs: nowMs, nextMs: nowMs + LIMITS.webhookIntervalMs };
    const spread = this.#terms.random();
    const dueMs = nowMs + retryDelayMs(delivery.attempts + 1, spread);
    const pauseMs = Math.min(retryDelayMs(webhook.failures + 1, spread), LIMITS.webhookPauseMaxMs);
    const state = isGivenUp(delivery.createdMs, dueMs) ? 'failed' : 'pending';
    return { ...common, state, dueMs, nextMs: nowMs + pauseMs };
  }
}

const UNREADABLE = 'The secret can no longer be decrypted. Remove the webhook and add it again.';

/** The same bytes at every attempt. The data is JSON already, with amounts that a number could not hold. */
function bodyOf({ type, createdMs, dataJson }: Delivery): string {
  return `{"type":${stringifyJson(type)},"timestamp":"${new Date(createdMs).toISOString()}","data":${dataJson}}`;
}
