import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashSecret } from '../src/accounts/keys.ts';
import { ACCOUNT_PREFIX, KEY_PREFIX } from '../src/canonical/id-prefixes.ts';
import { systemClock } from '../src/kit/clock.ts';
import { formatId } from '../src/kit/ids.ts';
import { commandLine } from '../src/operator/actor.ts';
import { runVerb, type VerbInput, type VerbName } from '../src/operator/operator.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';
import { enrol, openSession, PUBLIC_URL } from './people.ts';
import { readRaw } from './raw-client.ts';
import { until } from './until.ts';

/** A client may take its time with the body of a request. What it may do is what it may do when the body is there. */

const EARLIER_MS = 10 * 60_000;
let harness: Harness;
let key: MintedKey;
let account: string;

beforeAll(async () => {
  const dial = (): never => {
    throw new Error('nobody is called here');
  };
  const world = { resolve: async () => ['203.0.114.9'], dial };
  harness = await startHarness({ hosted: true, config: { publicUrl: PUBLIC_URL }, world });
  key = await harness.mint({ permissions: ['webhooks'] });
  account = formatId(ACCOUNT_PREFIX, key.accountId);
});
afterAll(() => harness.stop());

function run<Name extends VerbName>(name: Name, input: VerbInput<Name>): Promise<object> {
  const { store, ids } = harness.running.books;
  const services = { store, ids, clock: systemClock, actor: commandLine(), publicUrl: PUBLIC_URL, moved: null };
  return runVerb(services as never, name, input) as Promise<object>;
}

/** Sends the head and half of the body. */
function begin(method: string, path: string, headers: Record<string, string>, body: object): [ClientRequest, string] {
  const text = JSON.stringify(body);
  const common = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  const sent = request(harness.url + path, { method, headers: { ...common, ...headers }, agent: false });
  const half = text.length / 2;
  sent.flushHeaders();
  if (headers.expect === undefined) sent.write(text.slice(0, half));
  return [sent, headers.expect === undefined ? text.slice(half) : text];
}

async function finish([sent, rest]: [ClientRequest, string]): Promise<number> {
  sent.end(rest);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return (await readRaw(response)).status;
}

async function ownerWithSession(email: string): Promise<{ cookie: string; isRecognised: () => Promise<boolean> }> {
  const { books } = harness.running;
  const personId = await enrol(books, email, { roles: [[key.accountId, 'owner']] });
  const cookie = await openSession(books, personId, { createdMs: systemClock.nowMs() - EARLIER_MS });
  const { directory } = books.store;
  const isRecognised = async () =>
    (await directory.listSessions(personId)).some((each) => each.usedMs > each.createdMs);
  return { cookie, isRecognised };
}

test('somebody whose role ends while they send a body does nothing with it', async () => {
  const { cookie, isRecognised } = await ownerWithSession('leaving@example.com');
  const headers = { cookie, origin: PUBLIC_URL };
  const begun = begin('POST', '/manage/v1/keys', headers, { account, name: 'late' });
  await until(isRecognised, 'the session is known');
  await run('members.remove', { account, person: 'leaving@example.com' });
  expect(await finish(begun)).toBe(404);
  const { data } = (await run('keys.list', { account })) as { data: { name: string }[] };
  expect(data.map(({ name }) => name)).not.toContain('late');
});

test('somebody whose session ends while they send a body does nothing with it', async () => {
  const { cookie, isRecognised } = await ownerWithSession('lost@example.com');
  const body = { email: 'friend@example.com', account, role: 'owner' };
  const begun = begin('POST', '/manage/v1/invitations', { cookie, origin: PUBLIC_URL }, body);
  await until(isRecognised, 'the session is known');
  await run('people.signout', { person: 'lost@example.com' });
  expect(await finish(begun)).toBe(401);
});

test('an invitation is not accepted by somebody whose session ends while they send its secret', async () => {
  const { cookie, isRecognised } = await ownerWithSession('guest@example.com');
  const { secret } = (await run('people.invite', { email: 'guest@example.com', operator: true })) as { secret: string };
  const begun = begin('POST', '/manage/v1/invitations/accept', { cookie, origin: PUBLIC_URL }, { secret });
  await until(isRecognised, 'the session is known');
  await run('people.signout', { person: 'guest@example.com' });
  expect(await finish(begun)).toBe(401);
  expect(await run('people.show', { person: 'guest@example.com' })).toMatchObject({ operator: false });
});

test('a management key that is revoked while a body is sent does nothing with it', async () => {
  const expires_at = Math.floor(systemClock.nowMs() / 1000) + 3600;
  const minted = (await run('managementkeys.mint', { expires_at })) as { id: string; secret: string };
  const authorization = `Bearer ${minted.secret}`;
  const begun = begin('POST', '/manage/v1/accounts', { authorization }, { name: 'late' });
  const { directory } = harness.running.books.store;
  const isUsed = async () => (await directory.findManagementKeyByHash(hashSecret(minted.secret)))?.usedMs != null;
  await until(isUsed, 'the key is known');
  await run('managementkeys.revoke', { management_key: minted.id });
  expect(await finish(begun)).toBe(401);
});

test('a gateway key that is revoked while a body is sent changes nothing of its account', async () => {
  const headers = { authorization: `Bearer ${key.secret}`, expect: '100-continue' };
  const begun = begin('PUT', '/v1/webhooks/late', headers, { url: 'https://hooks.example.com/in' });
  await once(begun[0], 'continue');
  await run('keys.revoke', { key: formatId(KEY_PREFIX, key.keyId) });
  const isUnknown = async () =>
    (await harness.get('/v1/models', { authorization: headers.authorization })).status === 401;
  await until(isUnknown, 'the key is unknown');
  expect(await finish(begun)).toBe(401);
});
