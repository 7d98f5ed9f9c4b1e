import type { Page, Route } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { formatId } from '../../src/kit/ids.ts';
import { CONSOLE_URL } from './hosted.ts';
import { hostedSuite } from './hosted-suite.ts';

const suite = hostedSuite();
const { openAs } = suite;

/** Keeps what matches from the gateway until it is released. */
async function hold(page: Page, url: RegExp): Promise<() => void> {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route(url, async (route) => {
    if (route.request().method() === 'POST') await held;
    await route.fallback();
  });
  return release;
}

function parameter(page: Page, name: string): string | null {
  return new URL(page.url()).searchParams.get(name);
}

describe('while a form is being sent,', () => {
  test('Back does not leave it, and the secret of the new key is shown', async () => {
    const page = await openAs('owner', '/models');
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await page.getByRole('button', { name: 'New key' }).first().click();
    await page.getByLabel('Name').fill('unhurried');
    const release = await hold(page, /\/manage\/v1\/keys$/);
    await page.getByRole('button', { name: 'Mint key' }).click();
    await page.getByRole('button', { name: 'Mint key', disabled: true }).waitFor();
    await page.goBack();
    await page.getByRole('status').getByText('This is being sent.').waitFor();
    await expect.poll(() => parameter(page, 'dialog')).toBe('mint');
    release();
    await page.locator('[data-secret]').waitFor();
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.goBack();
    await expect.poll(() => new URL(page.url()).pathname).toBe('/console/keys');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.context().close();
  });

  test('Back in a drawer does not lose a refusal', async () => {
    const { keyId } = await suite.world.harness.mintFor(suite.world.accountId);
    const page = await openAs('owner', '/keys');
    await page.locator(`[data-row="${formatId('key_', keyId)}"]`).click();
    await page.getByRole('button', { name: 'Disable' }).click();
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    await page.route(/\/disable$/, async (route) => {
      await answered;
      const body = JSON.stringify({ error: { message: 'Not today.', code: null, type: 'refused' } });
      await route.fulfill({ status: 409, contentType: 'application/json', body });
    });
    await page.getByRole('button', { name: 'Disable key' }).click();
    await page.getByRole('button', { name: 'Disable key', disabled: true }).waitFor();
    await page.goBack();
    await page.getByRole('status').getByText('This is being sent.').waitFor();
    answer();
    await page.getByRole('alert').getByText('Not today.').waitFor();
    expect(await page.getByText('This is being sent.').count()).toBe(0);
    await page.context().close();
  });
});

test('what came of a change is said although its page was left meanwhile', async () => {
  const { keyId } = await suite.world.harness.mintFor(suite.world.accountId);
  const key = formatId('key_', keyId);
  const page = await openAs('owner', '/keys');
  await page.evaluate(
    `fetch('/manage/v1/keys/${key}/disable', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })`,
  );
  await page.goto(`${CONSOLE_URL}/keys?open=${key}`);
  const release = await hold(page, /\/enable$/);
  await page.getByRole('button', { name: 'Enable' }).click();
  await page.getByRole('link', { name: 'Models', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
  release();
  await page.getByRole('status').getByText('works again').waitFor();
  await page.context().close();
});

test('a batch file that was submitted is not offered again with Back', async () => {
  await suite.world.harness.mintFor(suite.world.accountId);
  const page = await openAs('owner', '/jobs');
  await page.getByRole('button', { name: 'Submit a file' }).first().click();
  const body = { model: 'sim-gpt-mini', max_tokens: 8, messages: [{ role: 'user', content: 'Hello' }] };
  const line = JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body });
  await page
    .getByLabel('File', { exact: true })
    .setInputFiles({ name: 'a.jsonl', mimeType: 'text/plain', buffer: Buffer.from(line) });
  await page.getByRole('button', { name: 'Submit 1 job' }).click();
  await page.getByText('Accepted: 1 job.').waitFor();
  await page.goBack();
  await expect.poll(() => parameter(page, 'group')).toBeNull();
  expect(await page.getByRole('dialog').count()).toBe(0);
  await page.context().close();
});

test('a model that was closed does not open again with Back', async () => {
  const page = await openAs('owner', '/keys');
  await page.getByRole('link', { name: 'Models', exact: true }).click();
  await page.locator('[data-row="sim-claude"]').click();
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.goBack();
  await expect.poll(() => parameter(page, 'open')).toBeNull();
  expect(await page.getByRole('dialog').count()).toBe(0);
  await page.context().close();
});

test('a search stops after three failures of the next page, says so, and goes on when somebody asks', async () => {
  const { accountId, harness } = suite.world;
  for (let at = 0; at < 3; at += 1) await harness.mintFor(accountId);
  const page = await openAs('owner', '/models');
  const { data } = (await page.evaluate(
    `fetch('/manage/v1/keys?account=${formatId('acct_', accountId)}').then((response) => response.json())`,
  )) as {
    data: readonly { readonly id: string }[];
  };
  const [first, sought] = data;
  let nextPages = 0;
  const pages = async (route: Route): Promise<void> => {
    const body = JSON.stringify({ object: 'list', data: [first], next: first!.id });
    if (!route.request().url().includes('after='))
      return route.fulfill({ status: 200, contentType: 'application/json', body });
    nextPages += 1;
    return route.abort('connectionrefused');
  };
  await page.route(/\/manage\/v1\/keys\?.*limit=200/, pages);
  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  await page.getByLabel('Search keys').fill(sought!.id);
  await page.getByText('1 searched so far. The next ones could not be read.').waitFor();
  expect(nextPages).toBe(3);
  await page.unroute(/\/manage\/v1\/keys\?.*limit=200/);
  await page.getByRole('button', { name: 'Search on' }).click();
  await page.locator(`[data-row="${sought!.id}"]`).waitFor();
  await page.context().close();
});

test('Live shows new refusals too where only refused calls are listed', async () => {
  const { accountId, harness } = suite.world;
  const { secret } = await harness.mintFor(accountId, { models: ['sim-gpt'] });
  const page = await openAs('owner', '/requests?show=refused&live=1');
  await page.getByText('No request matches the filters').waitFor();
  const call = { model: 'sim-claude', max_tokens: 8, messages: [{ role: 'user', content: 'Hello' }] };
  await (await harness.post(call, { authorization: `Bearer ${secret}` })).text();
  await page.getByRole('row', { name: /sim-claude/ }).waitFor();
  await page.context().close();
});

test('an address without a page has a title and a heading', async () => {
  const page = await openAs('owner', '/nowhere');
  await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
  expect(await page.title()).toBe('Page not found · Tollgate');
  await page.context().close();
});
