import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { healthResponses, metricsResponse } from '../src/http/health.ts';
import { PREFIXES } from '../src/http/path-aliases.ts';
import type { Route } from '../src/http/routes.ts';
import { formatId } from '../src/kit/ids.ts';
import { KEY_PERMISSIONS, type KeyPermission } from '../src/store/store.ts';
import { ACCESS, type AccessRow, OUTSIDE, type Refused, type World } from './authorisation/rows.ts';
import { EVERY_ROUTE } from './every-route.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';
import { batchLine, CHAT, JobCaller } from './job-caller.ts';
import { audit } from './people-fixtures.ts';
import { callRaw, type RawAnswer } from './raw-client.ts';

/** Every route, requested by callers who may not use it and by callers who may. */

const NOW_MS = Date.now();
const CALL = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }] };
const CANARY_URL = 'https://resource-of-the-owner.example/openai/v1';
/** No id and no digest has such characters, so it is in no response by chance. */
const CANARY_TAIL = '~Z*q';
const CANARY_HOOK = 'https://hook-of-the-owner.example/in';

/** The permissions that a key can be granted. */
const EVERYTHING = { permissions: KEY_PERMISSIONS };

type Headers = Record<string, string | string[]>;

let hosted: Harness;
let local: Harness;
let owner: MintedKey;
let stranger: MintedKey;
let restricted: MintedKey;
let unprivileged: MintedKey;
let revoked: MintedKey;
let expired: MintedKey;
let hostedWorld: World;
let localWorld: World;
let localAccountId: bigint;

beforeAll(async () => {
  [hosted, local] = await Promise.all([startHarness({ hosted: true }), startHarness()]);
  [owner, stranger, revoked, expired] = await Promise.all([
    hosted.mint({ ...EVERYTHING, creditNanousd: 10_000_000_000n }),
    hosted.mint(EVERYTHING),
    hosted.mint(EVERYTHING),
    hosted.mint({ ...EVERYTHING, expiresMs: NOW_MS - 1 }),
  ]);
  restricted = await hosted.mintFor(owner.accountId, { ...EVERYTHING, models: ['sim-gpt-mini'] });
  unprivileged = await hosted.mintFor(owner.accountId);
  await hosted.running.books.store.updateKey(revoked.keyId, { revokedMs: NOW_MS });
  hostedWorld = await makeWorld(hosted, owner.secret);
  localWorld = await makeWorld(local, null);
  localAccountId = (await local.newestReceipt()).accountId;
});
beforeEach(() => Promise.all([storeOwned(hosted, owner.accountId), storeOwned(local, localAccountId)]));
afterEach(async () => {
  await Promise.all([hosted.settled(), local.settled()]);
  await Promise.all([hosted.expectCleanBooks(), local.expectCleanBooks()]);
});
afterAll(() => Promise.all([hosted.stop(), local.stop()]));

async function makeWorld(harness: Harness, secret: string | null): Promise<World> {
  const caller = new JobCaller(harness, secret);
  const job = { endpoint: CHAT, body: CALL };
  const [jobId, deletedJobId] = [await caller.submit(job), await caller.submit(job)];
  const groupId = await caller.submitLines([batchLine('one')]);
  for (const id of [jobId, deletedJobId, groupId]) await caller.ended(id);
  const response = await harness.post(CALL, secret === null ? {} : { authorization: `Bearer ${secret}` });
  return { receiptId: response.headers.get('x-gateway-request-id')!, jobId, deletedJobId, groupId };
}

/** Rows that cannot be decrypted; they exist and belong to the owner. */
async function storeOwned({ running }: Harness, accountId: bigint): Promise<void> {
  const { store, ids } = running.books;
  const place = { id: ids.next(), accountId, provider: 'cloud', baseUrl: CANARY_URL, lastFour: CANARY_TAIL };
  await store.putProviderKey({ ...place, sealed: Buffer.alloc(64), createdMs: NOW_MS, verifiedMs: NOW_MS });
  const webhook = { id: ids.next(), accountId, name: 'hook', url: CANARY_HOOK, events: [], createdMs: NOW_MS };
  const secret = { id: ids.next(), sealed: Buffer.alloc(64) };
  await store.directory.putWebhook(webhook, secret, audit('webhook.put', { id: ids.next() }));
}

