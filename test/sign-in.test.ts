import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashPassword } from '../src/accounts/passwords.ts';
import { findSession } from '../src/accounts/sessions.ts';
import { ManualClock } from '../src/kit/clock.ts';
import { parseId } from '../src/kit/ids.ts';
import { LIMITS } from '../src/limits.ts';
import { commandLine } from '../src/operator/actor.ts';
import { runVerb, type VerbInput, type VerbName, type VerbResult } from '../src/operator/operator.ts';
import { type Harness, startHarness } from './harness.ts';
import { cookieOf, enrol, openSession, PUBLIC_URL } from './people.ts';

const PASSWORD = 'correct horse battery';
let harness: Harness;
let passwordHash: string;
let client = 0;

beforeAll(async () => {
  passwordHash = await hashPassword(PASSWORD);
  harness = await startHarness({
    hosted: true,
    config: { publicUrl: PUBLIC_URL, trustedProxies: ['127.0.0.1'] },
  });
});
afterAll(() => harness.stop());

/** As a command, without the server's HTTP. */
async function run<Name extends VerbName>(name: Name, input: VerbInput<Name>): Promise<VerbResult<Name>> {
  const { store, ids } = harness.running.books;
  const clock = { ...harness.running.gateway.clock, nowMs: () => Date.now() };
  const services = { store, ids, clock, actor: commandLine(), publicUrl: PUBLIC_URL, moved: null };
  return (await runVerb(services as never, name, input)) as VerbResult<Name>;
}

interface Asking {
  readonly cookie?: string;
  readonly origin?: string | null;
  readonly from?: string;
  readonly body?: object;
}

