import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ACCOUNT_PREFIX, ALERT_PREFIX, KEY_PREFIX } from '../src/canonical/id-prefixes.ts';
import { systemClock } from '../src/kit/clock.ts';
import { formatId } from '../src/kit/ids.ts';
import { LIMITS } from '../src/limits.ts';
import { MANAGE_ROUTES, type ManageRoute } from '../src/manage/routes.ts';
import { SIGN_IN_ROUTES, type SignInRoute } from '../src/manage/sign-in/routes.ts';
import { type OperatorServices, runVerb } from '../src/operator/operator.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';
import { submitJobs } from './job-caller.ts';
import { malformedRequests, managedState, sendMalformed } from './malformed-requests.ts';
import { operatorServices } from './operator-services.ts';
import { enrol, openSession, PUBLIC_URL, storeMembersManagementKey } from './people.ts';

/** Everybody who may send requests to the management API. */
const PRINCIPALS = [
  'nobody',
  'a gateway key',
  'a cookie',
  'an expired key',
  'a revoked key',
  'viewer',
  'member',
  'owner',
  'owner of another account',
  'operator',
  'read-only operator',
  'operator from a foreign page',
  'operator from this host at another port',
  'operator with a form',
  'viewer by session',
  'member by session',
  'owner by session',
  'operator by session',
  'session of nobody with a role',
  'expired session',
  'idle session',
  'signed-out session',
  'session of a disabled person',
  'session from a foreign page',
  'session from this host at another port',
  'session from the public host by http',
  'session from a page without an origin',
  'session that a browser says another site uses',
  'session with a form',
  'session beside a wrong key',
] as const;
type PrincipalName = (typeof PRINCIPALS)[number];

const HOUR_S = 3600;
let harness: Harness;
let caller: MintedKey;
let account: string;
let receipt: string;
const secrets = new Map<PrincipalName, string>();
const cookies = new Map<PrincipalName, string>();
/** An invitation, a management key, an alert, a job and a group of jobs of the account. */
let made: Readonly<Record<'invitation' | 'management_key' | 'alert' | 'job' | 'job_group', string>>;

function services(): OperatorServices {
  const { store, ledger, ids } = harness.running.books;
  return operatorServices({ store, ledger, ids, clock: systemClock, catalog: () => harness.running.catalog });
}

async function mintManagementKey(terms: object): Promise<{ id: string; secret: string }> {
  const expires_at = Math.floor(Date.now() / 1000) + HOUR_S;
  return (await runVerb(services(), 'managementkeys.mint', { expires_at, ...terms })) as { id: string; secret: string };
}

beforeAll(async () => {
  harness = await startHarness({ hosted: true, config: { publicUrl: PUBLIC_URL } });
  caller = await harness.mint();
  const other = await harness.mint();
  account = formatId(ACCOUNT_PREFIX, caller.accountId);
  const otherAccount = formatId(ACCOUNT_PREFIX, other.accountId);
  for (const role of ['viewer', 'owner'] as const)
    secrets.set(role, (await mintManagementKey({ account, role })).secret);
  secrets.set('member', await storeMembersManagementKey(harness.running.books, caller.accountId));
  secrets.set('owner of another account', (await mintManagementKey({ account: otherAccount, role: 'owner' })).secret);
  secrets.set('operator', (await mintManagementKey({})).secret);
  secrets.set('read-only operator', (await mintManagementKey({ read_only: true })).secret);
  const revoked = await mintManagementKey({});
  await runVerb(services(), 'managementkeys.revoke', { management_key: revoked.id });
  secrets.set('a revoked key', revoked.secret);
  const past = { ...services(), clock: { ...systemClock, nowMs: () => Date.now() - 2 * HOUR_S * 1000 } };
  const expires_at = Math.floor(Date.now() / 1000) - HOUR_S;
  const expired = (await runVerb(past, 'managementkeys.mint', { expires_at })) as { secret: string };
  secrets.set('an expired key', expired.secret);
  secrets.set('a gateway key', caller.secret);
  const invited = { email: 'guest@example.com', account, role: 'viewer' };
  const { id: invitation } = (await runVerb(services(), 'people.invite', invited)) as { id: string };
  made = {
    invitation,
    management_key: (await mintManagementKey({ account, role: 'viewer' })).id,
    alert: await raiseAlert(),
    ...(await submitJobs(harness, caller.secret)),
  };
  await openSessions();
  const call = { model: 'sim-gpt-mini', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 8 };
  const answer = await harness.post(call, { authorization: `Bearer ${caller.secret}` });
  await answer.text();
  receipt = answer.headers.get('x-gateway-request-id')!;
});
afterAll(() => harness.stop());

