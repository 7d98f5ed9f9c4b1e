import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KEY_PREFIX } from '../src/canonical/id-prefixes.ts';
import { systemClock } from '../src/kit/clock.ts';
import { formatId } from '../src/kit/ids.ts';
import { auditRow } from '../src/operator/actor.ts';
import { EVERY_ROUTE } from './every-route.ts';
import { type Harness, type KeyOptions, startHarness } from './harness.ts';
import { enrol, openSession, PUBLIC_URL } from './people.ts';

const CALL = { model: 'sim-gpt-mini', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 8 };
const JSON_TYPE = { 'content-type': 'application/json' };

const PEOPLE = ['viewer', 'member', 'owner', 'operator', 'owner elsewhere', 'nobody'] as const;
type PersonName = (typeof PEOPLE)[number];

let hosted: Harness;
let accountId: bigint;
const cookies = new Map<PersonName, string>();
const people = new Map<PersonName, bigint>();
const keys = new Map<string, string>();

beforeAll(async () => {
  hosted = await startHarness({ hosted: true, config: { publicUrl: PUBLIC_URL } });
  const shared = await hosted.mint({ creditNanousd: 10_000_000_000n });
  const elsewhere = await hosted.mint({ creditNanousd: 10_000_000_000n });
  accountId = shared.accountId;
  keys.set('shared', idOf(shared));
  keys.set('of another account', idOf(elsewhere));
  for (const name of PEOPLE) await addPerson(name, elsewhere.accountId);
  for (const name of ['member', 'owner'] as const) await addKey(`of the ${name}`, { personId: people.get(name)! });
  await addKey('with a spent cap', { capNanousd: 1n });
  await addKey('expired', { expiresMs: Date.now() - 1 });
  const { store } = hosted.running.books;
  await store.updateKey(await addKey('disabled', {}), { disabledMs: Date.now() });
  await store.updateKey(await addKey('revoked', {}), { revokedMs: Date.now() });
});
afterAll(() => hosted.stop());

async function addPerson(name: PersonName, elsewhere: bigint): Promise<void> {
  const { books } = hosted.running;
  const role = name === 'viewer' || name === 'member' || name === 'owner' ? name : null;
  const roles = name === 'owner elsewhere' ? [[elsewhere, 'owner'] as const] : [];
  const id = await enrol(books, `${name.replace(' ', '-')}@example.com`, {
    isOperator: name === 'operator',
    roles: role === null ? roles : [[accountId, role]],
  });
  people.set(name, id);
  cookies.set(name, await openSession(books, id));
}

async function addKey(name: string, options: KeyOptions): Promise<bigint> {
  const minted = await hosted.mintFor(accountId, options);
  keys.set(name, idOf(minted));
  return minted.keyId;
}

function idOf({ keyId }: { readonly keyId: bigint }): string {
  return formatId(KEY_PREFIX, keyId);
}

function audit() {
  const { ids } = hosted.running.books;
  const actor = { kind: 'command_line', id: null, name: 'test', address: null } as const;
  return auditRow({ actor, ids, clock: systemClock }, { action: 'test', subject: 'test' });
}

/** The headers of our own page, unless others are given. */
function pageOf(who: PersonName, key: string): Record<string, string> {
  return { ...JSON_TYPE, cookie: cookies.get(who)!, origin: PUBLIC_URL, 'x-gateway-key': keys.get(key) ?? key };
}

async function refusalOf(response: Response): Promise<[number, string | undefined]> {
  const { error } = (await response.json()) as { error?: { code: string } };
  return [response.status, error?.code];
}

const DENIED = [401, 'invalid_api_key'];

