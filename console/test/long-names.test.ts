import { connect } from 'node:net';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { formatId, parseId } from '../../src/kit/ids.ts';
import { startHarness } from '../../test/harness.ts';
import { enrol } from '../../test/people.ts';
import type { Demo } from './demo-data.ts';
import { demoSuite } from './demo-suite.ts';
import { ManageClient } from './manage-client.ts';

const suite = demoSuite(startLongNames);
const LONG = 'a-name-without-a-space-'.repeat(4);
const WIDTHS = [320, 375, 390, 768, 900, 1024, 1199, 1200, 1280, 1399, 1440];

/** An account in which everything that can be named has a long name, beside the one of local mode. */
async function startLongNames(): Promise<Demo> {
  const world = {
    resolve: async () => ['93.184.216.34'],
    dial: ({ port }: { readonly port: number }) => connect({ host: '127.0.0.2', port }),
  };
  const harness = await startHarness({ world });
  const manage = new ManageClient(harness);
  const { id: account } = await manage.post('/accounts', { name: LONG });
  const accountId = parseId('acct_', account)!;
  const { books } = harness.running;
  const person = await enrol(books, `${'e'.repeat(60)}@example.org`, {
    ...{ name: LONG, isOperator: true },
    roles: [[accountId, 'owner']],
  });
  const cap = { spend_cap_nanousd: '9000000000000000', window: 'month' };
  await manage.patch(`/accounts/${account}/members/${formatId('person_', person)}`, cap);
  await manage.post(`/accounts/${account}/credits`, {
    amount_nanousd: '1234567890000000',
    reference: LONG,
    note: LONG,
  });
  await manage.put(`/webhooks/${'w'.repeat(60)}`, { account, url: `https://example.org/${'p'.repeat(150)}` });
  await manage.post('/invitations', { email: `${'i'.repeat(60)}@example.org`, account, role: 'member' });
  const expires_at = Math.floor(Date.now() / 1000) + 86_400;
  await manage.post('/management-keys', { account, name: LONG, role: 'owner', read_only: true, expires_at });
  const { id, secret, name } = await manage.post('/keys', { account, ...cap, name: LONG, note: LONG });
  const messages = [{ role: 'user', content: 'Hello' }];
  const call = { model: 'sim-gpt-mini', max_tokens: 8, messages };
  const cutOff = { ...call, stream: true, sim: { errorAfterChunks: 2 } };
  const refused = { ...call, model: LONG };
  for (const body of [call, cutOff, refused])
    await (await harness.post(body, { authorization: `Bearer ${secret}` })).text();
  await submitJob(harness.url, secret, call);
  await harness.settled();
  return { harness, manage, account, keys: [{ id, secret, name }] };
}

async function submitJob(url: string, secret: string, body: object): Promise<void> {
  const not_before = new Date(Date.now() + 8 * 3_600_000).toISOString();
  const response = await fetch(`${url}/v1/jobs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ endpoint: '/v1/chat/completions', custom_id: 'c'.repeat(64), body, not_before }),
  });
  expect(response.status).toBe(202);
}

const OF_THE_ACCOUNT = [
  ...['/keys', '/webhooks', '/jobs', '/management-keys', '/members', '/balance', '/requests', '/audit'],
  ...['/usage', '/usage?by=key', '/usage?shape=table', '/alerts', '/'],
];
const OF_ALL_ACCOUNTS = [
  '/accounts',
  '/people',
  '/hosts',
  '/models',
  '/system',
  '/keys',
  '/audit',
  '/requests',
  '/jobs',
];

/** Titles of panels that hide what is too wide for them. What can be scrolled is not hidden. */
const CUT_PANELS = `[...document.querySelectorAll('section')]
  .filter((each) => each.scrollWidth > each.clientWidth && getComputedStyle(each).overflowX !== 'auto')
  .map((each) => each.querySelector('h2')?.textContent ?? '')`;

async function faultsAt(page: Page, width: number): Promise<string[]> {
  const excess = Number(await page.evaluate('document.documentElement.scrollWidth')) - width;
  const cut = (await page.evaluate(CUT_PANELS)) as string[];
  return [...(excess > 0 ? [`${excess} px too wide`] : []), ...cut.map((title) => `“${title}” is cut`)];
}

async function expectFits(path: string): Promise<void> {
  const { page, close } = await suite.open(path);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.locator('[data-skeleton], [aria-busy="true"]').first().waitFor({ state: 'detached' });
  await page.waitForLoadState('networkidle');
  // Plots follow the width of the window a moment later.
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 844 });
    await expect.poll(() => faultsAt(page, width), { message: `at ${width} px` }).toEqual([]);
  }
  await close();
}

test.each(OF_THE_ACCOUNT)('the page %s of an account with long names fits into every window', (path) =>
  expectFits(`${path}${path.includes('?') ? '&' : '?'}account=${suite.demo.account}`),
);

test.each(OF_ALL_ACCOUNTS)('the page %s of all accounts fits into every window', (path) => expectFits(path));