async function raiseAlert(): Promise<string> {
  const { ids, store } = harness.running.books;
  const alert = { id: ids.next(), condition: 'a', kind: 'balance', subject: '', message: '', dataJson: '{}' } as const;
  await store.directory.raiseAlert({ ...alert, accountId: caller.accountId, createdMs: Date.now() }, 0);
  return formatId(ALERT_PREFIX, alert.id);
}

async function openSessions(): Promise<void> {
  const { books } = harness.running;
  for (const role of ['viewer', 'member', 'owner'] as const) {
    const person = await enrol(books, `${role}@example.com`, { roles: [[caller.accountId, role]] });
    cookies.set(`${role} by session`, await openSession(books, person));
  }
  const nobody = await enrol(books, 'nobody@example.com');
  cookies.set('session of nobody with a role', await openSession(books, nobody));
  const operator = await enrol(books, 'operator@example.com', { isOperator: true });
  cookies.set('operator by session', await openSession(books, operator));
  const nowMs = Date.now();
  cookies.set('expired session', await openSession(books, operator, { expiresMs: nowMs - 1 }));
  cookies.set('idle session', await openSession(books, operator, { createdMs: nowMs - LIMITS.sessionIdleMs }));
  cookies.set('signed-out session', await openSession(books, operator));
  const out = await ask(SIGN_IN_ROUTES.find(({ path }) => path === '/sign-out')!, 'signed-out session');
  expect(out.status).toBe(200);
  const disabled = await enrol(books, 'disabled@example.com', { isOperator: true });
  cookies.set('session of a disabled person', await openSession(books, disabled));
  await runVerb(services(), 'people.disable', { person: 'disabled@example.com' });
}

/** An input for each verb. What it names may be unknown: being let in is what is asked. */
const BODIES: Readonly<Record<string, () => object>> = {
  'accounts.create': () => ({ name: '' }),
  'accounts.rename': () => ({ name: '' }),
  'accounts.suspend': () => ({ nothing: 1 }),
  'accounts.resume': () => ({ nothing: 1 }),
  'accounts.close': () => ({ wait_seconds: -1 }),
  'accounts.credit': () => ({ amount_nanousd: 0 }),
  'members.put': () => ({ role: 'king' }),
  'members.update': () => ({ role: 'king' }),
  'keys.mint': () => ({ account, name: '' }),
  'keys.update': () => ({}),
  'providerkeys.put': () => ({ api_key: '', base_url: '' }),
  'providerkeys.verify': () => ({}),
  'webhooks.put': () => ({ account, url: '' }),
  'webhooks.rotate': () => ({ account, grace_seconds: -1 }),
  'webhooks.test': () => ({ account, nothing: 1 }),
  'jobs.cancel': () => ({ nothing: 1 }),
  'jobgroups.cancel': () => ({ nothing: 1 }),
  'jobs.resume': () => ({ restored: false }),
  'jobs.fail': () => ({ restored: false }),
  'alerts.acknowledge': () => ({ nothing: 1 }),
  'alerts.configure': () => ({ cap_percent: -1 }),
  'system.verify': () => ({ since: 'never' }),
  'receipts.refund': () => ({ amount_nanousd: 0 }),
  'keys.rotate': () => ({ grace_seconds: -1 }),
  'keys.disable': () => ({ nothing: 1 }),
  'keys.enable': () => ({ nothing: 1 }),
  'keys.revoke': () => ({ nothing: 1 }),
  'people.update': () => ({}),
  'people.disable': () => ({}),
  'people.enable': () => ({}),
  'people.reset': () => ({}),
  'people.signout': () => ({}),
  'people.invite': () => ({ email: 'nobody', account, role: 'member' }),
  'managementkeys.mint': () => ({ account, role: 'viewer', expires_at: 1 }),
};

