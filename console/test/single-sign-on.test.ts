import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { formatId } from '../../src/kit/ids.ts';
import { Secret } from '../../src/kit/secret.ts';
import { type RunningProvider, startProvider } from '../../test/oidc-browser.ts';
import { PUBLIC_URL } from '../../test/people.ts';
import { launchBrowser } from './browser.ts';
import { CONSOLE_URL, type HostedWorld, signInAs, startHosted } from './hosted.ts';
import { type PublicProxy, startPublicProxy } from './public-proxy.ts';

const PEOPLE = {
  ada: { email: 'ada@example.com', email_verified: true, name: 'Ada L.' },
  owner: { email: 'owner@example.com', email_verified: true },
  bo: { email: 'bo@example.com', email_verified: true },
  zoe: { email: 'zoe@elsewhere.example', email_verified: true },
};

let provider: RunningProvider;
let world: HostedWorld;
let proxy: PublicProxy;
let browser: Browser;

beforeAll(async () => {
  provider = await startProvider({ redirectUrl: `${PUBLIC_URL}/manage/v1/sso/callback`, people: PEOPLE });
  const clientSecret = new Secret('of the test');
  const sso = { issuer: provider.issuer, clientId: 'tollgate', clientSecret, allowedDomains: [] };
  world = await startHosted({ sso, trustedProxies: ['127.0.0.1'] });
  proxy = await startPublicProxy(world.harness.url);
  browser = await launchBrowser(proxy.browserArguments);
});
afterAll(async () => {
  await browser.close();
  await proxy.stop();
  await world.stop();
  await provider.stop();
});

function newContext(): Promise<BrowserContext> {
  return browser.newContext({ ignoreHTTPSErrors: true, reducedMotion: 'reduce', timezoneId: 'UTC' });
}

/** From the page to sign in, over the page of the provider, to wherever that leads. */
async function goThrough(page: Page, name: keyof typeof PEOPLE, path = ''): Promise<void> {
  await page.goto(CONSOLE_URL + path);
  await page.getByRole('link', { name: 'Continue with 127.0.0.1' }).click();
  await page.getByRole('link', { name, exact: true }).click();
}

const REMEMBERED = `sessionStorage.getItem('tollgate.return')`;

async function invite(email: string): Promise<void> {
  const context = await newContext();
  await signInAs(context, world, 'operator');
  const page = await context.newPage();
  await page.goto(`${CONSOLE_URL}/members?account=${formatId('acct_', world.accountId)}&dialog=invite`);
  await page.getByLabel('Email address').fill(email);
  await page.getByRole('button', { name: 'Make the link' }).click();
  await page.locator('[data-secret]').waitFor();
  await context.close();
}

test('somebody who is invited signs in at the provider and has the role of the invitation', async () => {
  await invite('ada@example.com');
  const context = await newContext();
  const page = await context.newPage();
  await goThrough(page, 'ada');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.getByRole('link', { name: 'ada@example.com' }).click();
  await page.getByText(/^member of /).waitFor();
  await context.close();
});

test('the page to sign in says that nobody has invited you', async () => {
  const context = await newContext();
  const page = await context.newPage();
  await goThrough(page, 'zoe');
  await page.getByRole('alert').getByText('Nobody has invited').waitFor();
  expect(await page.getByRole('navigation').count()).toBe(0);
  await context.close();
});

test('single sign-on leads to the page whose link was opened, also if it failed at first', async () => {
  await invite('bo@example.com');
  const context = await newContext();
  const page = await context.newPage();
  await goThrough(page, 'zoe', '/models?open=sim-gpt');
  await page.getByRole('alert').getByText('Nobody has invited').waitFor();
  await context.clearCookies({ domain: '127.0.0.1' });
  await page.getByRole('link', { name: 'Continue with 127.0.0.1' }).click();
  await page.getByRole('link', { name: 'bo', exact: true }).click();
  await page.getByRole('dialog').getByText('What a call costs').waitFor();
  expect(page.url()).toBe(`${CONSOLE_URL}/models?open=sim-gpt`);
  await context.close();
});

test('a page that was remembered for single sign-on is forgotten once somebody signs in with a password', async () => {
  const context = await newContext();
  const page = await context.newPage();
  // A provider that sends nothing leaves the page as it is.
  await page.route(/\/sso\/start/, (route) => route.fulfill({ status: 204 }));
  await page.route(/\/manage\/v1\/sign-in$/, async (route) => {
    if (route.request().method() !== 'POST') return route.fallback();
    await signInAs(context, world, 'viewer');
    await route.fulfill({ json: { object: 'session' } });
  });
  await page.goto(`${CONSOLE_URL}/models?open=sim-gpt`);
  await page.getByRole('link', { name: 'Continue with 127.0.0.1' }).click();
  await expect.poll(() => page.evaluate(REMEMBERED)).toBe('/console/models?open=sim-gpt');
  await page.getByLabel('Email address').fill('viewer@example.com');
  await page.getByLabel('Password').fill('not looked at');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('dialog').getByText('What a call costs').waitFor();
  expect(await page.evaluate(REMEMBERED)).toBe(null);
  await context.close();
});

test('a person links the identity of the provider, and signs in with it from then on', async () => {
  const context = await newContext();
  const page = await context.newPage();
  await goThrough(page, 'owner');
  await page.getByRole('alert').getByText('already belongs to a person').waitFor();
  await signInAs(context, world, 'owner');
  await page.goto(`${CONSOLE_URL}/profile`);
  await page.getByRole('button', { name: 'Link single sign-on' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.getByRole('link', { name: 'Continue with 127.0.0.1' }).click();
  await page.getByRole('link', { name: 'owner@example.com' }).waitFor();
  await context.close();
});
