import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { PROVIDER_ROWS } from '../src/custody/providers.ts';
import { type Clock, systemClock } from '../src/kit/clock.ts';
import { LIMITS } from '../src/limits.ts';
import { DEPLOYMENT, NO_DEPLOYMENT, startResource } from './cloud-resource.ts';
import { API_KEY, ASK, CustodyFixture, readRefusal } from './custody-fixture.ts';
import { until } from './until.ts';

/** How long a provider may take to verify a key; one test shortens it. All other times are real. */
let verificationMs: number = LIMITS.keyVerificationMs;
const clock: Clock = {
  nowMs: () => systemClock.nowMs(),
  monotonicMs: () => systemClock.monotonicMs(),
  after: (ms, run, options) => systemClock.after(ms === LIMITS.keyVerificationMs ? verificationMs : ms, run, options),
};
let custody: CustodyFixture;

beforeAll(async () => {
  custody = await CustodyFixture.start({ clock });
});
beforeEach(() => custody.renew());
afterAll(() => custody.stop());

describe('a stored key', () => {
  test('is verified by a list that takes too long to parse, without parsing it', async () => {
    custody.resource.answer = () => ({ status: 200, body: `[${'[],'.repeat(50_000)}` });
    expect((await custody.putKey()).status).toBe(200);
  });

  test('is verified at its resource, stored, listed, shown and removed', async () => {
    const put = await custody.putKey();
    const stored = (await put.json()) as Record<string, unknown>;
    expect([put.status, stored]).toEqual([
      200,
      {
        object: 'provider_key',
        provider: 'cloud',
        last_four: 'tail',
        base_url: custody.resource.baseUrl,
        status: 'verified',
        verified_at: expect.any(Number),
        created_at: expect.any(Number),
        rejected_at: null,
        last_used_at: null,
      },
    ]);
    expect(custody.resource.calls.map(({ method, path, headers }) => [method, path, headers['api-key']])).toEqual([
      ['GET', '/openai/v1/models', API_KEY],
    ]);
    expect(await (await custody.keys('GET', '')).json()).toEqual({ object: 'list', data: [stored] });
    expect(await (await custody.keys('GET')).json()).toEqual(stored);
    const removed = await custody.keys('DELETE');
    expect([removed.status, await removed.json()]).toEqual([
      200,
      { object: 'provider_key', provider: 'cloud', status: 'removed', deleted: true },
    ]);
    expect(await (await custody.keys('GET', '')).json()).toEqual({ object: 'list', data: [] });
  });

  test('is in the audit when it is stored and when it is removed, with the gateway key and the address that did it', async () => {
    await custody.putKey();
    await custody.keys('DELETE');
    expect((await custody.keys('DELETE')).status).toBe(404);
    const { store } = custody.harness.running.books;
    const { accountId, keyId: actorId } = custody.minted;
    const any = { actorId: null, action: null, subject: null, sinceMs: null, untilMs: null };
    const rows = await store.directory.listAudit({ ...any, accountId }, { before: null, limit: 2 });
    expect(rows).toMatchObject([
      { action: 'provider_key.remove', actorKind: 'gateway_key', actorId, address: '127.0.0.1' },
      { action: 'provider_key.put', actorKind: 'gateway_key', actorId, address: '127.0.0.1' },
    ]);
    expect(JSON.stringify(rows.map(({ after }) => after))).not.toContain(API_KEY);
  });

  test('can be replaced, and keeps the time at which the first one was stored', async () => {
    const first = (await (await custody.putKey()).json()) as { created_at: number };
    custody.resource.key = 'another-key-of-the-caller-new9';
    const second = await custody.putKey({
      api_key: custody.resource.key,
      base_url: `${custody.resource.baseUrl}/`,
    });
    expect(await second.json()).toMatchObject({
      last_four: 'new9',
      base_url: custody.resource.baseUrl,
      created_at: first.created_at,
    });
    expect((await custody.chat(DEPLOYMENT)).status).toBe(200);
  });

  test('belongs to the account: other keys of the account can use it, other accounts cannot', async () => {
    await custody.putKey();
    const stranger = await custody.harness.mint();
    expect(await readRefusal(await custody.keys('GET', '/cloud', undefined, stranger.secret))).toMatchObject({
      status: 404,
      code: 'provider_key_not_found',
    });
    expect((await custody.chat(DEPLOYMENT, {}, stranger.secret)).status).toBe(404);
    const sister = await custody.harness.mintFor(custody.minted.accountId);
    expect((await custody.keys('GET', '/cloud', undefined, sister.secret)).status).toBe(200);
    expect((await custody.chat(DEPLOYMENT, {}, sister.secret)).status).toBe(200);
  });

  test('works for the local account, without a gateway key', async () => {
    const put = await fetch(`${custody.harness.url}/v1/keys/cloud`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: API_KEY, base_url: custody.resource.baseUrl }),
    });
    expect(put.status).toBe(200);
    const answer = await custody.harness.post({ model: DEPLOYMENT, ...ASK });
    expect([answer.status, answer.headers.get('x-gateway-cost-nanousd')]).toEqual([200, '0']);
    await fetch(`${custody.harness.url}/v1/keys/cloud`, { method: 'DELETE' });
  });
});