function pathOf(route: AnyRoute): string {
  const { path, method } = route;
  const scope = 'scope' in route ? route.scope : undefined;
  const ids: Record<string, string> = { account, key: formatId(KEY_PREFIX, caller.keyId), receipt, ...made };
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'unknown@example.com');
  const isInQuery = scope === 'account' && !path.includes('{account}') && (method === 'GET' || method === 'DELETE');
  return isInQuery ? `${filled}?account=${account}` : filled;
}

function headersOf(who: PrincipalName): Record<string, string> {
  const isOperator = who.startsWith('operator') && !who.includes('session');
  const secret = secrets.get(isOperator ? 'operator' : who);
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (secret !== undefined) headers.authorization = `Bearer ${secret}`;
  if (who === 'a cookie') headers.cookie = `__Host-tollgate=${secrets.get('operator')}`;
  if (who === 'operator from a foreign page') headers.origin = 'https://elsewhere.example';
  if (who === 'operator from this host at another port') headers.origin = 'http://127.0.0.1:1';
  if (who.endsWith('with a form')) headers['content-type'] = 'application/x-www-form-urlencoded';
  return who.includes('session') ? { ...headers, ...sessionHeaders(who) } : headers;
}

const ORIGINS: Readonly<Partial<Record<PrincipalName, string>>> = {
  'session from a foreign page': 'https://elsewhere.example',
  'session from this host at another port': `${PUBLIC_URL}:8443`,
  'session from the public host by http': PUBLIC_URL.replace('https', 'http'),
};

function sessionHeaders(who: PrincipalName): Record<string, string> {
  const headers: Record<string, string> = { cookie: cookies.get(who) ?? cookies.get('operator by session')! };
  if (who !== 'session from a page without an origin') headers.origin = ORIGINS[who] ?? PUBLIC_URL;
  if (who === 'session that a browser says another site uses') headers['sec-fetch-site'] = 'same-site';
  if (who === 'session beside a wrong key') headers.authorization = 'Bearer tg_mgmt_wrong';
  return headers;
}

type AnyRoute = ManageRoute | SignInRoute;

async function ask(route: AnyRoute, who: PrincipalName): Promise<{ status: number; code: string | undefined }> {
  const hasBody = route.method !== 'GET' && route.method !== 'DELETE';
  const body = hasBody ? { body: JSON.stringify('verb' in route ? BODIES[route.verb]!() : {}) } : {};
  const response = await fetch(`${harness.url}/manage/v1${pathOf(route)}`, {
    method: route.method,
    headers: headersOf(who),
    ...body,
  });
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body!.cancel();
    return { status: response.status, code: undefined };
  }
  const answer = (await response.json()) as { error?: { code: string } };
  return { status: response.status, code: answer.error?.code };
}

const RANK = { viewer: 1, member: 2, owner: 3 } as const;

/** The refusal of requests without access, or from the wrong page. Null: the route decides. */
function refusalBeforeRoute(isChange: boolean, who: PrincipalName): [number, string] | null {
  if (/^(nobody|a |an |expired|idle|signed-out|session of a disabled|session beside)/.test(who))
    return [401, 'unauthenticated'];
  if (/ from (a foreign page|this host|the public host)|another site/.test(who)) return [403, 'forbidden_origin'];
  if (who.endsWith('without an origin') && isChange) return [403, 'forbidden_origin'];
  if (who === 'session with a form' && isChange) return [415, 'unsupported_media_type'];
  return null;
}

