import { afterAll, beforeAll, expect, test } from 'vitest';
import { ACCOUNT_PREFIX, KEY_PREFIX, PERSON_PREFIX } from '../src/canonical/id-prefixes.ts';
import { formatId } from '../src/kit/ids.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';
import { submitJobs } from './job-caller.ts';
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
    headers: { cookie: cookies[who] ?? '', origin: PUBLIC_URL, 'content-type': 'application/json' },
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
  const ofStatus = (status: string) => call('owner', 'GET', `/invitations?account=${account}&status=${status}`);
  expect((await ofStatus('open')).body.data).toEqual([]);
  expect((await ofStatus('revoked')).body.data!.map(({ id }) => id)).toEqual([invited.body.id]);
  expect((await ofStatus('gone')).status).toBe(400);
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
  expect((await receipts('member')).body.data!.map(({ id }) => id)).toEqual([receipt]);
  expect((await receipts('colleague')).body.data).toEqual([]);
  expect((await receipts('member', '&person=colleague@example.com')).status).toBe(403);
  expect((await receipts('member', `&key=${theirs}`)).status).toBe(404);
  expect((await receipts('owner')).body.data).toHaveLength(2);
  expect((await call('member', 'GET', `/receipts/${receipt}`)).status).toBe(200);
  expect((await call('member', 'GET', `/receipts/${another}`)).status).toBe(404);
  expect((await call('colleague', 'GET', `/receipts/${receipt}`)).status).toBe(404);
  expect((await call('member', 'POST', `/keys/${mine}/revoke`, {})).body.status).toBe('revoked');
});

test('a member sees and cancels their own jobs and groups of jobs, and no others', async () => {
  const { body } = await call('member', 'POST', '/keys', { account, name: 'for jobs' });
  const own = await submitJobs(harness, String(body.secret));
  const others = await submitJobs(harness, shared.secret);
  const pathsOf = ({ job, job_group }: typeof own) => [`/jobs/${job}`, `/job-groups/${job_group}`];
  for (const path of pathsOf(own)) {
    expect((await call('colleague', 'POST', `${path}/cancel`, {})).status).toBe(404);
    expect((await call('member', 'GET', path)).status).toBe(200);
    expect((await call('member', 'POST', `${path}/cancel`, {})).status).toBe(200);
  }
  for (const path of pathsOf(others)) {
    expect((await call('member', 'GET', path)).status).toBe(404);
    expect((await call('member', 'POST', `${path}/cancel`, {})).status).toBe(404);
    expect((await call('owner', 'POST', `${path}/cancel`, {})).status).toBe(200);
  }
});

test('a member tightens what an owner set for one of their keys, and loosens nothing of it', async () => {
  const expires_at = Math.floor(Date.now() / 1000) + 3600;
  const terms = { spend_cap_nanousd: 1000, window: 'day', max_cost_nanousd: 100, models: ['sim-gpt-mini'], expires_at };
  const minted = await call('owner', 'POST', '/keys', { account, person: 'member@example.com', ...terms });
  const path = `/keys/${String(minted.body.id)}`;
  const change = async (who: string, body: object) => (await call(who, 'PATCH', path, body)).status;
  const looser = [
    { spend_cap_nanousd: 1001 },
    { spend_cap_nanousd: null },
    { window: 'lifetime' },
    { spend_cap_nanousd: 500, window: 'month' },
    { max_cost_nanousd: 101 },
    { max_cost_nanousd: null },
    { models: ['sim-gpt-mini', 'sim-gpt'] },
    { models: null },
    { expires_at: expires_at + 1 },
    { expires_at: null },
  ];
  for (const body of looser) expect([body, await change('member', body)]).toEqual([body, 409]);
  const refused = await call('member', 'PATCH', path, { max_cost_nanousd: 101 });
  expect(refused.body.error).toMatchObject({ message: expect.stringContaining('max_cost_nanousd') });
  const tighter = { spend_cap_nanousd: 10, max_cost_nanousd: 5, expires_at: expires_at - 1, name: 'tight' };
  expect(await change('member', tighter)).toBe(200);
  expect(await change('member', { spend_cap_nanousd: 1000, max_cost_nanousd: 100, expires_at })).toBe(200);
  expect(await change('owner', { max_cost_nanousd: null, models: ['sim-gpt'] })).toBe(200);
  expect(await change('member', { max_cost_nanousd: 10_000 })).toBe(200);
  expect(await change('member', { models: ['sim-gpt-mini'] })).toBe(409);
  expect(await change('operator', { spend_cap_nanousd: 2000 })).toBe(200);
  expect(await change('member', { spend_cap_nanousd: 2000 })).toBe(200);
});