const bearer = ({ secret }: MintedKey) => ({ authorization: `Bearer ${secret}` });

const nameOf = ({ method, path }: Route) => `${method} ${path}`;

function rowOf(route: Route): AccessRow {
  const row = ACCESS[nameOf(route)];
  if (row !== undefined) return row;
  throw new Error(
    `The route "${nameOf(route)}" is new: add a row for it to ACCESS in test/authorisation/rows.ts, saying how its owner ` +
      'asks, what the owner gets, and what a key of another account and a key for other models get.',
  );
}

function send(harness: Harness, route: Route, world: World, headers: Headers, prefix = '/v1'): Promise<RawAnswer> {
  const { param = '', body } = rowOf(route).ask(world);
  const path = prefix + route.path.replace('*', param);
  return callRaw(harness.url + path, body, { method: route.method, headers: headers as Record<string, string> });
}

function codeOf({ text }: RawAnswer): unknown {
  return (JSON.parse(text) as { error?: { code?: string } }).error?.code;
}

function expectRefused(answer: RawAnswer, { status, code }: Refused): void {
  expect([answer.status, codeOf(answer)]).toEqual([status, code]);
  expect(answer.headers['x-gateway-cost-nanousd']).toBe('0');
}

function expectNothingOfTheOwner({ text, headers }: RawAnswer): void {
  const told = text + JSON.stringify(headers);
  const canaries = [
    CANARY_URL,
    CANARY_TAIL,
    CANARY_HOOK,
    formatId('acct_', owner.accountId),
    formatId('key_', owner.keyId),
  ];
  expect(canaries.filter((canary) => told.includes(canary))).toEqual([]);
}

const NO_KEY: Refused = { status: 401, code: 'invalid_api_key' };

test('every route has a row in the table, and every row a route', () => {
  const routes = EVERY_ROUTE;
  for (const route of routes) {
    const { isPublic, permission } = rowOf(route);
    const expected = [nameOf(route), isPublic ? 'public' : 'key', permission];
    expect([nameOf(route), route.access, route.permission]).toEqual(expected);
  }
  expect(Object.keys(ACCESS).toSorted()).toEqual(routes.map(nameOf).toSorted());
});

test('every path that the server answers outside the route table has a row too', () => {
  const health = healthResponses({ health: () => Promise.reject(), draining: () => true });
  const answers = [...health, metricsResponse(null as never)].map(([path]) => `GET ${path}`);
  const server = readFileSync(resolve(import.meta.dirname, '../src/http/server.ts'), 'utf8');
  const found = [...server.matchAll(/method === '(\w+)' && path === '([^']+)'/g)];
  const names = [...answers, ...found.map(([, method, path]) => `${method} ${path}`)];
  expect(names.toSorted(), 'Add what is new to OUTSIDE in test/authorisation/rows.ts.').toEqual(
    Object.keys(OUTSIDE).toSorted(),
  );
});

/** Credentials that must be refused. */
const WITHOUT_A_KEY: Readonly<Record<string, () => Headers>> = {
  'no key': () => ({}),
  'an empty key': () => ({ authorization: 'Bearer ' }),
  'a key of another service': () => ({ authorization: 'Bearer sk-of-another-service' }),
  'a key that nobody has': () => ({ 'x-api-key': `${owner.secret.slice(0, -8)}AAAAAAAA` }),
  'a key with one letter more': () => ({ authorization: `Bearer ${owner.secret}x` }),
  'a revoked key': () => bearer(revoked),
  'an expired key': () => ({ 'api-key': expired.secret }),
  'two keys in two carriers': () => ({ ...bearer(owner), 'x-api-key': stranger.secret }),
  'a key and nonsense': () => ({ ...bearer(owner), 'api-key': 'nonsense' }),
  'the same carrier twice': () => ({ 'x-api-key': [owner.secret, owner.secret] }),
  'two authorizations': () => ({ authorization: [`Bearer ${owner.secret}`, `Bearer ${owner.secret}`] }),
  'a key in the way of another scheme': () => ({ authorization: `Basic ${owner.secret}` }),
};