describe('a person who is signed in makes calls with', () => {
  /** By key, who may use it. */
  const MAY_USE: Readonly<Record<string, readonly PersonName[]>> = {
    shared: ['owner', 'operator'],
    'of the member': ['member'],
    'of the owner': ['owner'],
    'of another account': ['operator', 'owner elsewhere'],
    disabled: [],
    revoked: [],
    expired: [],
    key_0000000000000: [],
    nonsense: [],
  };
  const cells = Object.entries(MAY_USE).flatMap(([key, who]) =>
    PEOPLE.map((person) => [key, person, who.includes(person)] as const),
  );

  test.each(cells)('the key %s, as %s: %s', async (key, person, may) => {
    const response = await hosted.get('/v1/models', pageOf(person, key));
    if (may) expect(response.status).toBe(200);
    else expect(await refusalOf(response)).toEqual(DENIED);
  });
});

test('the call is the call of that key, which pays and whose cap counts', async () => {
  const answer = await hosted.post(CALL, pageOf('member', 'of the member'));
  expect(answer.status).toBe(200);
  await answer.text();
  const receipt = await hosted.newestReceipt();
  expect(formatId(KEY_PREFIX, receipt.keyId!)).toBe(keys.get('of the member'));
  expect([receipt.accountId, receipt.personId]).toEqual([accountId, people.get('member')]);
  expect(await refusalOf(await hosted.post(CALL, pageOf('owner', 'with a spent cap')))).toEqual([
    402,
    'key_spend_cap_exceeded',
  ]);
});

test('a page is told that a key is disabled only if it may use the key', async () => {
  const messageTo = async (who: PersonName): Promise<string> => {
    const response = await hosted.get('/v1/models', pageOf(who, 'disabled'));
    return ((await response.json()) as { error: { message: string } }).error.message;
  };
  expect(await messageTo('owner')).toContain('is disabled');
  expect(await messageTo('owner elsewhere')).not.toContain('is disabled');
});

describe('a session is refused on every route of calls', () => {
  type Row = [string, () => Record<string, string>, (method: string) => unknown[] | null];
  const from = (origin: string) => ({ ...pageOf('owner', 'shared'), origin });
  const without = (name: string) => {
    const { [name]: _, ...rest } = pageOf('owner', 'shared');
    return rest;
  };
  const foreign = [403, 'forbidden_origin'];
  const changes = (refusal: unknown[]) => (method: string) => (method === 'GET' ? null : refusal);
  const rows: Row[] = [
    ['without x-gateway-key', () => without('x-gateway-key'), () => DENIED],
    ['from a foreign page', () => from('https://elsewhere.example'), () => foreign],
    ['from the same host at another port', () => from(`${PUBLIC_URL}:8443`), () => foreign],
    ['from the same host over http', () => from(PUBLIC_URL.replace('https', 'http')), () => foreign],
    ['from no page, for a change', () => without('origin'), changes(foreign)],
    [
      'that a browser says another site uses',
      () => ({ ...pageOf('owner', 'shared'), 'sec-fetch-site': 'same-site' }),
      () => foreign,
    ],
    [
      'with a form, for a change',
      () => ({ ...pageOf('owner', 'shared'), 'content-type': 'text/plain' }),
      changes([415, 'unsupported_media_type']),
    ],
    ['beside a wrong key', () => ({ ...pageOf('owner', 'shared'), 'x-api-key': 'tg_live_wrong' }), () => DENIED],
    [
      'twice',
      () => ({ ...pageOf('owner', 'shared'), cookie: `${cookies.get('owner')}; ${cookies.get('member')}` }),
      () => DENIED,
    ],
  ];

  test.each(rows)('%s', async (_, headers, refusalFor) => {
    const routes = EVERY_ROUTE.filter(({ access }) => access === 'key');
    for (const { method, path } of routes) {
      const refusal = refusalFor(method);
      if (refusal === null) continue;
      const body = method === 'GET' || method === 'DELETE' ? {} : { body: JSON.stringify(CALL) };
      const response = await fetch(`${hosted.url}/v1${path.replace('*', 'x')}`, {
        method,
        headers: headers(),
        ...body,
      });
      const shown = (await response.json()) as { error: { code?: string } };
      // The messages wire has no codes.
      const code = shown.error.code ?? refusal[1];
      expect([method, path, response.status, code]).toEqual([method, path, ...refusal]);
    }
  });

  test('after signing out, and after the person was disabled', async () => {
    const { books } = hosted.running;
    const person = await enrol(books, 'leaving@example.com', { roles: [[accountId, 'owner']] });
    const headers = { ...pageOf('owner', 'shared'), cookie: await openSession(books, person) };
    const status = async () => (await hosted.get('/v1/models', headers)).status;
    expect(await status()).toBe(200);
    const out = await fetch(`${hosted.url}/manage/v1/sign-out`, { method: 'POST', headers, body: '{}' });
    expect([out.status, await status()]).toEqual([200, 401]);
    headers.cookie = await openSession(books, person);
    expect(await status()).toBe(200);
    await books.store.directory.disablePerson(person, Date.now(), audit());
    expect(await status()).toBe(401);
  });

  test('from a page that the operator lets make calls with keys of its own', async () => {
    const origin = 'https://app.example';
    const open = await startHarness({ hosted: true, config: { publicUrl: PUBLIC_URL, origins: [origin] } });
    const { secret, keyId } = await open.mint();
    const person = await enrol(open.running.books, 'ada@example.com', { isOperator: true });
    const cookie = await openSession(open.running.books, person);
    const page = { origin, cookie, 'x-gateway-key': formatId(KEY_PREFIX, keyId) };
    const response = await open.get('/v1/models', page);
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
    expect(await refusalOf(response)).toEqual([403, 'forbidden_origin']);
    expect((await open.get('/v1/models', { ...page, authorization: `Bearer ${secret}` })).status).toBe(200);
    await open.stop();
  });
});