test('a member changes freely what nobody but them has set', async () => {
  const minted = await call('member', 'POST', '/keys', { account, spend_cap_nanousd: 10, window: 'day' });
  const path = `/keys/${String(minted.body.id)}`;
  expect((await call('member', 'PATCH', path, { spend_cap_nanousd: null })).status).toBe(200);
  expect((await call('owner', 'PATCH', path, { name: 'renamed' })).status).toBe(200);
  expect((await call('member', 'PATCH', path, { max_cost_nanousd: 7 })).status).toBe(200);
  expect((await call('member', 'PATCH', path, { max_cost_nanousd: null })).status).toBe(200);
});

test('an owner sets the cap of a member with the invitation, and it stays when only the role changes', async () => {
  const terms = { email: 'capped@example.com', account, role: 'member', spend_cap_nanousd: 5, window: 'day' };
  const invited = await call('owner', 'POST', '/invitations', terms);
  expect(invited.body).toMatchObject({ spend_cap_nanousd: 5, window: 'day' });
  const accept = { secret: invited.body.secret, name: 'Capped', password: 'correct horse battery' };
  expect((await call('nobody', 'POST', '/invitations/accept', accept)).body).toMatchObject({
    address_confirmed: false,
  });
  const path = `/accounts/${account}/members/capped@example.com`;
  const kept = { spend_cap_nanousd: 5, window: 'day', address_confirmed: false };
  expect((await call('owner', 'PUT', path, { role: 'owner' })).body).toMatchObject({ role: 'owner', ...kept });
  expect((await call('owner', 'DELETE', path)).status).toBe(200);
  expect((await call('owner', 'PUT', path, {})).status).toBe(400);
  expect((await call('owner', 'PUT', path, { role: 'member' })).body).toMatchObject({ role: 'member', ...kept });
  expect((await call('owner', 'PUT', path, { spend_cap_nanousd: null })).body).toMatchObject({
    role: 'member',
    window: 'day',
    spend_cap_nanousd: null,
  });
  expect((await call('owner', 'PUT', path, { window: 'month' })).status).toBe(400);
  const wrong = { email: 'a@example.com', account, role: 'member', window: 'day' };
  expect((await call('owner', 'POST', '/invitations', wrong)).status).toBe(400);
});

test('a person whom an owner invited has no role elsewhere until an operator confirms the address', async () => {
  const invite = { email: 'claimed@example.com', account, role: 'member' };
  const { secret } = (await call('owner', 'POST', '/invitations', invite)).body;
  const accept = { secret, name: 'Claimed', password: 'correct horse battery' };
  await call('nobody', 'POST', '/invitations/accept', accept);
  const { directory } = harness.running.books.store;
  const { id } = (await directory.findPersonByEmail('claimed@example.com'))!;
  cookies.claimed = await openSession(harness.running.books, id);
  const elsewhere = `/accounts/${otherAccount}/members/claimed@example.com`;
  expect((await call('stranger', 'PUT', elsewhere, { role: 'member' })).status).toBe(409);
  const refused = await call('operator', 'PUT', elsewhere, { role: 'member' });
  expect(refused.body.error).toMatchObject({ code: 'refused', message: expect.stringContaining('not confirmed') });
  expect((await call('operator', 'PATCH', '/people/claimed@example.com', { operator: true })).status).toBe(409);
  const other = await call('operator', 'POST', '/invitations', { ...invite, account: otherAccount });
  const join = () => call('claimed', 'POST', '/invitations/accept', { secret: other.body.secret });
  expect((await join()).body.error).toMatchObject({ code: 'refused' });
  const people = await call('operator', 'GET', '/people');
  expect(people.body.data!.find(({ email }) => email === invite.email)).toMatchObject({ address_confirmed: false });
  const reset = await call('operator', 'POST', '/people/claimed@example.com/reset', {});
  const password = 'another good password';
  await call('nobody', 'POST', '/invitations/accept', { secret: reset.body.secret, password });
  cookies.claimed = await openSession(harness.running.books, id);
  expect((await join()).body).toMatchObject({ address_confirmed: true });
  expect((await call('operator', 'PATCH', '/people/claimed@example.com', { operator: true })).status).toBe(200);
  const [audited] = (await call('operator', 'GET', '/audit?action=person.reset')).body.data!;
  expect(audited).toMatchObject({ subject: formatId(PERSON_PREFIX, id) });
});

