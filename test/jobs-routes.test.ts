import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ModelRow } from '../src/catalog/schema.ts';
import { LIMITS } from '../src/limits.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';
import { batchLine, CHAT, chatBody, JobCaller } from './job-caller.ts';
import { enrol } from './people.ts';

let harness: Harness;
let key: MintedKey;
let caller: JobCaller;

beforeAll(async () => {
  harness = await startHarness({ hosted: true });
  key = await harness.mint();
  caller = new JobCaller(harness, key.secret);
});
afterAll(() => harness.stop());

const job = (more: object = {}) => ({ endpoint: CHAT, body: chatBody('Hello'), ...more });
const later = () => new Date(Date.now() + 3_600_000).toISOString();

describe('a job', () => {
  test('is accepted with 202 and its place, and its result is the answer that the call would have had', async () => {
    const accepted = await caller.ask('POST', '', job({ custom_id: 'mine', metadata: { run: 'nightly' } }));
    expect(accepted.status).toBe(202);
    expect(accepted.headers.get('location')).toBe(`/v1/jobs/${accepted.body.id}`);
    expect(accepted.body).toMatchObject({
      id: expect.stringMatching(/^job_[0-9a-z]{13}$/),
      object: 'job',
      endpoint: CHAT,
      requested_model: 'sim-gpt-mini',
      custom_id: 'mine',
      metadata: { run: 'nightly' },
      cost_nanousd: null,
      group: null,
    });
    const ended = await caller.ended(accepted.body.id as string);
    expect(ended).toMatchObject({ status: 'succeeded', attempts: 1, reserved_nanousd: 0, error: null });
    const direct = await harness.post(chatBody('Hello'), { authorization: `Bearer ${key.secret}` });
    const answer = (await direct.json()) as Record<string, unknown>;
    const result = await caller.ask('GET', `/${ended.id}/result`);
    expect(result.status).toBe(200);
    expect(Object.keys(result.body).toSorted()).toEqual(Object.keys(answer).toSorted());
    expect(result.headers.get('x-gateway-request-id')).toBe(ended.request_id);
    expect(result.headers.get('x-gateway-cost-nanousd')).toBe(String(ended.cost_nanousd));
    expect(direct.headers.get('x-gateway-cost-nanousd')).toBe(String(ended.cost_nanousd));
    expect(await harness.receipt(ended.request_id as string, key.secret)).toMatchObject({
      status: 'settled',
      cost_nanousd: ended.cost_nanousd,
    });
  });

  test('has a large result that can be read any number of times, also by clients that leave', async () => {
    const input = Array.from({ length: 1_500 }, (_, at) => `text ${at}`);
    const id = await caller.submit({ endpoint: '/v1/embeddings', body: { model: 'sim-embed', input } });
    await caller.ended(id);
    const headers = { authorization: `Bearer ${key.secret}` };
    const read = (signal: AbortSignal | null = null) =>
      fetch(`${harness.url}/v1/jobs/${id}/result`, { headers, signal });
    const { byteLength } = await (await read()).arrayBuffer();
    for (let sent = 0; sent <= LIMITS.bodiesBytesPerKeyMax; sent += 2 * byteLength) {
      const leaving = new AbortController();
      expect((await read(leaving.signal)).status).toBe(200);
      leaving.abort();
      expect((await (await read()).arrayBuffer()).byteLength).toBe(byteLength);
    }
  });

  test('is waited for with one request', async () => {
    const id = await caller.submit(job());
    const { status, body } = await caller.ask('GET', `/${id}?wait=30`);
    expect([status, body.status]).toEqual([200, 'succeeded']);
  });

  test('is accepted once under one idempotency key', async () => {
    const headers = { 'idempotency-key': 'job-once' };
    const first = await caller.ask('POST', '', job(), headers);
    const again = await caller.ask('POST', '', job(), headers);
    expect([again.status, again.body.id]).toEqual([202, first.body.id]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    const other = await caller.ask('POST', '', job({ custom_id: 'other' }), headers);
    expect([other.status, other.body]).toMatchObject([422, { error: { code: 'idempotency_mismatch' } }]);
  });

  test('that waits has no result, and is cancelled at once', async () => {
    const id = await caller.submit(job({ not_before: later() }));
    expect((await caller.ask('GET', `/${id}`)).body).toMatchObject({ status: 'scheduled', finished_at: null });
    const early = await caller.ask('GET', `/${id}/result`);
    expect([early.status, early.body]).toMatchObject([409, { error: { code: 'job_not_finished' } }]);
    expect((await caller.ask('DELETE', `/${id}`)).body).toMatchObject({ error: { code: 'job_not_finished' } });
    const cancelled = await caller.ask('POST', `/${id}/cancel`);
    expect([cancelled.status, cancelled.body]).toMatchObject([200, { status: 'cancelled', cost_nanousd: 0 }]);
    const none = await caller.ask('GET', `/${id}/result`);
    expect([none.status, none.body]).toMatchObject([409, { error: { code: 'job_has_no_result' } }]);
    expect((await caller.ask('POST', `/${id}/cancel`)).body).toMatchObject({ status: 'cancelled' });
  });

  test('is not cancelled by a request that says more than that', async () => {
    const group = await caller.submitLines([batchLine('one')], `?not_before=${encodeURIComponent(later())}`);
    const id = await caller.submit(job({ not_before: later() }));
    for (const place of [`/${id}`, `/groups/${group}`]) {
      const refused = await caller.ask('POST', `${place}/cancel`, { after_seconds: 60 });
      expect([refused.status, refused.body]).toMatchObject([
        400,
        { error: { code: 'unsupported_parameter', param: 'after_seconds' } },
      ]);
      const queried = await caller.ask('POST', `${place}/cancel?reason=late`);
      expect([queried.status, queried.body]).toMatchObject([400, { error: { param: 'reason' } }]);
      expect((await caller.ask('POST', `${place}/cancel`, [])).body).toMatchObject({
        error: { code: 'invalid_request_body' },
      });
      expect((await caller.ask('GET', place)).body.finished_at).toBeNull();
      expect((await caller.ask('POST', `${place}/cancel`, {})).status).toBe(200);
    }
    expect((await caller.ask('DELETE', `/${id}?now=true`)).body).toMatchObject({ error: { param: 'now' } });
  });

  test('has no result any more after it was deleted', async () => {
    const id = await caller.submit(job());
    await caller.ended(id);
    expect((await caller.ask('DELETE', `/${id}`)).status).toBe(200);
    const gone = await caller.ask('GET', `/${id}/result`);
    expect([gone.status, gone.body]).toMatchObject([410, { error: { code: 'result_expired' } }]);
    expect((await caller.ask('GET', `/${id}`)).body).toMatchObject({ status: 'succeeded' });
  });

  test('that was cancelled has no result at any time, and none that was deleted', async () => {
    const id = await caller.submit(job({ not_before: later() }));
    await caller.ask('POST', `/${id}/cancel`, {});
    const noResult = [409, { error: { code: 'job_has_no_result' } }];
    const before = await caller.ask('GET', `/${id}/result`);
    expect([before.status, before.body]).toMatchObject(noResult);
    expect((await caller.ask('DELETE', `/${id}`)).status).toBe(200);
    const after = await caller.ask('GET', `/${id}/result`);
    expect([after.status, after.body]).toMatchObject(noResult);
  });

  test('that its host refuses keeps the status and the error of its call', async () => {
    harness.sim.script({ status: 400 }, { times: 1 });
    const id = await caller.submit(job());
    expect(await caller.ended(id)).toMatchObject({
      status: 'failed',
      cost_nanousd: 0,
      error: { code: expect.any(String) },
    });
    expect((await caller.ask('GET', `/${id}/result`)).status).toBe(400);
  });
});

describe('lists', () => {
  test('have jobs by status, newest first, page by page', async () => {
    const mine = new JobCaller(harness, (await harness.mint()).secret);
    const ids: string[] = [];
    for (let at = 0; at < 3; at++) ids.unshift(await mine.submit(job({ not_before: later(), custom_id: `c${at}` })));
    const { body } = await mine.ask('GET', '?status=scheduled&limit=2');
    const rows = body.data as { id: string }[];
    expect(rows.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    const next = await mine.ask('GET', `?limit=2&after=${body.next}`);
    expect((next.body.data as { id: string }[]).map(({ id }) => id)).toEqual(ids.slice(2));
    expect([body.has_more, next.body.has_more]).toEqual([true, false]);
    expect((await mine.ask('GET', '?status=running')).body.data).toEqual([]);
  });

  test.each([
    ['?status=done', 'status'],
    ['?group=job_1', 'group'],
    ['?after=x', 'after'],
    ['?limit=0', 'limit'],
    ['?state=queued', 'state'],
    ['/job_0000000000000?wait=31', 'wait'],
  ])('refuse %s by the name of the parameter', async (query, param) => {
    const { status, body } = await caller.ask('GET', query);
    expect([status, body]).toMatchObject([400, { error: { param } }]);
  });
});

describe('who sees a job', () => {
  const paths = (id: string, group: string): [string, string][] => [
    ['GET', `/${id}`],
    ['GET', `/${id}?wait=1`],
    ['GET', `/${id}/result`],
    ['POST', `/${id}/cancel`],
    ['DELETE', `/${id}`],
    ['GET', `/groups/${group}`],
    ['GET', `/groups/${group}/results`],
    ['POST', `/groups/${group}/cancel`],
  ];

  test('another account, and another key of the account, get 404 for everything and empty lists', async () => {
    const id = await caller.submit(job());
    const group = await caller.submitLines([batchLine('a')]);
    for (const stranger of [await harness.mint(), await harness.mintFor(key.accountId)]) {
      const other = new JobCaller(harness, stranger.secret);
      for (const [method, path] of paths(id, group)) {
        const { status, body } = await other.ask(method, path);
        const code = path.startsWith('/groups') ? 'job_group_not_found' : 'job_not_found';
        expect([method, path, status, body]).toMatchObject([method, path, 404, { error: { code } }]);
      }
      expect((await other.ask('GET', '')).body.data).toEqual([]);
      expect((await other.ask('GET', '/groups')).body.data).toEqual([]);
    }
  });

  test.each([
    ['GET', '/nothing', 'The id of a job is like job_…'],
    ['GET', '/groups/nothing', 'The id of a group is like grp_…'],
    ['GET', '/grp_0k7q2xx9a6e3s', 'GET /v1/jobs?group={id} lists the jobs of the group.'],
    ['DELETE', '/groups/grp_0k7q2xx9a6e3s', 'GET /v1/jobs?group={id} lists the jobs of the group.'],
  ])('%s %s says where ids are found', async (method, path, words) => {
    const { status, body } = await caller.ask(method, path);
    expect([status, body]).toMatchObject([404, { error: { message: expect.stringContaining(words) } }]);
  });

  test('a key that may read the account sees it, but does not end it', async () => {
    const id = await caller.submit(job({ not_before: later() }));
    const reader = new JobCaller(
      harness,
      (await harness.mintFor(key.accountId, { permissions: ['account_read'] })).secret,
    );
    expect((await reader.ask('GET', `/${id}`)).status).toBe(200);
    for (const [method, path] of [
      ['POST', `/${id}/cancel`],
      ['DELETE', `/${id}`],
    ] as const) {
      const { status, body } = await reader.ask(method, path);
      expect([status, body]).toMatchObject([403, { error: { code: 'permission_denied' } }]);
    }
    expect((await caller.ask('GET', `/${id}`)).body).toMatchObject({ status: 'scheduled' });
  });

  test('another key of the same person sees it and may end it', async () => {
    const personId = await enrol(harness.running.books, 'ada@example.com', { roles: [[key.accountId, 'member']] });
    const one = await harness.mintFor(key.accountId, { personId });
    const two = await harness.mintFor(key.accountId, { personId });
    const id = await new JobCaller(harness, one.secret).submit(job({ not_before: later() }));
    const { status, body } = await new JobCaller(harness, two.secret).ask('POST', `/${id}/cancel`);
    expect([status, body]).toMatchObject([200, { status: 'cancelled' }]);
    expect((await caller.ask('GET', `/${id}`)).status).toBe(404);
  });

  test('nothing is reserved when all is over, and the books are exact', async () => {
    const rest = (await caller.ask('GET', '?status=scheduled')).body.data as { id: string }[];
    for (const { id } of rest) await caller.ask('POST', `/${id}/cancel`);
    await harness.settled();
    const balance = await harness.get('/v1/balance', { authorization: `Bearer ${key.secret}` });
    expect(await balance.json()).toMatchObject({ reserved_nanousd: 0, held_nanousd: 0 });
    await harness.expectCleanBooks();
  });
});

test('a job that could cost more than the ledger can hold is refused by the name of its output limit', async () => {
  const tokens = 10_000_000_000;
  const dear: ModelRow = {
    id: 'dear',
    caps: ['chat'],
    context_window: 1000,
    max_output_tokens: tokens,
    price: { input: 0, output: LIMITS.rateNanousdPerMillionMax },
    hosts: [{ host: 'sim', model: 'sim-gpt' }],
  };
  const other = await startHarness({ hosted: true, config: { models: [dear] } });
  const { secret } = await other.mint();
  const body = { ...chatBody('Hello'), model: 'dear', max_tokens: tokens };
  const refused = await new JobCaller(other, secret).ask('POST', '', job({ body }));
  expect(refused).toMatchObject({ status: 400, body: { error: { code: 'invalid_value', param: 'body.max_tokens' } } });
  await other.stop();
});