/** What must happen, by the table: null means that the request reaches its verb. */
function refusalOf(route: ManageRoute, who: PrincipalName): [number, string] | null {
  const isChange = route.method !== 'GET';
  const refusal = refusalBeforeRoute(isChange, who);
  if (refusal !== null) return refusal;
  const hasBody = isChange && route.method !== 'DELETE';
  if (who === 'operator with a form') return hasBody ? [415, 'unsupported_media_type'] : null;
  if (who === 'read-only operator') return isChange ? [403, 'permission_denied'] : null;
  const isKey = /^(viewer|member|owner|operator)$/.test(who);
  if (isKey && route.verb === 'managementkeys.mint') return [403, 'permission_denied'];
  if (who.startsWith('operator') || (who.startsWith('session ') && !who.includes('nobody'))) return null;
  if (route.access === 'anybody') return null;
  if (route.access === 'operator') return [403, 'permission_denied'];
  if (who === 'owner of another account' || who === 'session of nobody with a role') return [404, 'not_found'];
  if (route.membersOwn === 'nothing' && who.startsWith('member')) return [403, 'permission_denied'];
  if (route.membersOwn === 'balance' && who.startsWith('member')) return null;
  if (who === 'member' && route.membersOwn !== undefined) return [403, 'permission_denied'];
  if (who === 'member by session' && /^(key|receipt|job|job_group)$/.test(route.membersOwn ?? ''))
    return [404, 'not_found'];
  if (who === 'member by session' && /^(keys|feed|receipts)$/.test(route.membersOwn ?? '')) return null;
  const rank = RANK[who.split(' ')[0] as keyof typeof RANK];
  return rank >= RANK[route.access.role] ? null : [403, 'permission_denied'];
}

/** A key has no session. */
function refusalOfSignIn(route: SignInRoute, who: PrincipalName): [number, string] | null {
  if ('isNavigation' in route) return null;
  const isChange = route.method !== 'GET';
  const refusal = refusalBeforeRoute(isChange, who);
  const isSignedIn = who.includes('session') && refusal?.[0] !== 401;
  if (route.access === 'signed in' && refusal?.[0] === 401) return refusal;
  if (refusal?.[0] === 403 || refusal?.[0] === 415) return refusal;
  const hasOrigin = who.includes('session');
  if (isChange && !hasOrigin) return [403, 'forbidden_origin'];
  return route.access === 'signed in' && !isSignedIn ? [403, 'permission_denied'] : null;
}

describe.each<AnyRoute>([...MANAGE_ROUTES, ...SIGN_IN_ROUTES])('$method $path', (route) => {
  const isSignOut = route.path === '/sign-out';
  test.each(PRINCIPALS)('%s', async (who) => {
    const refusal = 'verb' in route ? refusalOf(route, who) : refusalOfSignIn(route, who);
    // It would end the sessions that the other tests use.
    if (isSignOut && refusal === null) return;
    const { status, code } = await ask(route, who);
    if (refusal !== null) expect([status, code]).toEqual(refusal);
    else {
      expect([401, 403, 405, 415, 500]).not.toContain(status);
      expect(code).not.toBe('unknown_url');
    }
  });
});

test('every route with a body has an input here', () => {
  const withBody = MANAGE_ROUTES.filter(({ method }) => method !== 'GET' && method !== 'DELETE');
  expect(withBody.filter(({ verb }) => BODIES[verb] === undefined)).toEqual([]);
});

