import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { formatId } from '../../src/kit/ids.ts';
import { CONSOLE_URL } from './hosted.ts';
import { hostedSuite } from './hosted-suite.ts';

const suite = hostedSuite();
const { openAs } = suite;

async function middleOf(link: Locator): Promise<string> {
  const { x, y, width, height } = (await link.boundingBox())!;
  return `${x + width / 2}, ${y + height / 2}`;
}

test.each([900, 1024, 1280])('the list of keys is not wider than a window of %i px', async (width) => {
  const { accountId, people } = suite.world;
  const account = formatId('acct_', accountId);
  const page = await openAs('operator', `/keys?account=${account}`);
  const terms = {
    ...{ account, person: formatId('person_', people.get('member')!), name: 'a-name-without-a-space-'.repeat(4) },
    ...{ spend_cap_nanousd: '5000000000', window: 'week', models: ['sim-gpt-mini'] },
  };
  const headers = { 'content-type': 'application/json' };
  const init = JSON.stringify({ method: 'POST', headers, body: JSON.stringify(terms) });
  await page.evaluate(`fetch('/manage/v1/keys', ${init})`);
  await page.setViewportSize({ width, height: 800 });
  await page.reload();
  await page.getByText('of $5.00').first().waitFor();
  await page.waitForLoadState('networkidle');
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
  await page.context().close();
});

test.each([375, 1280])(
  'figures are whole and on one line at %i px: above what a number holds, below zero, and with a long explanation',
  async (width) => {
    const page = await openAs('owner', '/models');
    const amounts = {
      ...{ balance_nanousd: '-12345678901', held_nanousd: '9007199254740993', reserved_nanousd: '9007199254740993' },
      ...{ available_nanousd: '-9223372036854775807', spent_nanousd: '9223372036854775807' },
    };
    await page.route(/\/balance$/, async (route) => {
      const members = Object.entries(amounts).map(([name, digits]) => `"${name}":${digits}`);
      const body = `{"object":"balance","currency":"USD","unlimited":false,${members.join(',')}}`;
      await route.fulfill({ status: 200, contentType: 'application/json', body });
    });
    await page.getByRole('link', { name: 'Balance' }).click();
    await page.setViewportSize({ width, height: 800 });
    const held = page.locator('.text-figure', { hasText: '$9,007,199.25' }).first();
    const exact = '$9,007,199.254740993 · 9,007,199,254,740,993 nanodollars';
    expect(await held.locator('[title]').getAttribute('title')).toBe(exact);
    await page.locator('.text-figure', { hasText: '−$12.35' }).waitFor();
    const figures = `[...document.querySelectorAll('.text-figure, .text-figure + p')]`;
    expect(await page.evaluate(`${figures}.filter((each) => each.scrollWidth > each.clientWidth).length`)).toBe(0);
    const lineHeights = `new Set([...document.querySelectorAll('.text-figure')].map((each) => each.clientHeight)).size`;
    expect(await page.evaluate(lineHeights)).toBe(1);
    await page.context().close();
  },
);

test('the button beside a snippet covers none of its lines on a phone, wherever they are scrolled to', async () => {
  const page = await openAs('owner', '/models?open=sim-gpt-mini');
  await page.setViewportSize({ width: 390, height: 844 });
  const copy = page.getByRole('button', { name: 'Copy the snippet' });
  await copy.scrollIntoViewIfNeeded();
  const lines = (await page.locator('pre').first().boundingBox())!;
  const button = (await copy.boundingBox())!;
  expect(lines.x + lines.width).toBeLessThanOrEqual(button.x);
  expect(button.x + button.width).toBeLessThanOrEqual(390);
  await page.context().close();
});

test('addresses of members and of invitations are whole on a phone', async () => {
  const page = await openAs('operator', `/members?account=${formatId('acct_', suite.world.accountId)}`);
  const address = `${'somebody-with-a-long-name-'.repeat(3)}@mail.example.com`;
  const body = JSON.stringify({ email: address, account: formatId('acct_', suite.world.accountId), role: 'member' });
  const init = JSON.stringify({ method: 'POST', headers: { 'content-type': 'application/json' }, body });
  await page.evaluate(`fetch('/manage/v1/invitations', ${init})`);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.reload();
  await page.getByText(address).waitFor();
  const cut = `[...document.querySelectorAll('tbody td:first-child *')]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    .map(({ textContent }) => textContent)`;
  expect(await page.evaluate(cut)).toEqual([]);
  await page.context().close();
});