describe('a stored key that the provider refuses', () => {
  const shown = async (): Promise<Record<string, unknown>> =>
    (await (await custody.keys('GET')).json()) as Record<string, unknown>;
  const shownAs = (status: string): Promise<void> =>
    until(async () => (await shown()).status === status, `the key is shown as ${status}`);

  beforeEach(async () => {
    await custody.putKey();
    expect((await custody.chat(DEPLOYMENT)).status).toBe(200);
    await until(async () => (await shown()).last_used_at !== null, 'the key was used');
    expect(await shown()).toMatchObject({ status: 'verified', rejected_at: null });
  });

  test.each([401, 403])('with %s is shown as rejected, until a call succeeds', async (status) => {
    custody.resource.answer = () => ({ status, body: '{}' });
    expect((await custody.chat(DEPLOYMENT)).status).toBe(422);
    await shownAs('rejected');
    const rejected = await shown();
    expect(rejected.rejected_at).toBe(rejected.last_used_at);
    expect(await (await custody.keys('GET', '')).json()).toEqual({ object: 'list', data: [rejected] });
    custody.resource.answer = () => NO_DEPLOYMENT;
    expect((await custody.chat(DEPLOYMENT)).status).toBe(404);
    expect((await shown()).status).toBe('rejected');
    custody.resource.answer = null;
    await (await custody.chat(DEPLOYMENT, { stream: true })).text();
    await shownAs('verified');
    expect((await shown()).rejected_at).toBeNull();
  });

  test('is verified again once a good one is stored', async () => {
    custody.resource.key = 'another-key-of-the-caller-new9';
    expect((await custody.chat(DEPLOYMENT)).status).toBe(422);
    await shownAs('rejected');
    await custody.putKey();
    expect(await shown()).toMatchObject({ status: 'verified', rejected_at: null, last_used_at: null });
  });
});

test('docs/custody.md names the fields of a stored key and the time limit of its verification', async () => {
  const page = readFileSync(new URL('../docs/custody.md', import.meta.url), 'utf8');
  const shown = /`\{object: "provider_key", ([^}]*)\}`/.exec(page)![1]!.split(', ');
  const stored = (await (await custody.putKey()).json()) as object;
  expect(Object.keys(stored)).toEqual(['object', ...shown]);
  expect(page).toContain(`more than ${LIMITS.keyVerificationMs / 1000} seconds`);
  for (const { slug, basePathEnd } of PROVIDER_ROWS) {
    expect(page).toContain(`PUT /v1/keys/${slug}`);
    expect(page).toContain(`\`${basePathEnd}\``);
  }
});

