import { EVENT_PREFIX } from '../canonical/id-prefixes.ts';
import { listView } from '../operator/view.ts';
import { deliveryView, webhookInput, webhookRotation, webhookView } from '../operator/webhooks.ts';
import type { WebhookTargets } from '../webhooks/targets.ts';
import { readFields, refuseFields } from './body-fields.ts';
import { type AuditTerms, auditOfCaller } from './caller-audit.ts';
import { ok } from './plain-response.ts';
import { readAfter, readLimit, readQuery } from './query-parameters.ts';
import { routesOver } from './route-list.ts';
import type { PlainRequest, PlainResponse, Route } from './routes.ts';

export interface WebhookRouteServices extends AuditTerms {
  readonly targets: WebhookTargets;
}

const PUT_BODY = webhookInput.omit({ account: true, name: true });
const ROTATE_BODY = webhookRotation.omit({ account: true, name: true });
const DELIVERIES_USUAL = 20;

/** The webhooks of the caller's account. All of them need the permission, because a URL may be a secret in itself. */
export function webhookRoutes(services: WebhookRouteServices): Route[] {
  const route = routesOver(services, { permission: 'webhooks' });
  return [
    route('GET', '/webhooks', list),
    route('GET', '/webhooks/*/deliveries', deliveries),
    route('GET', '/webhooks/*', show),
    route('PUT', '/webhooks/*', put),
    route('POST', '/webhooks/*/rotate', rotate),
    route('POST', '/webhooks/*/test', test),
    route('DELETE', '/webhooks/*', remove),
  ];
}

async function list({ targets }: WebhookRouteServices, { caller }: PlainRequest): Promise<PlainResponse> {
  const shown = await targets.list(caller.accountId);
  return ok({ object: 'list', data: shown.map(webhookView) });
}

async function show({ targets }: WebhookRouteServices, { caller, param }: PlainRequest): Promise<PlainResponse> {
  return ok(webhookView(await targets.find(caller.accountId, param)));
}

async function put(services: WebhookRouteServices, request: PlainRequest): Promise<PlainResponse> {
  const terms = { name: request.param, ...readFields(PUT_BODY, request.body) };
  const audit = auditOfCaller(services, request);
  const { secret, ...shown } = await services.targets.put(request.caller.accountId, terms, audit);
  const view = { ...webhookView(shown), secret: secret?.reveal() ?? null };
  return { ...ok(view), status: secret === null ? 200 : 201 };
}

async function rotate(services: WebhookRouteServices, request: PlainRequest): Promise<PlainResponse> {
  const { caller, param, body } = request;
  const { grace_seconds } = readFields(ROTATE_BODY, body);
  const audit = auditOfCaller(services, request);
  const { secret, ...shown } = await services.targets.rotate(caller.accountId, param, grace_seconds * 1000, audit);
  return ok({ ...webhookView(shown), secret: secret.reveal() });
}

async function test(services: WebhookRouteServices, request: PlainRequest): Promise<PlainResponse> {
  const { caller, param, body } = request;
  refuseFields(body);
  const delivery = await services.targets.test(caller.accountId, param, auditOfCaller(services, request));
  return { ...ok(deliveryView(delivery)), status: 202 };
}

async function deliveries({ targets }: WebhookRouteServices, request: PlainRequest): Promise<PlainResponse> {
  const query = readQuery(request.query, ['limit', 'after']);
  const limit = readLimit(query, DELIVERIES_USUAL);
  const before = readAfter(query, EVENT_PREFIX, `must be the id of a delivery, like ${EVENT_PREFIX}…`);
  const rows = await targets.deliveries(request.caller.accountId, request.param, { before, limit });
  return ok(listView(rows.map(deliveryView), limit));
}

async function remove(services: WebhookRouteServices, request: PlainRequest): Promise<PlainResponse> {
  const { caller, param } = request;
  await services.targets.remove(caller.accountId, param, auditOfCaller(services, request));
  return ok({ object: 'webhook', name: param, status: 'removed', deleted: true });
}
