import { existsSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../test/harness.ts';
import { launchBrowser } from './browser.ts';
import setup from './build-setup.ts';
import { ManageClient } from './manage-client.ts';
import { visit } from './visit.ts';

let harness: Harness;
let manage: ManageClient;
let browser: Browser;

beforeAll(async () => {
  if (!existsSync(new URL('../../dist/console/index.html', import.meta.url))) await setup();
  [harness, browser] = await Promise.all([startHarness(), launchBrowser()]);
  manage = new ManageClient(harness);
});
afterAll(async () => {
  await browser.close();
  await harness.stop();
});

describe('the console of an empty gateway', () => {
  test('makes the first call and shows its receipt', async () => {
    const { page, complaints, close } = await visit(browser, `${harness.url}/console`, { token: manage.token });
    await page.getByRole('button', { name: 'Make the call' }).click();
    await page.getByRole('table', { name: 'What the call cost' }).waitFor();
    const { data } = await manage.get('/receipts');
    const charged = await page.getByRole('row', { name: /Charged/ }).textContent();
    expect(charged).toContain(`${data[0].cost_nanousd.toLocaleString('en')} nanodollars`);
    expect(new URL(page.url()).hash, 'the token has left the address bar').toBe('');
    expect(complaints).toEqual([]);
    await close();
  });

  test('mints a key by keyboard alone, and shows its secret once', async () => {
    const { page, complaints, close } = await visit(browser, `${harness.url}/console/keys`, { token: manage.token });
    await page.getByRole('button', { name: 'New key' }).first().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type('laptop');
    await page.keyboard.press('Tab');
    await page.keyboard.type('2.50');
    await page.keyboard.press('Enter');
    const secret = await page.locator('[data-secret]').textContent();
    const { data } = await manage.get('/keys');
    expect(data).toMatchObject([{ name: 'laptop', spend_cap_nanousd: 2_500_000_000, window: 'month' }]);
    expect((await harness.get('/v1/models', { authorization: `Bearer ${secret}` })).status).toBe(200);
    await page.reload();
    await page.getByText('laptop').first().waitFor();
    expect(await page.content()).not.toContain(secret);
    expect(complaints).toEqual([]);
    await close();
  });
});