/** A request of our own page; each of another client unless it names one. */
function call(
  method: string,
  path: string,
  { cookie, origin = PUBLIC_URL, from, body }: Asking = {},
): Promise<Response> {
  return fetch(`${harness.url}/manage/v1${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': from ?? `198.51.100.${++client}`,
      ...(cookie !== undefined && { cookie }),
      ...(origin !== null && { origin }),
    },
    ...(method === 'POST' && { body: JSON.stringify(body ?? {}) }),
  });
}

const signIn = (email: string, password = PASSWORD, asking: Asking = {}) =>
  call('POST', '/sign-in', { ...asking, body: { email, password } });

async function codeOf(response: Response): Promise<[number, string | undefined]> {
  return [response.status, ((await response.json()) as { error?: { code: string } }).error?.code];
}

async function audited(action: string): Promise<{ address: string | null; actor: { name: string } }[]> {
  return (await run('audit.list', { action })).data as never;
}

describe('an invitation', () => {
  test('makes a person with a password and the role, and signs them in', async () => {
    await run('accounts.create', { name: 'ada' });
    const { secret } = await run('people.invite', { email: 'Ada@example.com', account: 'ada', role: 'owner' });
    const accept = (body: object) => call('POST', '/invitations/accept', { from: '192.0.2.9', body });
    expect(await codeOf(await accept({ secret, name: 'Ada' }))).toEqual([400, 'invalid_input']);
    expect(await codeOf(await accept({ secret, name: 'Ada', password: 'password' }))).toEqual([400, 'invalid_input']);
    const accepted = await accept({ secret, name: 'Ada', password: PASSWORD });
    expect(accepted.headers.getSetCookie()[0]).toMatch(/^__Host-tollgate=.*; Path=\/; Secure; HttpOnly; SameSite=Lax;/);
    const me = await call('GET', '/me', { cookie: cookieOf(accepted) });
    expect(await me.json()).toMatchObject({ kind: 'person', name: 'Ada@example.com', roles: [{ role: 'owner' }] });
    expect(await codeOf(await accept({ secret, name: 'Eve', password: PASSWORD }))).toEqual([404, 'not_found']);
    const again = await signIn('ada@EXAMPLE.com');
    expect(again.status).toBe(201);
    expect(JSON.stringify(await again.json())).not.toContain(cookieOf(again).split('=')[1]!);
    expect(await audited('invitation.accept')).toMatchObject([
      { address: '192.0.2.9', actor: { name: 'Ada@example.com' } },
    ]);
  });

  test('for the address of an operator gives nothing until that person signs in', async () => {
    await run('accounts.create', { name: 'lure' });
    const operator = await enrol(harness.running.books, 'root@example.com', { isOperator: true, passwordHash });
    const stranger = await openSession(harness.running.books, await enrol(harness.running.books, 'eve@example.com'));
    const { secret } = await run('people.invite', { email: 'ROOT@example.com', account: 'lure', role: 'member' });
    const accept = (asking: Asking) => call('POST', '/invitations/accept', asking);
    const mine = { secret, name: 'Eve', password: 'a password of my own' };
    expect(await codeOf(await accept({ body: mine }))).toEqual([401, 'sign_in_required']);
    expect(await codeOf(await accept({ body: mine, cookie: stranger }))).toEqual([401, 'sign_in_required']);
    expect(await codeOf(await signIn('root@example.com', mine.password))).toEqual([401, 'sign_in_failed']);
    const cookie = cookieOf(await signIn('root@example.com'));
    expect(await codeOf(await accept({ body: mine, cookie }))).toEqual([400, 'invalid_input']);
    expect((await accept({ body: { secret }, cookie })).status).toBe(200);
    const { directory } = harness.running.books.store;
    expect(await directory.findPerson(operator)).toMatchObject({ passwordHash, isOperator: true });
    expect(await directory.membershipsOf(operator)).toHaveLength(1);
  });

  test('says what it is for to whoever has its secret, until it is used', async () => {
    const { books } = harness.running;
    await run('accounts.create', { name: 'read' });
    const known = await openSession(books, await enrol(books, 'known@example.com', { passwordHash }));
    const read = async (secret: string, cookie = ''): Promise<unknown> =>
      (await call('POST', '/invitations/read', { cookie, body: { secret } })).json();
    const invite = (email: string) => run('people.invite', { email, account: 'read', role: 'member' });
    const fresh = (await invite('fresh@example.com')).secret;
    const object = 'invitation_link';
    const forFresh = { object, email: 'fresh@example.com', operator: false, role: 'member', account_name: 'read' };
    expect(await read(fresh)).toEqual({ ...forFresh, purpose: 'new_person', signed_in: 'nobody' });
    expect(await read(fresh, known)).toMatchObject({ purpose: 'new_person', signed_in: 'somebody_else' });
    const { secret } = await invite('KNOWN@example.com');
    expect(await read(secret)).toMatchObject({ purpose: 'existing_person', signed_in: 'nobody' });
    expect(await read(secret, known)).toMatchObject({ purpose: 'existing_person', signed_in: 'this_person' });
    const reset = await run('people.reset', { person: 'known@example.com' });
    expect(await read(reset.secret)).toMatchObject({ purpose: 'new_password', role: null });
    await call('POST', '/invitations/accept', { body: { secret: fresh, name: 'F', password: PASSWORD } });
    for (const gone of [fresh, 'nothing'])
      expect(await codeOf(await call('POST', '/invitations/read', { body: { secret: gone } }))).toEqual([
        404,
        'not_found',
      ]);
  });

  test('names its account only to those who could accept it as they are', async () => {
    const { books } = harness.running;
    await run('accounts.create', { name: 'named' });
    const { id } = await run('accounts.create', { name: 'elsewhere' });
    const owner = await enrol(books, 'elsewhere@example.com', { roles: [[parseId('acct_', id)!, 'owner']] });
    const invite = async (email: string, account: string, cookie: string) => {
      const made = await call('POST', '/invitations', { cookie, body: { email, account, role: 'member' } });
      return ((await made.json()) as { secret: string }).secret;
    };
    const operator = await openSession(books, await enrol(books, 'names@example.com', { isOperator: true }));
    const nameIn = async (secret: string, cookie = ''): Promise<unknown> =>
      (
        (await (await call('POST', '/invitations/read', { cookie, body: { secret } })).json()) as {
          account_name: unknown;
        }
      ).account_name;
    const known = await openSession(books, await enrol(books, 'asked@example.com'));
    const forKnown = await invite('asked@example.com', 'named', operator);
    expect([await nameIn(forKnown), await nameIn(forKnown, operator), await nameIn(forKnown, known)]).toEqual([
      null,
      null,
      'named',
    ]);
    const body = { secret: await invite('vague@example.com', 'elsewhere', await openSession(books, owner)) };
    const joined = await call('POST', '/invitations/accept', { body: { ...body, name: 'V', password: PASSWORD } });
    const unconfirmed = await invite('vague@example.com', 'named', operator);
    expect(await nameIn(unconfirmed, cookieOf(joined))).toBeNull();
  });

  test('gives nothing once its maker may not give it any more, and says nothing', async () => {
    const { books } = harness.running;
    const inviter = await enrol(books, 'former@example.com', { isOperator: true });
    const cookie = await openSession(books, inviter);
    const made = await call('POST', '/invitations', { cookie, body: { email: 'friend@example.com', operator: true } });
    const { secret } = (await made.json()) as { secret: string };
    await run('people.update', { person: 'former@example.com', operator: false });
    const accepted = await call('POST', '/invitations/accept', { body: { secret, name: 'F', password: PASSWORD } });
    expect(await codeOf(accepted)).toEqual([404, 'not_found']);
    expect(await codeOf(await call('POST', '/invitations/read', { body: { secret } }))).toEqual([404, 'not_found']);
  });
});

describe('a reset link', () => {
  test('sets the password of its person and ends their sessions', async () => {
    const { books } = harness.running;
    const person = await enrol(books, 'reset@example.com', { passwordHash });
    const before = await openSession(books, person);
    const { secret } = await run('people.reset', { person: 'reset@example.com' });
    const password = 'another good password';
    const accepted = await call('POST', '/invitations/accept', { body: { secret, password } });
    expect((await call('GET', '/me', { cookie: cookieOf(accepted) })).status).toBe(200);
    expect((await call('GET', '/me', { cookie: before })).status).toBe(401);
    expect(await codeOf(await signIn('reset@example.com'))).toEqual([401, 'sign_in_failed']);
    expect((await signIn('reset@example.com', password)).status).toBe(201);
  });
});

describe('a session', () => {
  test('is new at each sign-in: one that the browser brings is not taken over, and ends', async () => {
    const { books } = harness.running;
    await enrol(books, 'fix@example.com', { passwordHash });
    const planted = `__Host-tollgate=${'A'.repeat(43)}`;
    const first = cookieOf(await signIn('fix@example.com', PASSWORD, { cookie: planted }));
    expect(first).not.toBe(planted);
    expect((await call('GET', '/me', { cookie: planted })).status).toBe(401);
    const second = cookieOf(await signIn('fix@example.com', PASSWORD, { cookie: first }));
    expect(second).not.toBe(first);
    expect((await call('GET', '/me', { cookie: first })).status).toBe(401);
    expect((await call('GET', '/me', { cookie: second })).status).toBe(200);
    expect((await call('GET', '/me', { cookie: `${second}; ${planted}` })).status).toBe(401);
  });

  test('cannot be begun by another page, nor without saying which page asks', async () => {
    for (const origin of ['https://elsewhere.example', `${PUBLIC_URL}:8443`, 'null', null])
      expect(await codeOf(await signIn('fix@example.com', PASSWORD, { origin }))).toEqual([403, 'forbidden_origin']);
  });

  test('is listed and ended by its person, and by nobody else', async () => {
    const { books } = harness.running;
    const person = await enrol(books, 'lists@example.com');
    const [one, two] = [await openSession(books, person), await openSession(books, person, { userAgent: 'phone' })];
    const stranger = await openSession(books, await enrol(books, 'other@example.com'));
    const list = (await (await call('GET', '/me/sessions', { cookie: one })).json()) as {
      data: { id: string; current: boolean; user_agent: string }[];
    };
    expect(list.data.map(({ current, user_agent }) => [current, user_agent])).toEqual([
      [true, ''],
      [false, 'phone'],
    ]);
    const path = `/me/sessions/${list.data[1]!.id}`;
    expect(await codeOf(await call('DELETE', path, { cookie: stranger }))).toEqual([404, 'not_found']);
    expect((await call('DELETE', path, { cookie: one })).status).toBe(200);
    expect((await call('GET', '/me', { cookie: two })).status).toBe(401);
    const out = await call('POST', '/sign-out', { cookie: one });
    expect(out.headers.getSetCookie()[0]).toContain('__Host-tollgate=; ');
    expect((await call('GET', '/me', { cookie: one })).status).toBe(401);
  });

  test.each([
    ['GET', '/sign-in?next=elsewhere', undefined, 'next'],
    ['GET', '/me/sessions?format=csv', undefined, 'format'],
    ['POST', '/sign-out', { everywhere: true }, 'everywhere'],
  ])('is not read or ended by a request with a field that is not known: %s %s', async (method, path, body, param) => {
    const { books } = harness.running;
    const cookie = await openSession(books, await enrol(books, `${param}@example.com`));
    const refused = await call(method, path, { cookie, ...(body !== undefined && { body }) });
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { code: 'invalid_input', param } }]);
    expect((await call('GET', '/me', { cookie })).status).toBe(200);
  });

  test('ends with the person, and what they may do with their roles', async () => {
    const { books } = harness.running;
    const cookie = await openSession(books, await enrol(books, 'gone@example.com', { isOperator: true }));
    expect((await call('GET', '/people', { cookie })).status).toBe(200);
    await run('people.update', { person: 'gone@example.com', operator: false });
    expect((await call('GET', '/people', { cookie })).status).toBe(403);
    await run('people.disable', { person: 'gone@example.com' });
    expect((await call('GET', '/me', { cookie })).status).toBe(401);
    await run('people.enable', { person: 'gone@example.com' });
    expect((await call('GET', '/me', { cookie })).status).toBe(401);
  });

  test('is not made for a person who was disabled or changed while the password was checked', async () => {
    const { books } = harness.running;
    const person = await enrol(books, 'race@example.com', { passwordHash });
    const { directory } = books.store;
    const { version } = (await directory.findPerson(person))!;
    await run('people.update', { person: 'race@example.com', name: 'Race' });
    const session = { id: books.ids.next(), sha256Hex: 'x', personId: person, createdMs: 1, expiresMs: 2 };
    const audit = { id: books.ids.next(), atMs: 1, actorKind: 'person', actorId: person, actorName: '' } as const;
    const rest = { action: 'x', subject: '', accountId: null, before: null, after: null, address: null };
    const made = directory.createSession({ ...session, address: '', userAgent: '' }, version, 9, { ...audit, ...rest });
    expect(await made).toBe('person_changed');
    expect(await directory.listSessions(person)).toEqual([]);
  });
});

describe('a password', () => {
  test('is replaced with the current one, which ends all other sessions', async () => {
    const { books } = harness.running;
    const person = await enrol(books, 'change@example.com', { passwordHash });
    const [mine, other] = [await openSession(books, person), await openSession(books, person)];
    const change = (body: object) => call('POST', '/me/password', { cookie: mine, body });
    const password = 'a newer good password';
    expect(await codeOf(await change({ current: 'wrong', password }))).toEqual([401, 'sign_in_failed']);
    expect(await codeOf(await change({ current: PASSWORD, password: 'short' }))).toEqual([400, 'invalid_input']);
    expect((await change({ current: PASSWORD, password })).status).toBe(200);
    expect((await call('GET', '/me', { cookie: mine })).status).toBe(200);
    expect((await call('GET', '/me', { cookie: other })).status).toBe(401);
    expect((await signIn('change@example.com', password)).status).toBe(201);
  });

  test('can be guessed five times a minute by one client, who keeps nobody else from signing in', async () => {
    await enrol(harness.running.books, 'guess@example.com', { passwordHash });
    const from = '203.0.113.77';
    const guesses = await Promise.all(
      Array.from({ length: 12 }, (_, at) => signIn('guess@example.com', `guess ${at}`, { from: '203.0.113.78' })),
    );
    const statuses = guesses.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(5).fill(401), ...Array(7).fill(429)]);
    const refused = await signIn('guess@example.com', PASSWORD, { from: '203.0.113.78' });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await signIn('guess@example.com')).status).toBe(201);
    const spread = await Promise.all(
      Array.from({ length: 8 }, (_, at) => signIn(`unknown-${at}@example.com`, 'wrong', { from })),
    );
    expect(spread.filter(({ status }) => status === 401)).toHaveLength(5);
    expect((await signIn('fix@example.com', PASSWORD, { from })).status).toBe(429);
    expect((await signIn('fix@example.com')).status).toBe(201);
  });

  test('is refused alike for an unknown address, a disabled person and one who has no password', async () => {
    const { books } = harness.running;
    await enrol(books, 'no-password@example.com');
    await enrol(books, 'off@example.com', { passwordHash });
    await run('people.disable', { person: 'off@example.com' });
    const answers = await Promise.all(
      ['unknown@example.com', 'no-password@example.com', 'off@example.com'].map(async (email) => {
        const response = await signIn(email);
        const { error } = (await response.json()) as { error: object };
        return [response.status, error, response.headers.getSetCookie()];
      }),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  });
});

test('a failed sign-in is logged with the client, without what was typed, and counted', async () => {
  const counted = async (outcome: string): Promise<number> => {
    const text = await (await fetch(`${harness.running.operationsUrl}/metrics`)).text();
    return Number(new RegExp(`tollgate_sign_ins_total\\{outcome="${outcome}"\\} (\\d+)`).exec(text)?.[1] ?? 0);
  };
  const before = await counted('failed');
  await signIn('typo@example.com', 'a secret that is wrong', { from: '192.0.2.77' });
  const line = harness.log.findLast(({ msg }) => msg === 'A sign-in failed.');
  expect(line).toMatchObject({ address: '192.0.2.77', email_sha256: expect.stringMatching(/^[0-9a-f]{16}$/) });
  expect(JSON.stringify(harness.log)).not.toContain('a secret that is wrong');
  expect(JSON.stringify(harness.log)).not.toContain('typo@example.com');
  expect(await counted('failed')).toBe(before + 1);
  expect([(await counted('succeeded')) > 0, (await counted('limited')) > 0]).toEqual([true, true]);
});

test('a proxy that is not trusted is named in the log, once', async () => {
  const untrusting = await startHarness({ hosted: true, config: { publicUrl: PUBLIC_URL } });
  try {
    const ask = (headers: Record<string, string>) => fetch(`${untrusting.url}/manage/v1/sign-in`, { headers });
    const warnings = () => untrusting.log.filter(({ msg }) => String(msg).includes('trusted_proxies'));
    await ask({});
    expect(warnings()).toEqual([]);
    for (const client of ['198.51.100.1', '198.51.100.2']) await ask({ 'x-forwarded-for': client });
    expect(warnings()).toMatchObject([{ level: 'warn', address: '127.0.0.1' }]);
  } finally {
    await untrusting.stop();
  }
  expect(harness.log.some(({ msg }) => String(msg).includes('trusted_proxies'))).toBe(false);
});

test('every way in is in the audit with the address of the client', async () => {
  await signIn('fix@example.com', PASSWORD, { from: '192.0.2.200' });
  expect((await audited('session.begin'))[0]).toMatchObject({
    address: '192.0.2.200',
    actor: { name: 'fix@example.com' },
  });
});

test('GET /sign-in says how to sign in, and nobody can where a cookie would travel without TLS', async () => {
  expect(await (await call('GET', '/sign-in')).json()).toMatchObject({ password: true, unavailable: null });
  const plain = await startHarness({ hosted: true, config: { publicUrl: 'http://gateway.example' } });
  try {
    const ask = (method: string, path: string, headers = {}) =>
      fetch(`${plain.url}/manage/v1${path}`, { method, headers: { 'content-type': 'application/json', ...headers } });
    expect(await (await ask('GET', '/sign-in')).json()).toMatchObject({ password: false });
    const refused = await ask('POST', '/sign-in', { origin: 'http://gateway.example' });
    expect(await codeOf(refused)).toEqual([409, 'refused']);
    const { books } = plain.running;
    const cookie = await openSession(books, await enrol(books, 'a@example.com', { isOperator: true }));
    expect((await ask('GET', '/me', { cookie })).status).toBe(401);
  } finally {
    await plain.stop();
  }
});

test('a session ends after 12 hours without use, and after 7 days of use', async () => {
  const { books } = harness.running;
  const { directory } = books.store;
  const clock = new ManualClock(Date.now());
  const person = await enrol(books, 'week@example.com');
  const open = () => openSession(books, person, { expiresMs: clock.nowMs() + LIMITS.sessionMs });
  const [used, unused] = [await open(), await open()];
  const isOpen = async (cookie: string) => (await findSession(cookie, { directory, clock })) !== null;
  const elevenHoursMs = 11 * 3_600_000;
  const endsMs = clock.nowMs() + LIMITS.sessionMs;
  for (; clock.nowMs() < endsMs; clock.advance(elevenHoursMs)) expect(await isOpen(used)).toBe(true);
  expect([await isOpen(used), await isOpen(unused)]).toEqual([false, false]);
  const late = await open();
  clock.advance(LIMITS.sessionIdleMs);
  expect(await isOpen(late)).toBe(false);
});