describe('a management key', () => {
  const call = (method: string, path: string, body?: object, headers = {}) =>
    fetch(`${harness.url}/manage/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${secrets.get('operator')}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  test('mints a gateway key that works, which the audit shows with its maker', async () => {
    const minted = await call('POST', '/keys', { account, name: 'from a script', spend_cap_nanousd: 5_000_000_000 });
    expect(minted.status).toBe(201);
    const { id, secret } = (await minted.json()) as { id: string; secret: string };
    const answer = await harness.get('/v1/models', { authorization: `Bearer ${secret}` });
    expect(answer.status).toBe(200);
    const audit = (await (await call('GET', `/audit?subject=${id}`)).json()) as { data: object[] };
    expect(audit.data).toMatchObject([{ action: 'key.mint', actor: { kind: 'management_key', name: 'default' } }]);
    expect(JSON.stringify(audit)).not.toContain(secret);
  });

  test('pays for no call', async () => {
    const refused = await harness.get('/v1/models', { authorization: `Bearer ${secrets.get('operator')}` });
    expect(refused.status).toBe(401);
  });

  test('is refused what nobody knows, and told which methods there are', async () => {
    expect((await call('GET', '/nothing')).status).toBe(404);
    const wrong = await call('DELETE', '/keys');
    expect(wrong.status).toBe(405);
    expect(JSON.stringify(await wrong.json())).toContain('Use GET or POST.');
  });

  test('gets a clear answer to bad input, on every way to give it', async () => {
    const bad = async (method: string, path: string, body?: object): Promise<unknown> =>
      ((await (await call(method, path, body)).json()) as { error: { message: string } }).error.message;
    expect(await bad('POST', '/keys', { account: 'zoe' })).toBe('There is no account "zoe".');
    expect(await bad('POST', '/accounts', { name: 'x', colour: 'red' })).toContain('colour');
    expect(await bad('GET', '/keys?limit=0')).toContain('limit');
    expect(await bad('PATCH', `/keys/${formatId(KEY_PREFIX, caller.keyId)}`, { key: 'key_other' })).toContain(
      'key is given twice',
    );
    expect(await bad('GET', '/people/%E0%A4')).toBe('The path has an invalid percent escape.');
  });

  test('learns that somebody else rotated a key meanwhile, whose first secret goes on working', async () => {
    const { secret, keyId } = await harness.mintFor(caller.accountId);
    const path = `/keys/${formatId(KEY_PREFIX, keyId)}`;
    const etag = (await call('GET', path)).headers.get('etag')!;
    const rotate = () => call('POST', `${path}/rotate`, {}, { 'if-match': etag });
    expect((await rotate()).status).toBe(201);
    expect((await rotate()).status).toBe(412);
    expect((await harness.get('/v1/models', { authorization: `Bearer ${secret}` })).status).toBe(200);
  });

  test('is not taken to have compared versions where a change compares none', async () => {
    const { keyId } = await harness.mintFor(caller.accountId);
    const path = `/keys/${formatId(KEY_PREFIX, keyId)}`;
    const stale = { 'if-match': '"1"' };
    const refused = await call('POST', `${path}/disable`, {}, stale);
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('POST /keys/{key}/disable does not compare versions. Leave out If-Match.');
    expect(await (await call('GET', path, undefined, stale)).json()).toMatchObject({ status: 'active' });
    expect((await call('POST', `${path}/disable`, {}, { 'if-match': '*' })).status).toBe(200);
  });

  test('learns that somebody else changed a person meanwhile', async () => {
    await runVerb(services(), 'people.invite', { email: 'ada@example.com' });
    const { books } = harness.running;
    const audit = { id: books.ids.next(), atMs: 1, actorKind: 'command_line', actorId: null, actorName: '' } as const;
    const rest = { action: 'person.create', subject: '', accountId: null, before: null, after: null, address: null };
    const person = { id: books.ids.next(), email: 'ada@example.com', name: 'Ada', passwordHash: null, identity: null };
    await books.store.directory.createPerson(
      { ...person, isOperator: false, createdMs: Date.now() },
      { ...audit, ...rest },
    );
    const shown = await call('GET', '/people/ada@example.com');
    const etag = shown.headers.get('etag')!;
    const change = (name: string) => call('PATCH', '/people/ada@example.com', { name }, { 'if-match': etag });
    expect((await change('Ada L.')).status).toBe(200);
    expect((await change('Ada B.')).status).toBe(412);
    expect((await call('PATCH', '/people/ada@example.com', { name: 'x' }, { 'if-match': 'abc' })).status).toBe(400);
  });
});

test('malformed requests are refused, never fail, and change nothing', async () => {
  const { store } = harness.running.books;
  const before = await managedState(store);
  const who = fc.constantFrom<PrincipalName>('operator', 'operator by session');
  await fc.assert(
    fc.asyncProperty(malformedRequests(account), who, async (request, who) => {
      expect(await sendMalformed(harness.url, request, headersOf(who))).toBeLessThan(500);
    }),
    { numRuns: 1_000 },
  );
  expect(await managedState(store)).toEqual(before);
});

test('a session pays for no call', async () => {
  const cookie = cookies.get('operator by session')!;
  expect((await harness.get('/v1/models', { cookie, origin: PUBLIC_URL })).status).toBe(401);
  expect((await harness.post({ model: 'x' }, { cookie, origin: PUBLIC_URL })).status).toBe(401);
});
