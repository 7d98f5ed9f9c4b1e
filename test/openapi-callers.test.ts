import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PUBLIC_BODIES } from '../src/manage/openapi/public-bodies.ts';
import { PUBLIC_ANSWERS } from '../src/manage/openapi/public-responses.ts';
import { type Harness, startHarness } from './harness.ts';
import { type Document, type Matchers, operationsOf, schemasOf } from './openapi/response-schemas.ts';

/** What /openapi.json says about the routes of callers, compared with what they answer. */

let harness: Harness;
let document: Document;
let matchers: Matchers;
const CHAT = '/v1/chat/completions';
const BODY = { model: 'sim-gpt-mini', messages: [{ role: 'user', content: 'Hello' }] };
const LINE = { custom_id: 'a', method: 'POST', url: CHAT, body: BODY };
const later = new Date(Date.now() + 3_600_000).toISOString();

beforeAll(async () => {
  harness = await startHarness();
  document = (await (await harness.get('/openapi.json')).json()) as Document;
  matchers = schemasOf(document);
});
afterAll(() => harness.stop());

/** Sends a request, and compares status and body with the description of its route. */
async function call(operationId: string, path: string, body?: object | string): Promise<Record<string, unknown>> {
  const { method, operation } = operationsOf(document).find((each) => each.operation.operationId === operationId)!;
  const type = typeof body === 'string' ? 'application/jsonl' : 'application/json';
  const response = await fetch(harness.url + path, {
    method: method.toUpperCase(),
    ...(body !== undefined && {
      headers: { 'content-type': type },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    }),
  });
  if (typeof body === 'object') expectBody(operationId, body, true);
  const { status } = response;
  const described = Object.keys(operation.responses[status]?.content ?? {});
  const [sent] = response.headers.get('content-type')!.split(';');
  expect(described, `${operationId} ${status} ${sent}`).toContain(sent);
  const text = await response.text();
  if (sent !== 'application/json') return {};
  const answer = JSON.parse(text) as Record<string, unknown>;
  const matches = matchers.get(`${operationId} ${status}`)!;
  expect(matches(answer) ? [] : matches.errors, operationId).toEqual([]);
  called.add(operationId);
  return answer;
}

const called = new Set<string>();

function expectBody(operationId: string, body: object, isDescribed: boolean): void {
  const matches = matchers.get(`${operationId} request`)!;
  expect(matches(body), `${operationId} ${JSON.stringify(body)}: ${JSON.stringify(matches.errors)}`).toBe(isDescribed);
}

describe('responses of callers have the status, type and members that are described', () => {
  test('for deferred jobs', async () => {
    const job = await call('submitJob', '/v1/jobs', { endpoint: CHAT, body: BODY, metadata: { run: 'x' } });
    await call('job', `/v1/jobs/${job.id}?wait=20`);
    await call('jobResult', `/v1/jobs/${job.id}/result`);
    await call('removeJob', `/v1/jobs/${job.id}`);
    const waiting = await call('submitJob', '/v1/jobs', { endpoint: CHAT, body: BODY, not_before: later });
    await call('cancelJob', `/v1/jobs/${waiting.id}/cancel`);
    await call('jobs', '/v1/jobs?limit=1');
  });

  test('for groups, as JSON and as JSON Lines', async () => {
    await call('submitJobGroup', '/v1/jobs/groups', { requests: [LINE], not_before: later });
    const group = await call('submitJobGroup', '/v1/jobs/groups?result_ttl_seconds=60', `${JSON.stringify(LINE)}\n`);
    await call('cancelJobGroup', `/v1/jobs/groups/${group.id}/cancel`);
    await call('jobGroup', `/v1/jobs/groups/${group.id}`);
    await call('jobGroups', '/v1/jobs/groups?limit=1');
    const { data } = await call('jobs', `/v1/jobs?group=${group.id}`);
    for (const { id } of data as { id: string }[]) await call('job', `/v1/jobs/${id}?wait=20`);
    await call('jobGroupResults', `/v1/jobs/groups/${group.id}/results`);
  });

  test('for webhooks', async () => {
    const webhook = { url: 'http://127.0.0.1:2/hook', events: ['job.*'] };
    expect(await call('putWebhook', '/v1/webhooks/mine', webhook)).toMatchObject({ secret: expect.any(String) });
    expect(await call('putWebhook', '/v1/webhooks/mine', webhook)).toMatchObject({ secret: null });
    await call('webhooks', '/v1/webhooks');
    await call('webhook', '/v1/webhooks/mine');
    await call('rotateWebhook', '/v1/webhooks/mine/rotate');
    await call('rotateWebhook', '/v1/webhooks/mine/rotate', { grace_seconds: 60 });
    await call('testWebhook', '/v1/webhooks/mine/test');
    await call('webhookDeliveries', '/v1/webhooks/mine/deliveries?limit=1');
    await call('removeWebhook', '/v1/webhooks/mine');
  });

  test('for money, receipts and usage', async () => {
    await call('quote', '/v1/quote', { path: CHAT, body: BODY });
    const { headers } = await harness.post(BODY);
    const id = headers.get('x-gateway-request-id');
    await call('balance', '/v1/balance');
    await call('receipts', '/v1/receipts?limit=1');
    await call('receipt', `/v1/receipts/${id}`);
    await call('receipt', `/v1/receipts/${id}?signed=true`);
    await call('receiptRefunds', `/v1/receipts/${id}/refunds`);
    await call('usage', '/v1/usage?group_by=model');
    await call('storedKeys', '/v1/keys');
  });

  test('for models and their prices', async () => {
    await call('catalog', '/v1/catalog');
    await call('models', '/v1/models');
    expect(await call('model', '/v1/models/sim-embed')).toMatchObject({ embedding: expect.anything() });
  });

  test('for every route that is described', () => {
    // Storing a provider key asks the provider; test/custody-hosted.test.ts does that.
    const needProvider = ['storedKey', 'storeKey', 'removeStoredKey'];
    const missing = Object.keys(PUBLIC_ANSWERS).filter((id) => !called.has(id) && !needProvider.includes(id));
    expect(missing).toEqual([]);
  });
});

