import { z } from 'zod';
import { EVENT_PREFIX } from '../../canonical/id-prefixes.ts';
import { DELIVERY_STATES, type DeliveryView, type NewWebhookView, type WebhookView } from '../../operator/webhooks.ts';
import { OWNER, route } from '../route.ts';
import { count, EXAMPLE_IDS, EXAMPLE_TIME, exampleList, id, listOf, seconds } from '../schema-fields.ts';

const fields = {
  object: z.literal('webhook'),
  name: z.string(),
  account: z.string().nullable().describe('Null if it belongs to the operator.'),
  url: z.string(),
  events: z.array(z.string()).readonly().nullable().describe('Null for all events.'),
  status: z
    .enum(['active', 'retrying', 'failing'])
    .describe('`retrying`: the last attempt failed. `failing`: a delivery was given up, and none has succeeded since.'),
  created: seconds,
  last_delivered_at: seconds.nullable(),
  failing_since: seconds.nullable(),
  pending: count.describe('Deliveries that wait.'),
  dropped: count.describe('Events that were not stored because too many waited.'),
  old_secret_expires_at: seconds.nullable().describe('Until when the previous secret also signs.'),
};

export const webhook = z.object(fields).meta({ id: 'Webhook' });
export const newWebhook = z
  .object({ ...fields, secret: z.string().nullable().describe('Shown only when it is new; otherwise null.') })
  .meta({ id: 'NewWebhook' });

export const delivery = z
  .object({
    object: z.literal('webhook_delivery'),
    id: id(EVENT_PREFIX).describe('The id of the event, which is the header `webhook-id`.'),
    type: z.string(),
    status: z.enum(DELIVERY_STATES),
    attempts: count,
    created: seconds,
    last_attempt_at: seconds.nullable(),
    next_attempt_at: seconds.nullable(),
    http_status: z.int().nullable().describe('Null if the receiver did not answer.'),
    error: z.string().nullable(),
  })
  .meta({ id: 'WebhookDelivery' });

const removed = z.object({ object: z.literal('webhook'), name: z.string(), status: z.literal('removed') });

const URL = 'https://hooks.example.com/tollgate';

const WEBHOOK: WebhookView = {
  object: 'webhook',
  name: 'billing',
  account: EXAMPLE_IDS.account,
  url: URL,
  events: null,
  status: 'active',
  created: EXAMPLE_TIME,
  last_delivered_at: null,
  failing_since: null,
  pending: 0,
  dropped: 0,
  old_secret_expires_at: null,
};
const NEW: NewWebhookView = { ...WEBHOOK, secret: 'whsec_bm90IGEgcmVhbCBzZWNyZXQsIG9ubHkgYW4gZXhhbXBsZQ==' };
const DELIVERY: DeliveryView = {
  object: 'webhook_delivery',
  id: EXAMPLE_IDS.event,
  type: 'webhook.test',
  status: 'pending',
  attempts: 0,
  created: EXAMPLE_TIME,
  last_attempt_at: null,
  next_attempt_at: EXAMPLE_TIME,
  http_status: null,
  error: null,
};
const CHOICE = { account: 'acme', name: 'billing' };

/** With `account`, the webhooks of an account; without, those of the operator. */
export const WEBHOOKS_ROUTES = [
  route({
    method: 'GET',
    path: '/webhooks',
    verb: 'webhooks.list',
    access: OWNER,
    scope: 'account',
    summary: 'The webhooks of an account, or without `account` those of the operator.',
    response: listOf(webhook),
    example: { input: { account: 'acme' }, output: exampleList(WEBHOOK) },
  }),
  route({
    method: 'PUT',
    path: '/webhooks/{name}',
    verb: 'webhooks.put',
    access: OWNER,
    scope: 'account',
    summary: 'Creates a webhook and shows its secret once, or changes URL and events of the one with this name.',
    response: newWebhook,
    example: { input: { ...CHOICE, url: URL }, output: NEW },
  }),
  route({
    method: 'GET',
    path: '/webhooks/{name}',
    verb: 'webhooks.show',
    access: OWNER,
    scope: 'account',
    summary: 'One webhook.',
    response: webhook,
    example: { input: CHOICE, output: WEBHOOK },
  }),
  route({
    method: 'POST',
    path: '/webhooks/{name}/rotate',
    verb: 'webhooks.rotate',
    access: OWNER,
    scope: 'account',
    summary: 'Makes a new secret and shows it once; the old one also signs until the end of the grace period.',
    response: newWebhook,
    example: {
      input: { ...CHOICE, grace_seconds: 3600 },
      output: { ...NEW, old_secret_expires_at: EXAMPLE_TIME + 3600 },
    },
  }),
  route({
    method: 'POST',
    path: '/webhooks/{name}/test',
    verb: 'webhooks.test',
    access: OWNER,
    scope: 'account',
    summary: 'Sends a test event, which is delivered like any other; the list of deliveries shows the result.',
    response: delivery,
    example: { input: CHOICE, output: DELIVERY },
  }),
  route({
    method: 'GET',
    path: '/webhooks/{name}/deliveries',
    verb: 'webhooks.deliveries',
    access: OWNER,
    scope: 'account',
    summary: 'The deliveries that wait and the last finished ones, the newest first.',
    response: listOf(delivery),
    example: { input: CHOICE, output: exampleList(DELIVERY) },
  }),
  route({
    method: 'DELETE',
    path: '/webhooks/{name}',
    verb: 'webhooks.remove',
    access: OWNER,
    scope: 'account',
    summary: 'Removes a webhook with its secrets and deliveries.',
    response: removed,
    example: { input: CHOICE, output: { object: 'webhook', name: 'billing', status: 'removed' } },
  }),
];