describe.each(Object.entries(WITHOUT_A_KEY))('%s', (_, headers) => {
  test('is refused on every route, under every prefix, and reaches no host', async () => {
    const received = hosted.sim.received();
    for (const route of EVERY_ROUTE) {
      for (const prefix of PREFIXES) {
        const answer = await send(hosted, route, hostedWorld, headers(), prefix);
        if (rowOf(route).isPublic) continue;
        expect([nameOf(route), answer.status, codeOf(answer)]).toEqual([nameOf(route), NO_KEY.status, NO_KEY.code]);
        expect(answer.headers['www-authenticate']).toBe('Bearer');
        expectNothingOfTheOwner(answer);
      }
    }
    expect(hosted.sim.received()).toBe(received);
    expect(await hosted.running.books.store.findProviderKey(owner.accountId, 'cloud')).not.toBeNull();
  });
});

/** The headers in which a key is accepted. */
const WITH_A_KEY: Readonly<Record<string, () => Headers>> = {
  'as Bearer': () => bearer(owner),
  'as bearer, in small letters': () => ({ authorization: `bearer ${owner.secret}` }),
  'in x-api-key': () => ({ 'x-api-key': owner.secret }),
  'in api-key': () => ({ 'api-key': owner.secret }),
  'in all three': () => ({ ...bearer(owner), 'x-api-key': owner.secret, 'api-key': owner.secret }),
};

describe.each(Object.entries(WITH_A_KEY))('the owner’s key %s', (_, headers) => {
  test('is accepted on every route', async () => {
    for (const route of EVERY_ROUTE) {
      await storeOwned(hosted, owner.accountId);
      const answer = await send(hosted, route, hostedWorld, headers());
      expect([nameOf(route), answer.status]).toEqual([nameOf(route), rowOf(route).owner]);
    }
  });
});

test('a key of another account gets only what belongs to that account', async () => {
  for (const route of EVERY_ROUTE) {
    const row = rowOf(route);
    const answer = await send(hosted, route, hostedWorld, bearer(stranger));
    if (row.stranger === 'own') expect([nameOf(route), answer.status]).toEqual([nameOf(route), row.owner]);
    else expectRefused(answer, row.stranger);
    expectNothingOfTheOwner(answer);
  }
  expect(await hosted.running.books.store.findProviderKey(owner.accountId, 'cloud')).not.toBeNull();
});

test('a deployment can be called only by its own account', async () => {
  const ask = { ...CALL, model: 'cloud/of-the-owner' };
  const seen = await callRaw(`${hosted.url}/v1/chat/completions`, ask, { headers: bearer(stranger) });
  expectRefused(seen, { status: 404, code: 'model_not_found' });
  expectNothingOfTheOwner(seen);
  const own = await callRaw(`${hosted.url}/v1/chat/completions`, ask, { headers: bearer(owner) });
  expect([own.status, codeOf(own)]).not.toEqual([404, 'model_not_found']);
});

