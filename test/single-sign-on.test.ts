import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashPassword } from '../src/accounts/passwords.ts';
import { systemClock } from '../src/kit/clock.ts';
import { Secret } from '../src/kit/secret.ts';
import { LIMITS } from '../src/limits.ts';
import { commandLine } from '../src/operator/actor.ts';
import { runVerb, type VerbInput, type VerbName, type VerbResult } from '../src/operator/operator.ts';
import { providerFields } from '../src/signin/provider-response.ts';
import { SingleSignOn } from '../src/signin/single-sign-on.ts';
import { type Harness, startHarness } from './harness.ts';
import { OidcBrowser, type RunningProvider, startProvider } from './oidc-browser.ts';
import { cookieOf, enrol, openSession, PUBLIC_URL } from './people.ts';

const CALLBACK = `${PUBLIC_URL}/manage/v1/sso/callback`;
const GATEWAY = new URL(PUBLIC_URL).host;

const PEOPLE = {
  ada: { email: 'ada@example.com', email_verified: true, name: 'Ada L.' },
  eve: { email: 'invited@example.com', email_verified: false, name: 'Eve' },
  boss: { email: 'boss@example.com', email_verified: true },
  zoe: { email: 'zoe@elsewhere.example', email_verified: true },
  dom: { email: 'Dom@Allowed.example', email_verified: true },
  sub: { email: 'sub@sub.allowed.example', email_verified: true },
  twin: { email: 'ADA@example.com', email_verified: true },
};

let provider: RunningProvider;
let harness: Harness;
let aheadMs = 0;

beforeAll(async () => {
  provider = await startProvider({ redirectUrl: CALLBACK, people: PEOPLE });
  const { issuer } = provider;
  const clientSecret = new Secret('of the test');
  harness = await startHarness({
    hosted: true,
    clock: { ...bound(systemClock), nowMs: () => Date.now() + aheadMs },
    config: {
      publicUrl: PUBLIC_URL,
      trustedProxies: ['127.0.0.1'],
      sso: { issuer, clientId: 'tollgate', clientSecret, allowedDomains: ['allowed.example'] },
    },
  });
});
afterAll(async () => {
  await harness.stop();
  await provider.stop();
});

/** The clock's methods, which a spread would lose. */
function bound(clock: typeof systemClock): typeof systemClock {
  return {
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
    after: (...args: Parameters<typeof clock.after>) => clock.after(...args),
  } as typeof systemClock;
}

async function run<Name extends VerbName>(name: Name, input: VerbInput<Name>): Promise<VerbResult<Name>> {
  const { store, ids } = harness.running.books;
  const services = { store, ids, clock: systemClock, actor: commandLine(), publicUrl: PUBLIC_URL, moved: null };
  return (await runVerb(services as never, name, input)) as VerbResult<Name>;
}

let client = 0;

