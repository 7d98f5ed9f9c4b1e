import { readdirSync, readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { type ReceiptKeys, verifyReceipt } from '../../packages/client/src/verify.ts';
import { startDemo } from './demo-data.ts';
import { demoSuite } from './demo-suite.ts';
import { visit } from './visit.ts';

const suite = demoSuite(startDemo);

async function openKey(page: Page, name: string): Promise<void> {
  await page.getByRole('row', { name }).click();
  await page.getByRole('dialog', { name }).waitFor();
}

async function mint(name: string): Promise<{ readonly id: string; readonly secret: string }> {
  return suite.demo.manage.post('/keys', { account: suite.demo.account, name });
}

/** What has the focus: the id of a row, or the text of a button. */
function focused(page: Page): Promise<unknown> {
  return page.evaluate('document.activeElement.dataset.row ?? document.activeElement.textContent');
}

describe('keys', () => {
  test('the keyboard goes back to the button that had the focus before a dialog or the search', async () => {
    const { page, close } = await suite.open(`/keys?account=${suite.demo.account}`);
    await page.getByRole('button', { name: 'New key' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => focused(page)).toBe('New key');
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Page, key, model or request id').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => focused(page)).toBe('New key');
    await close();
  });

  test('edits the middle of a filter', async () => {
    const { page, close } = await suite.open(`/keys?account=${suite.demo.account}`);
    await page.getByText('support-bot').first().waitFor();
    await page.getByLabel('Search keys').pressSequentially('sort');
    for (const key of ['ArrowLeft', 'ArrowLeft', 'u', 'p', 'p']) await page.keyboard.press(key);
    expect(await page.getByLabel('Search keys').inputValue()).toBe('soupprt');
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('soupprt');
    await close();
  });

  test('tells the second of two people who change the same key, and overwrites nothing', async () => {
    const { id } = await mint('shared');
    const { page, close } = await suite.open(`/keys?account=${suite.demo.account}`);
    await openKey(page, 'shared');
    await page.getByRole('button', { name: 'Change' }).click();
    await page.getByLabel('Spend cap').fill('7');
    await suite.demo.manage.patch(`/keys/${id}`, { spend_cap_nanousd: 3_000_000_000, window: 'day' });
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('Somebody else changed this key in the meantime').waitFor();
    expect((await suite.demo.manage.get(`/keys/${id}`)).spend_cap_nanousd).toBe(3_000_000_000);
    const load = page.getByRole('button', { name: 'Load the current values' });
    await expect.poll(() => load.isEnabled()).toBe(true);
    await suite.demo.manage.patch(`/keys/${id}`, { spend_cap_nanousd: 4_000_000_000 });
    await load.click();
    await expect.poll(() => page.getByLabel('Spend cap').inputValue()).toBe('4');
    await page.getByLabel('Spend cap').fill('7');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('“shared” was changed.').waitFor();
    expect(await suite.demo.manage.get(`/keys/${id}`)).toMatchObject({
      spend_cap_nanousd: 7_000_000_000,
      window: 'day',
    });
    await close();
  });

  test('rotates a key, shows the new secret once, and keeps the old one for a while', async () => {
    const { secret } = await mint('rotated');
    const { page, close } = await suite.open(`/keys?account=${suite.demo.account}`);
    await openKey(page, 'rotated');
    await page.getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('button', { name: 'Rotate key' }).click();
    const fresh = await page.locator('[data-secret]').textContent();
    for (const each of [secret, fresh!])
      expect((await suite.demo.harness.get('/v1/models', { authorization: `Bearer ${each}` })).status).toBe(200);
    await page.getByRole('button', { name: 'I have copied it' }).click();
    expect(await page.content()).not.toContain(fresh);
    await close();
  });

  test('revokes a key only after its name was typed', async () => {
    const { id } = await mint('doomed');
    const { page, close } = await suite.open(`/keys?account=${suite.demo.account}`);
    await openKey(page, 'doomed');
    await page.getByRole('button', { name: 'Revoke key' }).click();
    const confirm = page.getByRole('dialog', { name: 'Revoke “doomed”' });
    expect(await confirm.getByRole('button', { name: 'Revoke key' }).isDisabled()).toBe(true);
    await confirm.getByRole('textbox').fill('doomed');
    await confirm.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('“doomed” is revoked.').waitFor();
    expect((await suite.demo.manage.get(`/keys/${id}`)).status).toBe('revoked');
    await close();
  });

  test('names the field that is wrong, for screen readers too, and mints nothing', async () => {
    const { page, close } = await suite.open(`/keys?account=${suite.demo.account}&dialog=mint`);
    const cap = page.getByLabel('Spend cap');
    const noteOf = async (field: Locator) =>
      page.locator(`[id="${await field.getAttribute('aria-describedby')}"]`).textContent();
    expect(await noteOf(cap)).toContain('Empty: no cap.');
    await page.getByLabel('Name').fill('european');
    await cap.fill('0,25');
    const window = page.getByLabel('Per', { exact: true });
    expect(await noteOf(window)).toBe('Resets on the first, 0:00 UTC.');
    await window.selectOption('lifetime');
    expect(await noteOf(window)).toBe('Never resets.');
    await page.getByRole('button', { name: 'Mint key' }).click();
    await page.getByRole('alert').waitFor();
    expect(await noteOf(cap)).toBe('Enter an amount above 0 in dollars, like 5 or 0.50.');
    expect(await cap.getAttribute('aria-invalid')).toBe('true');
    const { data } = await suite.demo.manage.get(`/keys?account=${suite.demo.account}`);
    expect(data.map(({ name }: { name: string }) => name)).not.toContain('european');
    await close();
  });

  test('says why a key was not enabled again, until that is dismissed', async () => {
    const { id } = await mint('paused');
    await suite.demo.manage.post(`/keys/${id}/disable`);
    const { page, close } = await suite.open(`/keys?account=${suite.demo.account}&open=${id}`);
    await page.clock.install();
    const body = JSON.stringify({ error: { message: 'Its person is disabled.', code: null, type: 'refused' } });
    await page.route(/\/enable$/, (route) => route.fulfill({ status: 409, body }));
    await page.getByRole('button', { name: 'Enable' }).click();
    const told = page.locator('[aria-live]').getByText('Its person is disabled.');
    await told.waitFor();
    await page.clock.runFor(60_000);
    expect(await told.isVisible()).toBe(true);
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await told.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Enable' }).waitFor();
    await close();
  });
});

describe('requests', () => {
  test('finds a pasted request id with the keyboard, reads its receipt, and moves to the next one', async () => {
    const { data } = await suite.demo.manage.get(`/receipts?account=${suite.demo.account}&limit=3`);
    const { page, complaints, close } = await suite.open(`/?account=${suite.demo.account}`);
    await page.getByText('Largest spenders').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Page, key, model or request id').waitFor();
    await page.keyboard.type(data[0].id);
    await page.keyboard.press('Enter');
    const invoice = page.getByRole('table', { name: 'What the call cost' });
    await invoice.waitFor();
    const amounts = await invoice.locator('tr td:last-child').allTextContents();
    const nanousd = amounts.map((text) => BigInt(text.replaceAll(/[^\d]/g, '')));
    expect(nanousd.slice(0, -1).reduce((sum, amount) => sum + amount, 0n)).toBe(nanousd.at(-1));
    expect(nanousd.at(-1)).toBe(BigInt(data[0].cost_nanousd));
    await page.locator(`[data-row="${data[1].id}"]`).waitFor();
    const before = new URL(page.url()).searchParams.get('open');
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => new URL(page.url()).searchParams.get('open')).not.toBe(before);
    await page.keyboard.press('Escape');
    await expect.poll(() => new URL(page.url()).searchParams.get('open')).toBeNull();
    await expect.poll(() => focused(page)).toBe(data[1].id);
    expect(complaints).toEqual([]);
    await close();
  });

  test('saves a signed receipt that can be verified, with its proof if it is closed', async () => {
    const { manage, harness, account } = suite.demo;
    const { data } = await manage.get(`/receipts?account=${account}&limit=200`);
    await harness.running.books.store.closeBooks(null);
    const keys = (await (await harness.get('/.well-known/tollgate-receipt-keys.json')).json()) as ReceiptKeys;
    const { page, complaints, close } = await suite.open(`/requests?account=${account}&open=${data[0].id}`);
    const save = async (id: string) => {
      await page.goto(`${harness.url}/console/requests?account=${account}&open=${id}`);
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download signed' }).click(),
      ]);
      expect(download.suggestedFilename()).toBe(`${id}.signed.json`);
      return readFileSync(await download.path(), 'utf8');
    };
    const newest = await save(data[0].id);
    expect((await verifyReceipt(newest, keys)).content.id).toBe(data[0].id);
    expect(JSON.parse(newest)).not.toHaveProperty('proof');
    const closed = await save(data.at(-1).id);
    expect(JSON.parse(closed)).toHaveProperty('proof.root');
    expect((await verifyReceipt(closed, keys)).content.id).toBe(data.at(-1).id);
    expect(complaints).toEqual([]);
    await close();
  });

  test('shows a call in the live tail as it ends', async () => {
    const { page, close } = await suite.open(`/requests?account=${suite.demo.account}&live=1`);
    await page.getByRole('button', { name: 'Live', exact: true }).waitFor();
    const [key] = suite.demo.keys;
    const answer = await suite.demo.harness.post(
      { model: 'sim-gpt-mini', max_tokens: 8, messages: [{ role: 'user', content: 'Hello' }] },
      { authorization: `Bearer ${key!.secret}` },
    );
    await page.locator(`[data-row="${answer.headers.get('x-gateway-request-id')}"]`).waitFor();
    await close();
  });

  test('shows the calls of a chain with their sum, in the receipt and as a filter of the list', async () => {
    const authorization = `Bearer ${suite.demo.keys[0]!.secret}`;
    const call = (model: string) => ({ model, max_tokens: 8, messages: [{ role: 'user', content: 'Hello' }] });
    let costNanousd = 0n;
    let last = '';
    for (const [at, model] of ['sim-gpt', 'sim-gpt-mini', 'sim-claude'].entries()) {
      const headers = {
        authorization,
        'x-gateway-chain': `ticket-41;${at + 1}`,
        'x-gateway-requested-model': 'sim-gpt',
      };
      const answer = await suite.demo.harness.post(call(model), headers);
      costNanousd += BigInt(answer.headers.get('x-gateway-cost-nanousd')!);
      last = answer.headers.get('x-gateway-request-id')!;
      await answer.text();
    }
    await suite.demo.manage.post(`/receipts/${last}/refund`, { amount_nanousd: 7 });
    const digitsOf = (text: string | null): bigint => BigInt(text!.replaceAll(/[^\d]/g, ''));
    const { page, complaints, close } = await suite.open(`/requests?account=${suite.demo.account}&open=${last}`);
    const table = page.getByRole('table', { name: 'Calls of the chain' });
    const sum = table.getByRole('row', { name: /3 calls/ });
    await sum.waitFor();
    expect(await table.getByRole('row').count()).toBe(5);
    expect(digitsOf(await sum.locator('td').textContent())).toBe(costNanousd);
    expect(await table.locator('tr:last-child').textContent()).toBe('Refunded−$0.000000007');
    await page.getByRole('link', { name: 'ticket-41' }).click();
    await expect.poll(() => page.locator('[data-row]').count()).toBe(3);
    expect(digitsOf(await page.getByText('3 calls:').locator('xpath=following-sibling::*[1]').textContent())).toBe(
      costNanousd,
    );
    await page.getByText('· $0.000000007 refunded').waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test('has refused calls in the same list, with the reason that the caller got', async () => {
    const { page, close } = await suite.open(
      `/requests?account=${suite.demo.account}&show=refused&code=model_not_found`,
    );
    await page
      .getByRole('row', { name: /no-such-model/ })
      .first()
      .click();
    await page.getByText('refused, nothing was charged').waitFor();
    const { data } = await suite.demo.manage.get(`/refusals?account=${suite.demo.account}&code=model_not_found`);
    await page.getByText(data[0].message).waitFor();
    await close();
  });
});

test('what cannot be read is shown as unknown, not as zero', async () => {
  const { page, close } = await suite.open('/models');
  await page.getByText('sim-claude').first().waitFor();
  const body = JSON.stringify({ error: { message: 'Not today.', code: null, type: 'refused' } });
  await page.route(/manage\/v1\/(usage|refusals|accounts\/.*balance)/, (route) => route.fulfill({ status: 403, body }));
  await page.goto(`${suite.demo.harness.url}/console/?account=${suite.demo.account}`);
  await page.getByText('Not known now').waitFor();
  const figures = page.getByText('Refused, last 24 h', { exact: true }).locator('xpath=../..');
  expect((await figures.locator('.text-figure').allTextContents()).join(' ')).toBe('– – – –');
  await page.goto(`${suite.demo.harness.url}/console/keys?account=${suite.demo.account}&q=support`);
  const row = page.getByRole('row', { name: /support-bot/ });
  await row.waitFor();
  expect(await row.locator('td').nth(4).textContent()).toBe('–');
  await close();
});

test('the refusals of the last 24 hours lead to those alone', async () => {
  const { page, close } = await suite.open(`/?account=${suite.demo.account}`);
  const table = page.getByRole('table', { name: 'Reasons of refusals' });
  await table.getByRole('link', { name: /model not found/ }).click();
  await page
    .getByRole('row', { name: /no-such-model/ })
    .first()
    .waitFor();
  const { searchParams } = new URL(page.url());
  expect([searchParams.get('code'), searchParams.get('time')]).toEqual(['model_not_found', '24h']);
  await close();
});

test('hostile names, models and labels are shown as text', async () => {
  const hostile = '<img src=x onerror=alert(1)>"\'{{7*7}}';
  const { id, secret } = await mint(hostile);
  const call = { model: hostile, messages: [{ role: 'user', content: 'Hello' }] };
  await (await suite.demo.harness.post(call, { authorization: `Bearer ${secret}` })).text();
  await expect
    .poll(async () => (await suite.demo.manage.get(`/refusals?key=${id}`)).data.length, { timeout: 20_000 })
    .toBe(1);
  const { page, complaints, close } = await suite.open(`/keys?account=${suite.demo.account}&q=img`);
  await page.getByText(hostile, { exact: true }).first().waitFor();
  await page.goto(`${suite.demo.harness.url}/console/requests?account=${suite.demo.account}&show=refused`);
  await page
    .getByRole('row', { name: /onerror/ })
    .first()
    .click();
  await page.getByText('refused, nothing was charged').waitFor();
  expect(await page.locator('img').count()).toBe(0);
  expect(complaints).toEqual([]);
  await close();
});

test('says when the gateway cannot be reached, and goes on by itself', async () => {
  const { page, close } = await suite.open(`/keys?account=${suite.demo.account}`);
  await page.getByText('support-bot').first().waitFor();
  await page.context().setOffline(true);
  await page.getByRole('row', { name: 'support-bot' }).click();
  await page.getByText('The gateway cannot be reached. This page goes on').waitFor();
  await page.context().setOffline(false);
  await page.getByText('The gateway cannot be reached. This page goes on').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Rotate' }).waitFor();
  await close();
});

test('an export and a call say what failed in plain words, not in those of the browser', async () => {
  const { page, close } = await suite.open(`/requests?account=${suite.demo.account}`);
  const save = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name: 'CSV', exact: true }).click();
  };
  const body = JSON.stringify({ error: { message: 'Only owners may export this.', code: null, type: 'refused' } });
  await page.route(/format=csv/, (route) => route.fulfill({ status: 403, body }));
  await save();
  await page.getByText('Only owners may export this.').waitFor();
  await page.unroute(/format=csv/);
  await page.context().setOffline(true);
  await save();
  await page.locator('[aria-live]').getByText('Check that it is running.').waitFor();
  await page.context().setOffline(false);
  await page.goto(`${suite.demo.harness.url}/console/playground?account=${suite.demo.account}`);
  await page.getByRole('textbox', { name: 'Message' }).fill('Hello');
  await page.context().setOffline(true);
  await page.keyboard.press('Enter');
  await page.getByRole('article').getByText('Check that it is running.').waitFor();
  await close();
});

