import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { startDemo } from './demo-data.ts';
import { demoSuite } from './demo-suite.ts';
import { showView, VIEWS } from './views.ts';
import type { Visit } from './visit.ts';

const suite = demoSuite(startDemo);

async function exported(page: Page, format: string): Promise<string> {
  await page.getByRole('button', { name: 'Export' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: format, exact: true }).click(),
  ]);
  return readFileSync(await download.path(), 'utf8');
}

describe('the list of requests behind a report', () => {
  /** The calls of a model in the report, and those of the list that its name leads to. */
  async function reportAndList(search: string) {
    const { account, keys } = suite.demo;
    const { page, close } = await suite.open(`/usage?account=${account}&by=model&key=${keys[0]!.id}${search}`);
    const table = page.getByRole('table', { name: 'Usage by model' });
    const cells = table.getByRole('row', { name: /^sim-claude/ }).getByRole('cell');
    const reported = Number(await cells.nth(2).innerText());
    await table.getByRole('link', { name: 'sim-claude' }).click();
    await page.getByRole('heading', { name: 'Requests' }).waitFor();
    await page.locator('[data-row]').first().waitFor();
    const listed = await page.locator('[data-row]').count();
    const parameters = new URL(page.url()).searchParams;
    return { page, close, reported, listed, parameters };
  }

  test('has its filters and its last days', async () => {
    const { close, reported, listed, parameters } = await reportAndList('&range=7d');
    expect(parameters.get('key')).toBe(suite.demo.keys[0]!.id);
    expect(listed).toBe(reported);
    await close();
  });

  test('has the days that were chosen, and can be read from another day on', async () => {
    const day = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
    const { page, close, reported, listed } = await reportAndList(`&range=custom&from=${day(9)}&to=${day(4)}`);
    expect(listed).toBe(reported);
    expect(await page.getByRole('button', { name: 'Live' }).isDisabled()).toBe(true);
    await page.getByLabel('To').fill('');
    await expect.poll(() => page.locator('[data-row]').count()).toBeGreaterThan(listed);
    await page.getByLabel('To').fill(day(0));
    await page.waitForURL((url) => url.searchParams.get('to') === day(0));
    expect(await page.getByRole('button', { name: 'Live' }).isEnabled(), 'today has not ended').toBe(true);
    await close();
  });

  test('of a large spender has the days of the overview', async () => {
    const { account } = suite.demo;
    const { page, close } = await suite.open(`/?account=${account}&range=7d`);
    await page.getByRole('table', { name: 'Largest spenders' }).getByRole('link').first().click();
    await page.getByRole('heading', { name: 'Requests' }).waitFor();
    const sixDaysAgo = new Date(Date.now() - 6 * 86_400_000).toISOString().slice(0, 10);
    expect(await page.getByLabel('From').inputValue()).toBe(sixDaysAgo);
    await close();
  });
});

describe('a filter', () => {
  test('shows what the address says after Back, also while it has the focus', async () => {
    const { page, close } = await suite.open(`/keys?account=${suite.demo.account}&q=bot`);
    const input = page.getByLabel('Search keys');
    await page.getByLabel('State').selectOption('all');
    await expect.poll(() => new URL(page.url()).searchParams.get('state')).toBe('all');
    await input.fill('laptop');
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('laptop');
    await page.goBack();
    await expect.poll(() => input.inputValue()).toBe('bot');
    await page.goForward();
    await expect.poll(() => input.inputValue()).toBe('laptop');
    await close();
  });

  test('shows what the address says after Back, also if that was typed and deleted at once', async () => {
    const { page, close } = await suite.open(`/keys?account=${suite.demo.account}&q=bot`);
    const input = page.getByLabel('Search keys');
    await page.getByLabel('State').selectOption('all');
    await expect.poll(() => new URL(page.url()).searchParams.get('state')).toBe('all');
    await input.fill('');
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBeNull();
    // Typing through the keyboard would let the address follow in between.
    await page.evaluate(`
      const input = document.querySelector('[aria-label="Search keys"]');
      const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
      for (const text of ['bot', '']) {
        set.call(input, text);
        input.dispatchEvent(new Event('input', { bubbles: true }));
      }
    `);
    await page.goBack();
    await expect.poll(() => input.inputValue()).toBe('bot');
    await close();
  });

  test('by model applies to refused calls too, in the list and in the file', async () => {
    const model = 'no-such-model';
    const { data } = await suite.demo.manage.get(`/refusals?account=${suite.demo.account}&model=${model}`);
    expect(data).toHaveLength(2);
    const { page, complaints, close } = await suite.open(
      `/requests?account=${suite.demo.account}&show=refused&model=${model}`,
    );
    await page.getByRole('row', { name: model }).first().waitFor();
    expect(await page.locator('[data-row]').count()).toBe(2);
    const lines = (await exported(page, 'JSON Lines')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).id)).toEqual(data.map(({ id }: { id: string }) => id));
    expect((await exported(page, 'CSV')).trim().split('\r\n')).toHaveLength(3);
    expect(complaints).toEqual([]);
    await close();
  });
});