test('a key that is restricted to other models is refused on every route that names a model', async () => {
  const received = hosted.sim.received();
  for (const route of EVERY_ROUTE) {
    await storeOwned(hosted, owner.accountId);
    const row = rowOf(route);
    const answer = await send(hosted, route, hostedWorld, bearer(restricted));
    if (row.restricted === 'same') expect([nameOf(route), answer.status]).toEqual([nameOf(route), row.owner]);
    else expectRefused(answer, row.restricted);
    if (nameOf(route) === 'GET /models') {
      expect((JSON.parse(answer.text) as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual([
        'sim-gpt-mini',
      ]);
    }
  }
  expect(hosted.sim.received()).toBe(received);
});

function needing(permission: KeyPermission): Route[] {
  return EVERY_ROUTE.filter((route) => rowOf(route).permission === permission);
}

describe('a key without a permission', () => {
  test('is refused only where the permission is needed, and the message names the command that grants it', async () => {
    for (const route of EVERY_ROUTE) {
      await storeOwned(hosted, owner.accountId);
      const { permission, unprivileged: refusal, owner: status } = rowOf(route);
      for (const prefix of PREFIXES) {
        const answer = await send(hosted, route, hostedWorld, bearer(unprivileged), prefix);
        if (refusal !== undefined) expectRefused(answer, refusal);
        else if (permission === undefined) expect([nameOf(route), answer.status]).toEqual([nameOf(route), status]);
        else {
          expectRefused(answer, { status: 403, code: 'permission_denied' });
          const option = permission.replaceAll('_', '-');
          const command = `tollgate keys update ${formatId('key_', unprivileged.keyId)} --allow ${option}`;
          expect(answer.text).toContain(command);
        }
      }
    }
    expect(await hosted.running.books.store.findProviderKey(owner.accountId, 'cloud')).not.toBeNull();
  });

  test('is refused before its body is read', async () => {
    for (const route of KEY_PERMISSIONS.flatMap(needing)) {
      const path = `${hosted.url}/v1${route.path.replace('*', 'cloud')}`;
      const headers = { ...bearer(unprivileged), 'content-type': 'text/plain' };
      const answer = await callRaw(path, 'no json', { method: route.method, headers });
      expectRefused(answer, { status: 403, code: 'permission_denied' });
    }
  });
});

describe('in local mode', () => {
  test('every route works without a key', async () => {
    for (const route of EVERY_ROUTE) {
      await storeOwned(local, localAccountId);
      const answer = await send(local, route, localWorld, {});
      expect([nameOf(route), answer.status]).toEqual([nameOf(route), rowOf(route).owner]);
    }
  });

  test.each([
    ['a foreign Host', { host: 'evil.example' }, 'forbidden_host'],
    ['a Host that resembles ours', { host: '127.0.0.1.evil.example:8080' }, 'forbidden_host'],
    ['a foreign Origin', { origin: 'https://evil.example' }, 'forbidden_origin'],
    ['the Origin null', { origin: 'null' }, 'forbidden_origin'],
  ])('%s is refused on every route, under every prefix, with or without a key', async (_, headers, code) => {
    const received = local.sim.received();
    const minted = await local.mint();
    const outside = Object.keys(OUTSIDE).map((name) => name.split(' ') as [string, string]);
    for (const [method, path] of [...outside, ['GET', '/nowhere']] as [string, string][]) {
      const answer = await callRaw(local.url + path, undefined, { method, headers });
      expect([path, answer.status]).toEqual([path, 403]);
    }
    for (const route of EVERY_ROUTE) {
      for (const prefix of PREFIXES) {
        for (const more of [{}, bearer(minted)]) {
          expectRefused(await send(local, route, localWorld, { ...headers, ...more }, prefix), { status: 403, code });
        }
      }
    }
    expect(local.sim.received()).toBe(received);
  });
});

describe('outside the route table', () => {
  test.each(Object.entries(OUTSIDE))(
    '%s answers callers without a key as its row says, in local and hosted mode',
    async (name, row) => {
      const [method, path] = name.split(' ') as [string, string];
      expect((await callRaw(local.url + path, undefined, { method })).status).toBe(row.local);
      expect((await callRaw(hosted.url + path, undefined, { method })).status).toBe(row.hosted);
    },
  );

  test.each(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])(
    'callers without a key get 401 for every unknown path, by %s',
    async (method) => {
      for (const path of [
        '/',
        '/v1',
        '/nowhere',
        '/v1/images/generations',
        '/operator/status',
        '/sim/calls',
        '/.env',
      ]) {
        expect([path, (await callRaw(hosted.url + path, undefined, { method })).status]).toEqual([path, 401]);
      }
    },
  );
});