describe('nothing is stored', () => {
  async function expectNothingStored(): Promise<void> {
    expect((await custody.keys('GET')).status).toBe(404);
  }

  test('if the provider refuses the key', async () => {
    const refused = await readRefusal(await custody.putKey({ api_key: 'wrong-key-of-the-caller' }));
    expect(refused).toMatchObject({ status: 422, type: 'upstream_error', param: 'api_key' });
    expect(refused.message).toContain('"cloud" refused the key');
    await expectNothingStored();
  });

  test.each([
    ['at a path of no resource', (origin: string) => `${origin}/v1`, 'must end in /openai/v1'],
    ['with a query', (origin: string) => `${origin}/openai/v1?api-version=1`, 'must end in /openai/v1'],
    ['with its end in a query', (origin: string) => `${origin}/openai/v1?x=/openai/v1`, 'must end in /openai/v1'],
    ['that is malformed', () => 'my-resource', 'Not a URL'],
    ['with a user in it', (origin: string) => `${origin.replace('//', '//me:secret@')}/openai/v1`, 'user name'],
    ['of another scheme', () => 'ftp://files.example/openai/v1', 'https://'],
    ['without TLS', () => 'http://custody.resource.example/openai/v1', 'https://'],
    ['inside a network', () => 'https://10.0.0.1/openai/v1', 'cannot be called at this URL'],
    ['of the metadata service', () => 'https://169.254.169.254/openai/v1', 'cannot be called at this URL'],
  ])('for a URL %s', async (_, url, why) => {
    const refused = await readRefusal(await custody.putKey({ base_url: url(custody.resource.origin) }));
    expect(refused).toMatchObject({ status: 422, type: 'upstream_error', param: 'base_url' });
    expect(refused.message).toContain('"cloud"');
    expect(refused.message).toContain(why);
    expect(custody.resource.calls).toHaveLength(0);
    await expectNothingStored();
  });

  test('for a URL that leads to this gateway itself', async () => {
    const refused = await readRefusal(await custody.putKey({ base_url: `${custody.harness.url}/openai/v1` }));
    expect(refused).toMatchObject({ status: 422, param: 'base_url' });
    expect(refused.message).toContain('this gateway itself');
  });

  test('if nothing answers at the URL', async () => {
    const gone = await startResource(API_KEY);
    await gone.close();
    const refused = await readRefusal(await custody.putKey({ base_url: gone.baseUrl }));
    expect(refused).toMatchObject({ status: 422, type: 'upstream_error' });
    expect(refused.message).toContain('cannot be reached');
    await expectNothingStored();
  });

  test('if the answer takes too long, and the message says that this is inconclusive', async () => {
    custody.resource.answer = () => 'hang';
    verificationMs = 50;
    const refused = await readRefusal(await custody.putKey());
    verificationMs = LIMITS.keyVerificationMs;
    expect(refused).toMatchObject({ status: 422, type: 'upstream_error' });
    expect(refused.message).toContain('inconclusive');
    await expectNothingStored();
  });

  test.each([
    ['a redirect', { status: 307, headers: { location: 'http://127.0.0.1/' }, body: '' }, 'redirect'],
    ['nothing there', { status: 404, body: '{}' }, 'Check `base_url`'],
    ['a failure', { status: 500, body: '{}' }, 'could not be verified'],
    ['a limit', { status: 429, body: '{}' }, 'could not be verified'],
    ['an HTML page', { status: 200, body: '<html>welcome</html>' }, 'other than a list of models'],
    ['a long text', { status: 200, body: `"${'[],'.repeat(50_000)}"` }, 'other than a list of models'],
  ])('if the provider answers with %s', async (_, answer, why) => {
    custody.resource.answer = () => answer;
    const refused = await readRefusal(await custody.putKey());
    expect(refused).toMatchObject({ status: 422, type: 'upstream_error' });
    expect(refused.message).toContain(why);
    expect(custody.resource.calls).toHaveLength(1);
    await expectNothingStored();
  });

  test('if the retired field is sent, and the error names it', async () => {
    const refused = await readRefusal(await custody.putKey({ deployments: [DEPLOYMENT] }));
    expect(refused).toMatchObject({ status: 400, code: 'unsupported_parameter', param: 'deployments' });
    expect(refused.message).toContain('retired');
    expect(custody.resource.calls).toHaveLength(0);
    await expectNothingStored();
  });

  test.each([
    ['no body', '', 400, null],
    ['no object', '[]', 400, null],
    ['no JSON', '{"api_key":', 400, 'api_key'],
    ['no key', { base_url: 'https://x.example/openai/v1' }, 400, 'api_key'],
    ['an empty key', { api_key: '', base_url: 'https://x.example/openai/v1' }, 400, 'api_key'],
    ['a key of two lines', { api_key: 'a\nb', base_url: 'https://x.example/openai/v1' }, 400, 'api_key'],
    ['an invalid key', { api_key: 7, base_url: 'https://x.example/openai/v1' }, 400, 'api_key'],
    ['no URL', { api_key: API_KEY }, 400, 'base_url'],
    ['an unknown field', { api_key: API_KEY, base_url: 'https://x.example/openai/v1', name: 'x' }, 400, 'name'],
    ['a key twice', '{"api_key":"a","api_key":"b","base_url":"c"}', 400, 'api_key'],
  ])('for %s', async (_, body, status, param) => {
    expect(await readRefusal(await custody.keys('PUT', '/cloud', body))).toMatchObject({ status, param });
  });

  test('for an unknown provider, or a body that is too large', async () => {
    const body = { api_key: API_KEY, base_url: custody.resource.baseUrl };
    expect(await readRefusal(await custody.keys('PUT', '/elsewhere', body))).toMatchObject({
      status: 400,
      param: 'provider',
    });
    const large = { api_key: 'x'.repeat(70_000), base_url: custody.resource.baseUrl };
    const refused = await readRefusal(await custody.keys('PUT', '/cloud', large));
    expect(refused).toMatchObject({ status: 413, code: 'request_too_large' });
    expect(refused.message).toContain('65536');
  });

  test('and GET and DELETE answer 404 if no key is stored', async () => {
    for (const method of ['GET', 'DELETE']) {
      for (const path of ['/cloud', '/elsewhere', '/cloud/more']) {
        expect(await readRefusal(await custody.keys(method, path))).toMatchObject({
          status: 404,
          code: 'provider_key_not_found',
        });
      }
    }
  });
});
