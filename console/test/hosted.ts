import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core';
import type { Config } from '../../src/config/config.ts';
import type { AccountRole, NewSession } from '../../src/store/people.ts';
import { type Harness, startHarness } from '../../test/harness.ts';
import { enrol, openSession, PUBLIC_URL } from '../../test/people.ts';

export type PersonName = 'operator' | AccountRole;

export interface HostedWorld {
  readonly harness: Harness;
  readonly accountId: bigint;
  readonly people: ReadonlyMap<PersonName, bigint>;
  stop(): Promise<void>;
}

/** A gateway in hosted mode with one account, and a person of each role in it. */
export async function startHosted(config: Partial<Config> = {}): Promise<HostedWorld> {
  const harness = await startHarness({ hosted: true, config: { publicUrl: PUBLIC_URL, ...config } });
  const { accountId } = await harness.mint({ creditNanousd: 25_000_000_000n });
  const people = new Map<PersonName, bigint>();
  for (const name of ['operator', 'owner', 'member', 'viewer'] as const) {
    const roles = name === 'operator' ? [] : [[accountId, name] as const];
    people.set(
      name,
      await enrol(harness.running.books, `${name}@example.com`, { isOperator: name === 'operator', roles }),
    );
  }
  return { harness, accountId, people, stop: () => harness.stop() };
}

/**
 * A browser for which the gateway is at its public address. Requests are passed on as a proxy would, because sessions need
 * https and the gateway speaks http.
 */
export async function publicContext(
  browser: Browser,
  { url }: Harness,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext({ reducedMotion: 'reduce', timezoneId: 'UTC', ...options });
  await context.route(`${PUBLIC_URL}/**`, async (route) => {
    const passedOn = { url: route.request().url().replace(PUBLIC_URL, url), maxRedirects: 0 };
    // If a page is closed in the meantime, its requests and responses are gone.
    const ignored = () => undefined;
    await route
      .fetch(passedOn)
      .then((response) => route.fulfill({ response }), ignored)
      .catch(ignored);
  });
  return context;
}

/** Signs somebody in without their password. */
export async function signInAs(
  context: BrowserContext,
  { harness, people }: HostedWorld,
  name: PersonName,
  session: Partial<NewSession> = {},
): Promise<void> {
  const cookie = await openSession(harness.running.books, people.get(name)!, session);
  const [key = '', ...value] = cookie.split('=');
  await context.addCookies([
    { name: key, value: value.join('='), url: PUBLIC_URL, secure: true, httpOnly: true, sameSite: 'Lax' },
  ]);
}

export const CONSOLE_URL = `${PUBLIC_URL}/console`;