test('submissions and quotes name the headers that they read', () => {
  const headersOf = (id: string) => {
    const { operation } = operationsOf(document).find((each) => each.operation.operationId === id)!;
    const { parameters = [] } = operation as { parameters?: { $ref?: string }[] };
    return parameters.flatMap(({ $ref }) => $ref?.split('/').at(-1) ?? []);
  };
  for (const id of ['submitJob', 'submitJobGroup'])
    expect(headersOf(id)).toEqual(expect.arrayContaining(['idempotency-key', 'x-gateway-max-cost-nanousd']));
  expect(headersOf('quote')).toEqual(['x-gateway-max-cost-nanousd', 'x-gateway-on-unsupported']);
});

describe('bodies of requests that are our own', () => {
  const job = { endpoint: CHAT, body: BODY };
  const group = { requests: [LINE] };
  const terms = { not_before: later, result_ttl_seconds: 60, on_unknown: 'retry', metadata: { run: 'x' } };
  const webhook = { url: 'http://127.0.0.1:2/hook' };

  test.each<[string, string, object]>([
    ['submitJob', '/v1/jobs', { ...job, ...terms, custom_id: 'a', webhook: null }],
    ['submitJobGroup', '/v1/jobs/groups', { ...group, ...terms, expires_at: null }],
    ['putWebhook', '/v1/webhooks/described', webhook],
    ['quote', '/v1/quote', { path: CHAT, body: BODY }],
  ])('are accepted as they are described: %s', async (id, path, body) => void (await call(id, path, body)));

  test.each<[string, string, object]>([
    ['submitJob', '/v1/jobs', { ...job, endpoints: CHAT }],
    ['submitJob', '/v1/jobs', { endpoint: CHAT }],
    ['submitJob', '/v1/jobs', { ...job, on_unknown: 'ignore' }],
    ['submitJob', '/v1/jobs', { ...job, result_ttl_seconds: 0 }],
    ['submitJobGroup', '/v1/jobs/groups', { requests: [] }],
    ['submitJobGroup', '/v1/jobs/groups', { requests: [{ ...LINE, method: 'GET' }] }],
    ['putWebhook', '/v1/webhooks/described', { ...webhook, name: 'x' }],
    ['quote', '/v1/quote', { path: CHAT }],
    ['storeKey', '/v1/keys/azure', { api_key: 'x', base_url: 'https://a.example/openai/v1', deployments: [] }],
  ])('are refused unless they are as described: %s %s %j', async (id, path, body) => {
    expectBody(id, body, false);
    const { method } = operationsOf(document).find((each) => each.operation.operationId === id)!;
    const init = { method: method.toUpperCase(), headers: { 'content-type': 'application/json' } };
    const response = await fetch(harness.url + path, { ...init, body: JSON.stringify(body) });
    expect(response.status).toBe(400);
  });

  test.each(Object.entries(PUBLIC_BODIES))('have an example that is as described: %s', (id, { example }) =>
    expectBody(id, example, true),
  );

  test('are described for every route that has one', () => {
    const free = operationsOf(document).flatMap(({ path, operation: { operationId, requestBody } }) => {
      const isOwn = path.startsWith('/v1/') && requestBody !== undefined && !(operationId in PUBLIC_BODIES);
      return isOwn ? [operationId] : [];
    });
    const vendors = ['chat', 'messages', 'responses', 'completions', 'embeddings', 'systemone', 'decisions'];
    expect(free.toSorted()).toEqual([...vendors, 'countMessageTokens', 'countResponseTokens'].toSorted());
  });
});