test('says so if the browser does not let the page copy', async () => {
  const { page, close } = await suite.open(`/models?open=sim-claude`);
  await page.addInitScript(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`);
  await page.reload();
  await page.getByRole('button', { name: 'Copy the id' }).click();
  await page.getByText('The browser did not allow copying.').waitFor();
  await close();
});

test('an old or missing token leads to a page that says how to get in', async () => {
  const { page, close } = await visit(suite.browser, `${suite.demo.harness.url}/console`, {
    token: 'of-another-folder',
  });
  await page.getByRole('heading', { name: 'This link does not work here' }).waitFor();
  await page.getByLabel('Link or token').fill(`${suite.demo.harness.url}/console#token=${suite.demo.manage.token}`);
  await page.getByRole('button', { name: 'Open the console' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await close();
});

test('the link works in a tab that has the console open already', async () => {
  const { page, close } = await visit(suite.browser, `${suite.demo.harness.url}/console`, { token: null });
  await page.getByRole('heading', { name: 'Open the console' }).waitFor();
  await page.goto(`${page.url()}#token=${suite.demo.manage.token}`);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  expect(page.url()).not.toContain('token');
  await close();
});

test('the first page loads at most 180 KB of JavaScript, compressed', async () => {
  const { page, close } = await suite.open(`/?account=${suite.demo.account}`);
  await page.getByText('Largest spenders').waitFor();
  const loaded = (await page.evaluate(
    'performance.getEntriesByType("resource").map((entry) => entry.name).filter((name) => name.endsWith(".js"))',
  )) as string[];
  const folder = new URL('../../dist/console/assets/', import.meta.url);
  const sizes = new Map(readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder)).length]));
  const bytes = [...new Set(loaded)]
    .map((url) => sizes.get(`${url.split('/').at(-1)}.gz`) ?? Number.NaN)
    .reduce((sum, size) => sum + size, 0);
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThanOrEqual(180_000);
  await close();
});