function ask(path: string, headers: Record<string, string> = {}, method = 'GET', body?: object): Promise<Response> {
  return fetch(`${harness.url}/manage/v1${path}`, {
    method,
    redirect: 'manual',
    headers: { 'x-forwarded-for': `198.51.100.${++client}`, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** Begins in the browser, signs in at the provider, and returns the address that the provider sends the browser back to. */
async function goThrough(browser: OidcBrowser, name: string): Promise<URL> {
  const start = await ask('/sso/start');
  expect(start.status).toBe(303);
  browser.keep(GATEWAY, start);
  return browser.signInAs(name, start.headers.get('location')!, CALLBACK);
}

function callBack(browser: OidcBrowser, back: URL): Promise<Response> {
  return ask(`/sso/callback${back.search}`, { cookie: browser.cookies(GATEWAY), 'sec-fetch-site': 'cross-site' });
}

async function signInAs(name: string): Promise<Response> {
  const browser = new OidcBrowser();
  return callBack(browser, await goThrough(browser, name));
}

async function codeOf(response: Response): Promise<[number, string | undefined]> {
  return [response.status, ((await response.json()) as { error?: { code: string } }).error?.code];
}

async function me(response: Response): Promise<object> {
  return (await (await ask('/me', { cookie: cookieOf(response) })).json()) as object;
}

describe('single sign-on', () => {
  test('asks for a code with PKCE, a state and a nonce, under the public address', async () => {
    const start = await ask('/sso/start');
    const { searchParams } = new URL(start.headers.get('location')!);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      redirect_uri: CALLBACK,
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    const [cookie] = start.headers.getSetCookie();
    expect(cookie).toMatch(/^__Host-tollgate-sso=.*; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=600$/);
    expect(cookie).not.toContain(searchParams.get('state')!);
    expect(await (await ask('/sign-in')).json()).toMatchObject({ single_sign_on: { issuer: provider.issuer } });
  });

  test('gives an invited address its roles, and knows the person by issuer and subject from then on', async () => {
    await run('accounts.create', { name: 'ada' });
    await run('accounts.create', { name: 'bob' });
    await run('people.invite', { email: 'ADA@example.com', account: 'ada', role: 'owner' });
    await run('people.invite', { email: 'ada@example.com', account: 'bob', role: 'viewer' });
    const first = await signInAs('ada');
    expect([first.status, first.headers.get('location')]).toEqual([303, '/console']);
    expect(await me(first)).toMatchObject({ kind: 'person', roles: [{ role: 'owner' }, { role: 'viewer' }] });
    const { id, name } = await run('people.show', { person: 'ada@example.com' });
    expect(name).toBe('Ada L.');
    expect((await signInAs('ada')).status).toBe(303);
    expect((await run('people.sessions', { person: id })).data).toHaveLength(2);
    expect(await run('people.show', { person: id })).toMatchObject({ password: false, single_sign_on: true });
  });

  test('refuses another identity with the same verified address', async () => {
    expect(await codeOf(await signInAs('twin'))).toEqual([409, 'refused']);
  });

  test('gives nothing to an address that the provider has not verified', async () => {
    await run('people.invite', { email: 'invited@example.com', operator: true });
    const refused = await signInAs('eve');
    expect(refused.headers.getSetCookie().join()).not.toContain('__Host-tollgate=');
    expect(await codeOf(refused)).toEqual([403, 'permission_denied']);
    await expect(run('people.show', { person: 'invited@example.com' })).rejects.toThrow('There is no person');
  });

  test('lets people of an allowed domain in without a role, and nobody else', async () => {
    expect(await me(await signInAs('dom'))).toMatchObject({ operator: false, roles: [] });
    expect(await codeOf(await signInAs('zoe'))).toEqual([403, 'permission_denied']);
    expect(await codeOf(await signInAs('sub'))).toEqual([403, 'permission_denied']);
  });

  test('is refused for a disabled person', async () => {
    await signInAs('dom');
    await run('people.disable', { person: 'dom@allowed.example' });
    expect(await codeOf(await signInAs('dom'))).toEqual([401, 'sign_in_failed']);
  });
});

describe('an operator with a password', () => {
  test('is not reached by address alone, but links the identity after signing in', async () => {
    const { books } = harness.running;
    const passwordHash = await hashPassword('correct horse battery');
    const boss = await enrol(books, 'boss@example.com', { isOperator: true, passwordHash });
    await run('people.invite', { email: 'boss@example.com', operator: true });
    expect(await codeOf(await signInAs('boss'))).toEqual([409, 'refused']);
    const cookie = await openSession(books, boss);
    const browser = new OidcBrowser();
    const linking = await ask('/sso/link', { cookie, origin: PUBLIC_URL, 'content-type': 'application/json' }, 'POST');
    browser.keep(GATEWAY, linking);
    const { url } = (await linking.json()) as { url: string };
    const back = await browser.signInAs('boss', url, CALLBACK);
    const stranger = await openSession(books, await enrol(books, 'stranger@example.com'));
    const finish = (session: string) =>
      ask(`/sso/callback${back.search}`, { cookie: `${browser.cookies(GATEWAY)}; ${session}` });
    expect(await codeOf(await finish(stranger))).toEqual([401, 'sign_in_required']);
    const again = await ask('/sso/link', { cookie, origin: PUBLIC_URL, 'content-type': 'application/json' }, 'POST');
    browser.keep(GATEWAY, again);
    const second = await browser.signInAs('boss', ((await again.json()) as { url: string }).url, CALLBACK);
    const linked = await ask(`/sso/callback${second.search}`, { cookie: `${browser.cookies(GATEWAY)}; ${cookie}` });
    expect(linked.status).toBe(303);
    expect(await me(await signInAs('boss'))).toMatchObject({ name: 'boss@example.com', operator: true });
  });
});

describe('linking an identity', () => {
  const json = { origin: PUBLIC_URL, 'content-type': 'application/json' };
  const begin = (cookie: string, body: object = {}) =>
    fetch(`${harness.url}/manage/v1/sso/link`, {
      method: 'POST',
      headers: { 'x-forwarded-for': `198.51.100.${++client}`, cookie, ...json },
      body: JSON.stringify(body),
    });
  const old = { createdMs: Date.now() - LIMITS.freshSignInMs - 1 };

  test('needs a sign-in of the last minutes, or the password', async () => {
    const { books } = harness.running;
    const passwordHash = await hashPassword('correct horse battery');
    const person = await enrol(books, 'linker@example.com', { passwordHash });
    const cookie = await openSession(books, person, old);
    expect(await codeOf(await begin(cookie))).toEqual([401, 'sign_in_required']);
    expect(await codeOf(await begin(cookie, { password: 'wrong' }))).toEqual([401, 'sign_in_failed']);
    expect((await begin(cookie, { password: 'correct horse battery' })).status).toBe(200);
    expect((await begin(cookie)).status).toBe(200);
    expect((await begin(await openSession(books, person))).status).toBe(200);
  });

  test('is refused to a browser that made up the cookie of the beginning', async () => {
    const { books } = harness.running;
    const person = await enrol(books, 'left-open@example.com');
    const cookie = await openSession(books, person, {
      createdMs: Date.now() - LIMITS.freshSignInMs - LIMITS.ssoMs - 1,
    });
    const sso = { issuer: provider.issuer, clientId: 'tollgate', clientSecret: new Secret('of the test') };
    const forged = new SingleSignOn({
      settings: { ...sso, allowedDomains: [] },
      redirectUrl: CALLBACK,
      clock: systemClock,
    });
    const { url, cookie: line } = await forged.start(person);
    const back = await new OidcBrowser().signInAs('zoe', url, CALLBACK);
    const both = `${line.split(';')[0]}; ${cookie}`;
    const refused = await ask(`/sso/callback${back.search}`, { cookie: both });
    expect(await codeOf(refused)).toEqual([401, 'sign_in_required']);
    expect((await books.store.directory.findPerson(person))?.identity).toBeNull();
  });

  test('ends the other sessions, confirms a verified address, and is in the audit with both identities', async () => {
    const { books } = harness.running;
    await run('accounts.create', { name: 'nets' });
    const account = (await books.store.findAccount('nets'))!;
    const owner = await enrol(books, 'nets-owner@example.com', { roles: [[account.id, 'owner']] });
    const invited = await ask('/invitations', { cookie: await openSession(books, owner), ...json }, 'POST', {
      email: 'zoe@elsewhere.example',
      account: 'nets',
      role: 'member',
    });
    const { secret } = (await invited.json()) as { secret: string };
    const joining = { secret, name: 'Zoe', password: 'correct horse battery' };
    const joined = await ask('/invitations/accept', json, 'POST', joining);
    expect(await joined.clone().json()).toMatchObject({ address_confirmed: false });
    const { id } = (await joined.json()) as { id: string };
    const other = cookieOf(
      await ask('/sign-in', json, 'POST', { email: 'zoe@elsewhere.example', password: joining.password }),
    );
    const browser = new OidcBrowser();
    const link = async (name: string) => {
      const begun = await begin(cookieOf(joined));
      browser.keep(GATEWAY, begun);
      const { url } = (await begun.json()) as { url: string };
      const back = await new OidcBrowser().signInAs(name, url, CALLBACK);
      return ask(`/sso/callback${back.search}`, { cookie: `${browser.cookies(GATEWAY)}; ${cookieOf(joined)}` });
    };
    expect((await link('sub')).status).toBe(303);
    expect(await run('people.show', { person: id })).toMatchObject({ address_confirmed: false, password: true });
    expect((await ask('/me', { cookie: other })).status).toBe(401);
    expect((await link('zoe')).status).toBe(303);
    const shown = { address_confirmed: true, password: false, single_sign_on: true };
    expect(await run('people.show', { person: id })).toMatchObject(shown);
    const [latest] = (await run('audit.list', { action: 'person.link' })).data;
    expect(latest).toMatchObject({
      subject: id,
      before: { subject: 'sub' },
      after: { subject: 'zoe', address_confirmed: true },
    });
  });
});

describe("the provider's answer", () => {
  test('is taken once', async () => {
    await run('people.invite', { email: 'ada@example.com' });
    const browser = new OidcBrowser();
    const back = await goThrough(browser, 'ada');
    const cookie = browser.cookies(GATEWAY);
    const [one, two] = await Promise.all([callBack(browser, back), callBack(browser, back)]);
    expect([one.status, two.status].sort()).toEqual([303, 400]);
    expect(await codeOf(await ask(`/sso/callback${back.search}`, { cookie }))).toEqual([400, 'sso_refused']);
  });

  test('is refused in another browser, with another state, and without one', async () => {
    const [mine, theirs] = [new OidcBrowser(), new OidcBrowser()];
    const back = await goThrough(mine, 'ada');
    await goThrough(theirs, 'ada');
    expect(await codeOf(await callBack(theirs, back))).toEqual([400, 'sso_refused']);
    expect(await codeOf(await callBack(new OidcBrowser(), back))).toEqual([400, 'sso_refused']);
    const changed = new URL(back);
    changed.searchParams.set('state', 'A'.repeat(43));
    expect(await codeOf(await callBack(mine, changed))).toEqual([400, 'sso_refused']);
    changed.searchParams.delete('state');
    expect(await codeOf(await callBack(mine, changed))).toEqual([400, 'sso_refused']);
    expect((await callBack(mine, back)).status).toBe(303);
  });

  test('counts for no limit if nobody began it, and apart from passwords otherwise', async () => {
    await enrol(harness.running.books, 'busy@example.com', {
      passwordHash: await hashPassword('correct horse battery'),
    });
    const from = { 'x-forwarded-for': '203.0.113.9' };
    const junk = () => ask('/sso/callback?state=x&code=y', from);
    for (let count = 0; count <= 2 * LIMITS.signInFailuresMax; count++)
      expect(await codeOf(await junk())).toEqual([400, 'sso_refused']);
    const madeUp = async (): Promise<[number, string | undefined]> => {
      const browser = new OidcBrowser();
      const back = await goThrough(browser, 'ada');
      return codeOf(
        await ask(`/sso/callback?state=${back.searchParams.get('state')}&code=y`, {
          ...from,
          cookie: browser.cookies(GATEWAY),
        }),
      );
    };
    for (let count = 0; count < LIMITS.signInFailuresMax; count++) expect(await madeUp()).toEqual([400, 'sso_refused']);
    expect(await madeUp()).toEqual([429, 'rate_limit_exceeded']);
    const headers = { ...from, origin: PUBLIC_URL, 'content-type': 'application/json' };
    const body = { email: 'busy@example.com', password: 'correct horse battery' };
    expect((await ask('/sign-in', headers, 'POST', body)).status).toBe(201);
    expect(harness.log).toContainEqual(
      expect.objectContaining({ msg: 'Single sign-on failed.', address: '203.0.113.9' }),
    );
  });

  test('is refused after ten minutes, even if the cookie was made younger', async () => {
    const browser = new OidcBrowser();
    const back = await goThrough(browser, 'ada');
    const cookie = browser.cookies(GATEWAY);
    aheadMs = LIMITS.ssoMs;
    try {
      expect(await codeOf(await callBack(browser, back))).toEqual([400, 'sso_refused']);
      const younger = cookie.replace(/\.\d+\./, `.${Date.now() + aheadMs}.`);
      expect(await codeOf(await ask(`/sso/callback${back.search}`, { cookie: younger }))).toEqual([400, 'sso_refused']);
    } finally {
      aheadMs = 0;
    }
  });

  test('is taken by a process whose clock is behind that of the one which began', async () => {
    const browser = new OidcBrowser();
    const back = await goThrough(browser, 'ada');
    try {
      aheadMs = -LIMITS.ssoSkewMs / 2;
      expect((await callBack(browser, back)).status).toBe(303);
    } finally {
      aheadMs = 0;
    }
  });

  test('with a foreign code, or an error, signs nobody in', async () => {
    const [mine, theirs] = [new OidcBrowser(), new OidcBrowser()];
    const back = await goThrough(mine, 'ada');
    const foreign = await goThrough(theirs, 'boss');
    back.searchParams.set('code', foreign.searchParams.get('code')!);
    const refused = await callBack(mine, back);
    expect(refused.headers.getSetCookie()).toEqual([]);
    expect(await codeOf(refused)).toEqual([400, 'sso_refused']);
    const another = new OidcBrowser();
    const failed = await goThrough(another, 'ada');
    failed.searchParams.delete('code');
    failed.searchParams.set('error', 'access_denied');
    expect(await codeOf(await callBack(another, failed))).toEqual([400, 'sso_refused']);
    const failures = harness.log.filter(({ msg }) => msg === 'Single sign-on failed.').slice(-2);
    expect(failures).toMatchObject([
      { provider_status: 400, provider_error: 'invalid_grant' },
      { provider_error: 'access_denied' },
    ]);
  });

  test('with an error that is not a code of OAuth leaves it out of the log', async () => {
    const browser = new OidcBrowser();
    const back = await goThrough(browser, 'ada');
    back.searchParams.delete('code');
    back.searchParams.set('error', 'a text of anybody');
    expect(await codeOf(await callBack(browser, back))).toEqual([400, 'sso_refused']);
    expect(JSON.stringify(harness.log)).not.toContain('a text of anybody');
  });
});

test('a client secret that the provider does not accept is named in the log', async () => {
  const { issuer } = provider;
  const sso = { issuer, clientId: 'tollgate', clientSecret: new Secret('of yesterday'), allowedDomains: [] };
  const singleSignOn = new SingleSignOn({ settings: sso, redirectUrl: CALLBACK, clock: systemClock });
  const { url, cookie } = await singleSignOn.start(null);
  const back = await new OidcBrowser().signInAs('ada', url, CALLBACK);
  const begun = singleSignOn.begunBy(cookie.split(';')[0]!, back.searchParams);
  const failure: unknown = await singleSignOn.finish(begun, back.searchParams).catch((error: unknown) => error);
  expect(providerFields(failure)).toEqual({ provider_status: 401, provider_error: 'invalid_client' });
});