test('receipts and refused calls of the same list can both be saved', async () => {
  const { data } = await suite.demo.manage.get(`/refusals?account=${suite.demo.account}`);
  const { page, close } = await suite.open(`/requests?account=${suite.demo.account}`);
  await page.locator('[data-row]').first().waitFor();
  const [receipt] = (await exported(page, 'JSON Lines')).split('\n');
  expect(JSON.parse(receipt!)).toMatchObject({ object: 'receipt' });
  expect((await exported(page, 'Refused calls, JSON Lines')).trim().split('\n')).toHaveLength(data.length);
  await close();
});

/** Returns the id of a key that is on the second page then. */
async function endFirstPageAfterOneKey(page: Page): Promise<string> {
  const { data } = await suite.demo.manage.get(`/keys?account=${suite.demo.account}&limit=200`);
  const [first, second] = data.filter(({ status }: { status: string }) => status !== 'revoked');
  const body = JSON.stringify({ object: 'list', data: [first], next: first.id });
  await page.route(/\/manage\/v1\/keys\?.*limit=200/, (route) =>
    route.request().url().includes('after=')
      ? route.fallback()
      : route.fulfill({ status: 200, contentType: 'application/json', body }),
  );
  return second.id;
}

describe('a search', () => {
  test('finds a key that is not on the first page of the list', async () => {
    const { manage, account } = suite.demo;
    for (let at = 0; at < 205; at += 1) await manage.post('/keys', { account, name: `bulk-${at}` });
    const { page, complaints, close } = await suite.open(`/keys?account=${account}`);
    await page.getByRole('row', { name: 'bulk-' }).first().waitFor();
    // Whichever way the list is sorted, one of these is beyond the first 200.
    for (const name of ['support-bot', 'bulk-204']) {
      await page.getByLabel('Search keys').fill(name);
      await page.getByRole('row', { name }).waitFor();
    }
    await page.getByLabel('Search keys').fill('no key has this name');
    await page.getByText('No key matches the filters').waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test('finds somebody on the second page of people, and says how many were searched while it reads', async () => {
    const person = (name: string) => ({
      ...{ object: 'person', id: `person_${name}`, email: `${name}@example.org`, name, status: 'active', created: 0 },
      ...{ operator: false, password: true, single_sign_on: false, address_confirmed: true, version: 1 },
    });
    const { page, close } = await suite.open('/models');
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route(/\/manage\/v1\/people\?/, async (route) => {
      const isFirst = !route.request().url().includes('after=');
      if (!isFirst) await held;
      const names = isFirst ? Array.from({ length: 200 }, (_, at) => `first${at}`) : ['second'];
      const body = { object: 'list', data: names.map(person), next: isFirst ? 'person_first199' : null };
      await route.fulfill({ status: 200, contentType: 'application/json', body: JSON.stringify(body) });
    });
    await page.getByRole('link', { name: 'People' }).click();
    await page.getByText('first0@example.org').waitFor();
    await page.getByLabel('Search people').fill('second');
    await page.getByText('200 searched so far').waitFor();
    expect(await page.getByText('Nobody matches').count()).toBe(0);
    release();
    await page.getByRole('row', { name: 'second@example.org' }).waitFor();
    await close();
  });

  test('asks once for the next page while the gateway is away, and goes on when it is back', async () => {
    const { page, close } = await suite.open(`/models?account=${suite.demo.account}`);
    const sought = await endFirstPageAfterOneKey(page);
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await page.getByRole('button', { name: 'Load more' }).waitFor();
    let nextPages = 0;
    let signsOfLife = 0;
    await page.route(/\/manage\/v1\//, (route) => {
      const url = route.request().url();
      if (/\/keys\?.*after=/.test(url)) nextPages += 1;
      if (url.endsWith('/me')) signsOfLife += 1;
      return route.abort('connectionrefused');
    });
    await page.getByLabel('Search keys').fill(sought);
    await page.getByText('The gateway cannot be reached.').waitFor();
    await expect.poll(() => signsOfLife).toBeGreaterThan(1);
    expect(nextPages).toBe(1);
    await page.unroute(/\/manage\/v1\//);
    await page.locator(`[data-row="${sought}"]`).waitFor();
    await close();
  });
});

test('keys of any state are a list and not a search: the next page is read when somebody asks for it', async () => {
  const { page, close } = await suite.open(`/models?account=${suite.demo.account}`);
  const second = await endFirstPageAfterOneKey(page);
  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  await page.getByLabel('State').selectOption('all');
  await expect.poll(() => new URL(page.url()).searchParams.get('state')).toBe('all');
  await page.getByRole('button', { name: 'Load more' }).click();
  await page.locator(`[data-row="${second}"]`).waitFor();
  await close();
});

test('rows that were read stay if the next page of the list fails', async () => {
  const { page, close } = await suite.open(`/keys?account=${suite.demo.account}`);
  const { data } = await suite.demo.manage.get(`/keys?account=${suite.demo.account}&limit=200`);
  const body = JSON.stringify({ error: { message: 'Not today.', code: null, type: 'refused' } });
  const first = JSON.stringify({ object: 'list', data: data.slice(0, 4), next: data[3].id });
  await page.route(/\/manage\/v1\/keys\?.*limit=200/, (route) =>
    route.request().url().includes('after=')
      ? route.fulfill({ status: 403, body })
      : route.fulfill({ status: 200, contentType: 'application/json', body: first }),
  );
  await page.reload();
  await page.getByRole('button', { name: 'Load more' }).click();
  await page.getByRole('alert').getByText('Not today.').waitFor();
  expect(await page.locator('[data-row]').count()).toBe(4);
  await close();
});

test('an account in the address that is not there is named, and so is the one that is shown', async () => {
  const { page, close } = await suite.open('/keys?account=nobody');
  await page.getByRole('alert').getByText('There is no account “nobody”, or you have no role in it.').waitFor();
  await page.getByRole('alert').getByRole('button', { name: 'Close' }).click();
  await page.getByRole('alert').waitFor({ state: 'detached' });
  expect(new URL(page.url()).searchParams.get('account')).toBeNull();
  await close();
});

describe('with more accounts than are read at first,', () => {
  async function openWithMore(account: string, pages: (after: string | null) => unknown): Promise<Visit> {
    const opened = await suite.open('/models');
    await opened.page.route(/\/manage\/v1\/accounts\?/, (route) => {
      const body = JSON.stringify(pages(new URL(route.request().url()).searchParams.get('after')));
      return route.fulfill({ status: 200, contentType: 'application/json', body });
    });
    await opened.page.goto(`${suite.demo.harness.url}/console/keys?account=${account}`);
    return opened;
  }

  test('one that is not there is named without reading them all', async () => {
    const { data } = await suite.demo.manage.get('/accounts');
    let furtherPages = 0;
    const { page, close } = await openWithMore('nobody', (after) => {
      if (after !== null) furtherPages += 1;
      return { object: 'list', data: after === null ? data : [], next: `account_${furtherPages}` };
    });
    await page.getByRole('alert').getByText('There is no account “nobody”').waitFor();
    expect(furtherPages).toBe(0);
    await close();
  });

  test('one that is on the second page is found', async () => {
    const { data } = await suite.demo.manage.get('/accounts');
    const { account } = suite.demo;
    const isNamed = ({ id, name }: { id: string; name: string }) => id === account || name === account;
    const named = data.find(isNamed);
    const other = { ...named, id: 'account_other', name: 'other' };
    const { page, close } = await openWithMore(account, (after) => ({
      object: 'list',
      data: after === null ? [other] : [named],
      next: after === null ? 'account_other' : null,
    }));
    await page.getByRole('row', { name: 'support-bot' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await close();
  });
});

describe('a new secret', () => {
  test('stays until somebody says that it is copied: Esc, a click beside it and Back do not lose it', async () => {
    const { page, close } = await suite.open(`/models?account=${suite.demo.account}`);
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name').fill('precious');
    await page.getByRole('button', { name: 'Mint key' }).click();
    const secret = await page.locator('[data-secret]').textContent();
    expect(await page.getByRole('dialog').getByRole('button', { name: 'Close' }).count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.getByRole('alert').getByText('This cannot be shown again.').waitFor();
    await page.mouse.click(4, 4);
    await page.goBack();
    await expect.poll(() => new URL(page.url()).searchParams.get('dialog')).toBe('mint');
    expect(await page.locator('[data-secret]').textContent()).toBe(secret);
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain(secret);
    await close();
  });

  test('is shown although somebody presses Esc while the key is being made', async () => {
    const { page, close } = await suite.open(`/keys?account=${suite.demo.account}&dialog=mint`);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route(/\/manage\/v1\/keys$/, async (route) => {
      await held;
      await route.continue();
    });
    await page.getByLabel('Name').fill('hasty');
    await page.getByRole('button', { name: 'Mint key' }).click();
    await page.getByRole('button', { name: 'Mint key', disabled: true }).waitFor();
    await page.keyboard.press('Escape');
    release();
    await page.locator('[data-secret]').waitFor();
    await close();
  });

  test('is shown before the list of keys is read again', async () => {
    const { page, close } = await suite.open(`/keys?account=${suite.demo.account}&q=prompt&dialog=mint`);
    await page.getByLabel('Name').fill('prompt');
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route(/\/manage\/v1\/keys\?/, async (route) => {
      await held;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Mint key' }).click();
    await page.locator('[data-secret]').waitFor();
    release();
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('row', { name: 'prompt' }).waitFor();
    await close();
  });

  test('of a management key stays too', async () => {
    const { page, close } = await suite.open(`/management-keys?account=${suite.demo.account}&dialog=mint`);
    await page.getByLabel('Name').fill('export');
    await page.getByRole('button', { name: 'Mint key' }).click();
    await page.locator('[data-secret]').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('alert').getByText('This cannot be shown again.').waitFor();
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await close();
  });
});

test('a dialog that was closed does not open again with Back', async () => {
  const { page, close } = await suite.open(`/models?account=${suite.demo.account}`);
  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  await page.getByRole('button', { name: 'New key' }).click();
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.goBack();
  expect(new URL(page.url()).searchParams.get('dialog')).toBeNull();
  expect(await page.getByRole('dialog').count()).toBe(0);
  await close();
});

test('the view of the overview is shown only when its plot is drawn', async () => {
  const view = VIEWS.find(({ name }) => name === 'overview')!;
  const { page, close } = await suite.open('/models');
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route(/stacked-bars/, async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(`${suite.demo.harness.url}/console${view.path(suite.demo)}`);
  await page.getByRole('table', { name: 'Largest spenders' }).getByRole('row', { name: 'search-index' }).waitFor();
  expect(await page.locator(view.ready).count()).toBe(0);
  release();
  await showView(page, view);
  expect(await page.locator('svg[role=img] rect').count()).toBeGreaterThan(30);
  await close();
});