test('without https or without the console, a cookie opens nothing', async () => {
  for (const config of [{ publicUrl: null }, { publicUrl: PUBLIC_URL, console: false }]) {
    const harness = await startHarness({ hosted: true, config });
    const { keyId } = await harness.mint();
    const cookie = await openSession(
      harness.running.books,
      await enrol(harness.running.books, 'ada@example.com', { isOperator: true }),
    );
    const page = { origin: PUBLIC_URL, cookie, 'x-gateway-key': formatId(KEY_PREFIX, keyId) };
    expect(await refusalOf(await harness.get('/v1/models', page))).toEqual(DENIED);
    await harness.stop();
  }
});

describe('in local mode', () => {
  let local: Harness;
  let token: Record<string, string>;
  let key: string;
  beforeAll(async () => {
    local = await startHarness();
    token = { authorization: `Bearer ${readFileSync(join(local.folder, 'console.token'), 'utf8').trim()}` };
    key = idOf(await local.mint({ creditNanousd: 1_000_000_000n }));
  });
  afterAll(() => local.stop());

  test('the console’s token chooses a key', async () => {
    const answer = await local.post(CALL, { ...token, 'x-gateway-key': key, origin: new URL(local.url).origin });
    expect(answer.status).toBe(200);
    await answer.text();
    expect(formatId(KEY_PREFIX, (await local.newestReceipt()).keyId!)).toBe(key);
  });

  test('without a key that is chosen, the token changes nothing', async () => {
    const answer = await local.post(CALL, token);
    expect(answer.status).toBe(200);
    await answer.text();
    expect((await local.newestReceipt()).keyId).toBeNull();
  });

  test('a key is chosen neither without the token, nor with another, nor from another page', async () => {
    expect(await refusalOf(await local.post(CALL, { 'x-gateway-key': key }))).toEqual(DENIED);
    const guessed = { authorization: 'Bearer guess', 'x-gateway-key': key };
    expect(await refusalOf(await local.post(CALL, guessed))).toEqual(DENIED);
    const { port } = new URL(local.url);
    const elsewhere = { ...token, 'x-gateway-key': key, origin: `http://127.0.0.1:${Number(port) - 1}` };
    expect(await refusalOf(await local.post(CALL, elsewhere))).toEqual([403, 'forbidden_origin']);
    expect(await refusalOf(await local.post(CALL, { ...token, 'x-gateway-key': 'key_unknown' }))).toEqual(DENIED);
  });
});
