import { afterAll, beforeAll, expect, test } from 'vitest';
import { ACCOUNT_PREFIX } from '../src/canonical/id-prefixes.ts';
import { formatId } from '../src/kit/ids.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';
import { enrol, openSession, PUBLIC_URL } from './people.ts';

/** What owners and members may do after signing in, beyond the matrix of routes. */

let harness: Harness;
let shared: MintedKey;
let account: string;
let otherAccount: string;
const cookies: Record<string, string> = {};

beforeAll(async () => {
  harness = await startHarness({ hosted: true, config: { publicUrl: PUBLIC_URL } });
  const { books } = harness.running;
  shared = await harness.mint();
  const other = await harness.mint();
  account = formatId(ACCOUNT_PREFIX, shared.accountId);
  otherAccount = formatId(ACCOUNT_PREFIX, other.accountId);
  for (const [name, role, accountId] of [
    ['owner', 'owner', shared.accountId],
    ['member', 'member', shared.accountId],
    ['colleague', 'member', shared.accountId],
    ['stranger', 'owner', other.accountId],
  ] as const)
    cookies[name] = await openSession(books, await enrol(books, `${name}@example.com`, { roles: [[accountId, role]] }));
  cookies.operator = await openSession(books, await enrol(books, 'operator@example.com', { isOperator: true }));
});
afterAll(() => harness.stop());

interface Answered {
  readonly status: number;
  readonly body: { readonly [name: string]: unknown; readonly data?: readonly Record<string, unknown>[] };
}