test('a link ends with the management key that made it', async () => {
  const expires_at = Math.floor(Date.now() / 1000) + 3600;
  const key = await call('owner', 'POST', '/management-keys', { account, role: 'owner', expires_at });
  const made = await fetch(`${harness.url}/manage/v1/invitations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${String(key.body.secret)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'late@example.com', account, role: 'owner' }),
  });
  const { secret } = (await made.json()) as { secret: string };
  await call('owner', 'DELETE', `/management-keys/${String(key.body.id)}`);
  const accept = { secret, name: 'Late', password: 'correct horse battery' };
  expect((await call('nobody', 'POST', '/invitations/accept', accept)).status).toBe(404);
});

test('a member sees neither the entries of the account nor what the keys of others have spent', async () => {
  const minted = await call('member', 'POST', '/keys', { account });
  const theirs = formatId(KEY_PREFIX, shared.keyId);
  const balance = (who: string, key?: unknown) =>
    call(who, 'GET', `/accounts/${account}/balance${key === undefined ? '' : `?key=${String(key)}`}`);
  expect((await balance('member')).status).toBe(200);
  expect((await balance('member', minted.body.id)).body.key).toMatchObject({ id: minted.body.id });
  expect((await balance('member', theirs)).status).toBe(404);
  expect((await balance('owner', theirs)).status).toBe(200);
  expect((await call('member', 'GET', `/accounts/${account}/entries`)).status).toBe(403);
  expect((await call('owner', 'GET', `/accounts/${account}/entries`)).status).toBe(200);
});

test('a member may name themselves by the id that they are shown, and nobody else', async () => {
  const usage = (person: unknown) => call('member', 'GET', `/usage?account=${account}&person=${String(person)}`);
  const { id } = (await call('member', 'GET', '/me')).body;
  const other = (await call('colleague', 'GET', '/me')).body.id;
  expect([(await usage(id)).status, (await usage('member@example.com')).status]).toEqual([200, 200]);
  expect((await usage(other)).status).toBe(403);
});

test('people see their own cap with the balance, even without a key, and nobody sees that of others', async () => {
  const cap = { spend_cap_nanousd: 7_000_000_000, window: 'month' };
  await call('owner', 'PATCH', `/accounts/${account}/members/colleague@example.com`, cap);
  const personOf = async (who: string) => (await call(who, 'GET', `/accounts/${account}/balance`)).body.person;
  expect(await personOf('colleague')).toMatchObject({ ...cap, remaining_nanousd: 7_000_000_000 });
  expect(await personOf('owner')).toMatchObject({ spend_cap_nanousd: null });
  expect(await personOf('operator')).toBeUndefined();
  const ofNobody = `/accounts/${account}/balance?key=${formatId(KEY_PREFIX, shared.keyId)}`;
  expect((await call('owner', 'GET', ofNobody)).body.person).toBeUndefined();
});

test('the keys of a member who becomes a viewer stop, and work again with the role', async () => {
  const { secret } = (await call('member', 'POST', '/keys', { account })).body;
  const models = () => harness.get('/v1/models', { authorization: `Bearer ${String(secret)}` });
  const path = `/accounts/${account}/members/member@example.com`;
  /** Minting any key makes this process read what has changed, without waiting for the next poll. */
  const refresh = () => call('owner', 'POST', '/keys', { account });
  expect((await models()).status).toBe(200);
  await call('owner', 'PUT', path, { role: 'viewer' });
  await refresh();
  expect((await models()).status).toBe(401);
  expect((await call('owner', 'POST', '/keys', { account, person: 'member@example.com' })).status).toBe(409);
  await call('owner', 'PUT', path, { role: 'member' });
  await refresh();
  expect((await models()).status).toBe(200);
});

test('an owner who becomes a member keeps neither the permissions of their keys nor their management keys', async () => {
  const path = `/accounts/${account}/members/colleague@example.com`;
  await call('operator', 'PUT', path, { role: 'owner' });
  const terms = { account, person: 'colleague@example.com', allow: ['account_read'] };
  const minted = await call('colleague', 'POST', '/keys', terms);
  const expires_at = Math.floor(Date.now() / 1000) + 3600;
  const managing = await call('colleague', 'POST', '/management-keys', { account, role: 'owner', expires_at });
  expect(minted.body.permissions).toContain('account_read');
  expect((await call('operator', 'PUT', path, { role: 'member' })).status).toBe(200);
  expect((await call('colleague', 'GET', `/keys/${String(minted.body.id)}`)).body.permissions).toEqual(['calls']);
  await call('operator', 'PUT', path, { role: 'owner' });
  const authorization = `Bearer ${String(managing.body.secret)}`;
  expect((await fetch(`${harness.url}/manage/v1/me`, { headers: { authorization } })).status).toBe(401);
});