test('the chosen page is seen in the navigation of a low window', async () => {
  const page = await openAs('operator', '/models');
  await page.setViewportSize({ width: 1280, height: 640 });
  const link = page.getByRole('link', { name: 'System', exact: true });
  await link.waitFor();
  await page.goto(page.url().replace('/models', '/system'));
  await page.getByText('Settings in force').waitFor();
  const isHidden = `document.elementFromPoint(${await middleOf(link)})?.textContent !== 'System'`;
  expect(await page.evaluate(isHidden)).toBe(false);
  await page.context().close();
});

test('the link that skips the navigation is seen when it has the focus', async () => {
  const page = await openAs('owner', '/models');
  await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
  await page.keyboard.press('Tab');
  const link = page.getByRole('link', { name: 'Skip to the page' });
  expect(await page.evaluate('document.activeElement?.textContent')).toBe('Skip to the page');
  const found = `document.elementFromPoint(${await middleOf(link)})?.textContent`;
  expect(await page.evaluate(found)).toBe('Skip to the page');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.querySelector("main").contains(document.activeElement)')).toBe(true);
  await page.context().close();
});

test('the navigation of a phone can be reached while the gateway cannot, wherever the page is scrolled to', async () => {
  const page = await openAs('owner', '/models');
  await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
  await page.setViewportSize({ width: 390, height: 400 });
  await page.waitForLoadState('networkidle');
  await page.route(/\/manage\/v1\//, (route) => route.abort());
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`);
  await page.getByText('The gateway cannot be reached.').waitFor();
  await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
  await expect.poll(() => page.evaluate('scrollY')).toBeGreaterThan(100);
  const place = await middleOf(page.getByRole('button', { name: 'Pages' }));
  const found = `document.elementFromPoint(${place})?.closest('button')?.getAttribute('aria-label')`;
  expect(await page.evaluate(found)).toBe('Pages');
  await page.context().close();
});

test('a page that waits for a slow gateway is not empty', async () => {
  const page = await openAs('owner', '/models');
  await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route(/\/manage\/v1\/me$/, async (route) => {
    await held;
    await route.fallback();
  });
  await page.reload();
  await page.locator('[data-skeleton]').first().waitFor();
  release();
  await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
  await page.context().close();
});

test.each(['/keys', '/people', '/accounts', '/models', '/audit'])(
  'what can be searched for is whole in the search field on a phone: %s',
  async (path) => {
    const page = await openAs('operator', '');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(CONSOLE_URL + path);
    const field = page.locator('main input[type=search]').first();
    await field.waitFor();
    // As large as on a phone, where smaller letters would enlarge the page.
    const isCut = await page.evaluate(`((input) => {
      input.style.fontSize = '16px';
      input.value = input.placeholder;
      return input.scrollWidth > input.clientWidth;
    })(document.querySelector('main input[type=search]'))`);
    expect(isCut).toBe(false);
    await page.context().close();
  },
);

test.each([390, 900, 1280, 1440])('ids of models are whole at %i px', async (width) => {
  const page = await openAs('operator', '/models');
  await page.setViewportSize({ width, height: 800 });
  await page.getByText('sim-responses').waitFor();
  const ids = `[...document.querySelectorAll('tr .font-mono')]`;
  expect(await page.evaluate(`${ids}.length`)).toBeGreaterThan(4);
  expect(await page.evaluate(`${ids}.filter((each) => each.scrollWidth > each.clientWidth).length`)).toBe(0);
  await page.context().close();
});

test('the operator of a gateway without accounts is led to make one before a key, and told what its kind means', async () => {
  const page = await openAs('operator', '/models');
  const none = JSON.stringify({ object: 'list', data: [], next: null });
  await page.route(/\/manage\/v1\/(accounts|keys|receipts|refusals)\?/, (route) =>
    route.fulfill({ status: 200, contentType: 'application/json', body: none }),
  );
  await page.goto(`${CONSOLE_URL}/members`);
  await page.getByRole('link', { name: 'Create an account' }).waitFor();
  await page.goto(CONSOLE_URL);
  await page.getByText('Make the first call').waitFor();
  await page.getByRole('link', { name: 'Create an account' }).click();
  const dialog = page.getByRole('dialog', { name: 'New account' });
  await dialog.getByText('Calls stop when the balance is used up.').waitFor();
  await dialog.getByLabel('Kind').selectOption('unlimited');
  await dialog.getByText('Only the caps of its keys and members').waitFor();
  await page.context().close();
});