async function call(who: string, method: string, path: string, body?: object): Promise<Answered> {
  const response = await fetch(`${harness.url}/manage/v1${path}`, {
    method,
    headers: { cookie: cookies[who]!, origin: PUBLIC_URL, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Answered['body'] };
}

test('an owner invites into their own account, with a role there at most', async () => {
  const invite = (terms: object) => call('owner', 'POST', '/invitations', { email: 'new@example.com', ...terms });
  const invited = await invite({ account, role: 'owner' });
  expect([invited.status, invited.body.account]).toEqual([201, account]);
  expect((await invite({ account, role: 'owner', operator: true })).status).toBe(403);
  expect((await invite({ operator: true })).status).toBe(403);
  expect((await invite({ account: otherAccount, role: 'viewer' })).status).toBe(404);
  expect((await call('member', 'POST', '/invitations', { email: 'a@b', account, role: 'viewer' })).status).toBe(403);
  const listed = await call('owner', 'GET', `/invitations?account=${account}`);
  expect(listed.body.data!.map(({ id }) => id)).toEqual([invited.body.id]);
  expect((await call('owner', 'GET', '/invitations')).status).toBe(403);
  const path = `/invitations/${String(invited.body.id)}`;
  expect((await call('stranger', 'DELETE', path)).status).toBe(404);
  expect((await call('owner', 'DELETE', path)).status).toBe(200);
  const reset = await call('operator', 'POST', '/people/member@example.com/reset', {});
  expect((await call('owner', 'DELETE', `/invitations/${String(reset.body.id)}`)).status).toBe(404);
});

test('an owner mints management keys for their account, which end with the role', async () => {
  const expires_at = Math.floor(Date.now() / 1000) + 3600;
  const mint = (terms: object) => call('owner', 'POST', '/management-keys', { expires_at, ...terms });
  expect((await mint({})).status).toBe(403);
  expect((await mint({ account, role: 'operator' })).status).toBe(400);
  expect((await mint({ account: otherAccount, role: 'viewer' })).status).toBe(404);
  const minted = await mint({ account, role: 'owner' });
  expect(minted.body).toMatchObject({ account, role: 'owner', minted_by: expect.stringMatching(/^person_/) });
  const authorization = `Bearer ${String(minted.body.secret)}`;
  const asKey = (method: string, path: string, body?: object) =>
    fetch(`${harness.url}/manage/v1${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const guest = { email: 'guest@example.com', account, role: 'owner' };
  const { secret } = (await (await asKey('POST', '/invitations', guest)).json()) as { secret: string };
  const path = `/accounts/${account}/members/owner@example.com`;
  expect((await call('operator', 'PUT', path, { role: 'viewer' })).status).toBe(200);
  expect((await asKey('GET', '/me')).status).toBe(401);
  const accept = { secret, name: 'Guest', password: 'correct horse battery' };
  expect((await call('stranger', 'POST', '/invitations/accept', accept)).status).toBe(404);
  expect((await call('operator', 'PUT', path, { role: 'owner' })).status).toBe(200);
  expect((await call('stranger', 'DELETE', `/management-keys/${String(minted.body.id)}`)).status).toBe(404);
  expect((await call('owner', 'DELETE', `/management-keys/${String(minted.body.id)}`)).body.status).toBe('revoked');
});

test('a member has keys of their own, and sees and changes no others', async () => {
  const minted = await call('member', 'POST', '/keys', { account, name: 'mine', spend_cap_nanousd: 1_000_000_000 });
  expect(minted.body).toMatchObject({ account, person: expect.stringMatching(/^person_/), permissions: ['calls'] });
  const mine = String(minted.body.id);
  const [theirs, anybodys] = (await call('owner', 'GET', `/keys?account=${account}`)).body
    .data!.map(({ id }) => String(id))
    .filter((id) => id !== mine);
  expect([theirs === undefined, anybodys]).toEqual([false, undefined]);
  expect((await call('member', 'GET', `/keys?account=${account}`)).body.data!.map(({ id }) => id)).toEqual([mine]);
  expect((await call('colleague', 'GET', `/keys?account=${account}`)).body.data).toEqual([]);
  for (const key of [theirs!, mine]) {
    const status = key === mine ? 200 : 404;
    expect((await call('member', 'GET', `/keys/${key}`)).status).toBe(status);
    expect((await call('member', 'PATCH', `/keys/${key}`, { name: 'changed' })).status).toBe(status);
    expect((await call('colleague', 'PATCH', `/keys/${key}`, { name: 'changed' })).status).toBe(404);
    expect((await call('colleague', 'POST', `/keys/${key}/revoke`, {})).status).toBe(404);
  }
  expect((await call('member', 'POST', '/keys', { account, person: 'colleague@example.com' })).status).toBe(403);
  expect((await call('member', 'GET', `/keys?account=${account}&person=colleague@example.com`)).status).toBe(403);
  expect((await call('member', 'POST', '/keys', { account, allow: ['provider_keys'] })).status).toBe(403);
  expect((await call('member', 'PATCH', `/keys/${mine}`, { allow: ['provider_keys'] })).status).toBe(403);
  expect((await call('member', 'POST', '/keys', { account: otherAccount })).status).toBe(404);
  expect((await harness.get('/v1/models', { authorization: `Bearer ${String(minted.body.secret)}` })).status).toBe(200);
  const receipts = (who: string, query = '') => call(who, 'GET', `/receipts?account=${account}${query}`);
  const hello = { model: 'sim-gpt-mini', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 8 };
  const answer = await harness.post(hello, { authorization: `Bearer ${String(minted.body.secret)}` });
  const theirAnswer = await harness.post(hello, { authorization: `Bearer ${shared.secret}` });
  const [receipt, another] = [answer, theirAnswer].map(({ headers }) => headers.get('x-gateway-request-id')!);
  await Promise.all([answer.text(), theirAnswer.text()]);
  expect((await receipts('member', `&key=${mine}`)).body.data!.map(({ id }) => id)).toEqual([receipt]);
  expect((await receipts('member')).status).toBe(403);
  expect((await receipts('member', `&key=${theirs}`)).status).toBe(404);
  expect((await receipts('owner')).body.data).toHaveLength(2);
  expect((await call('member', 'GET', `/receipts/${receipt}`)).status).toBe(200);
  expect((await call('member', 'GET', `/receipts/${another}`)).status).toBe(404);
  expect((await call('colleague', 'GET', `/receipts/${receipt}`)).status).toBe(404);
  expect((await call('member', 'POST', `/keys/${mine}/revoke`, {})).body.status).toBe('revoked');
});
