import type { NoticeMetrics } from '../http/notice-metrics.ts';
import type { Clock } from '../kit/clock.ts';
import { errorFields, type Log } from '../kit/log.ts';
import { type DeliveryAttempt, WebhookDeliverer } from '../webhooks/deliverer.ts';
import { eventName, WebhookTargets } from '../webhooks/targets.ts';
import type { Books } from './books.ts';
import type { Entrusted } from './custody.ts';

export interface WebhookParts {
  readonly books: Pick<Books, 'store' | 'ids'>;
  readonly entrusted: Pick<Entrusted, 'keyring' | 'egress'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: NoticeMetrics;
}

export interface Webhooks {
  readonly targets: WebhookTargets;
  readonly deliverer: WebhookDeliverer;
}

/** The webhooks, and what delivers their events in a running server. */
export function openWebhooks({ books, entrusted, clock, log, metrics }: WebhookParts): Webhooks {
  const store = books.store.directory;
  const { sealer } = entrusted.keyring;
  const { egress } = entrusted;
  const deliverer = new WebhookDeliverer({
    store,
    sealer,
    egress,
    clock,
    random: Math.random,
    onAttempt: (attempt) => {
      metrics.webhookAttempt(OUTCOMES[attempt.outcome.state]);
      logAttempt(log, attempt);
    },
    onError: (error) => log.warn(errorFields(error), 'Webhook deliveries cannot be read or written; they are retried.'),
  });
  const targets = new WebhookTargets({ store, sealer, egress, clock, ids: books.ids, nudge: () => deliverer.nudge() });
  return { targets, deliverer };
}

const OUTCOMES = { delivered: 'delivered', pending: 'retried', failed: 'given_up' } as const;

/** The URL is left out: it may be a secret of the receiver's. */
function logAttempt(log: Log, { webhook, delivery, outcome }: DeliveryAttempt): void {
  const { name: webhookName, accountId } = webhook;
  const fields = {
    webhook: webhookName,
    account_id: accountId === null ? null : String(accountId),
    event: eventName(delivery.eventId),
    type: delivery.type,
    attempt: delivery.attempts + 1,
    status: outcome.httpStatus,
  };
  if (outcome.state === 'delivered') log.debug(fields, 'Webhook delivered.');
  else if (outcome.state === 'failed') log.error({ ...fields, reason: outcome.error }, 'Webhook delivery given up.');
  else log.warn({ ...fields, reason: outcome.error }, 'Webhook delivery failed. Tollgate will try again.');
}
