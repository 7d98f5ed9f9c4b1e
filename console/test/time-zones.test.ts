import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../test/harness.ts';
import { launchBrowser } from './browser.ts';
import { ManageClient } from './manage-client.ts';
import { visit } from './visit.ts';

let harness: Harness;
let browser: Browser;

beforeAll(async () => {
  [harness, browser] = await Promise.all([startHarness(), launchBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await harness.stop();
});

test('the plot of the spending says that its days are those in UTC, wherever the browser is', async () => {
  const call = { model: 'sim-gpt', max_tokens: 8, messages: [{ role: 'user', content: 'Hello' }] };
  await (await harness.post(call)).text();
  const { token } = new ManageClient(harness);
  const options = { timezoneId: 'Asia/Kolkata' };
  const { page, close } = await visit(browser, `${harness.url}/console`, { token, options });
  await page.getByText('Spend by day (UTC)').waitFor();
  await close();
});

test('a key expires on the day that was chosen, although it is already the next one where the browser is', async () => {
  const year = new Date().getUTCFullYear() + 1;
  const { token } = new ManageClient(harness);
  const options = { timezoneId: 'Asia/Tokyo' };
  const { page, complaints, close } = await visit(browser, `${harness.url}/console/keys?dialog=mint`, {
    token,
    options,
  });
  await page.getByLabel('Name').fill('contractor');
  await page.getByLabel('Expires after').fill(`${year}-06-30`);
  await page.getByRole('button', { name: 'Mint key' }).click();
  await page.getByRole('button', { name: 'I have copied it' }).click();
  await page.getByRole('cell', { name: `Jun 30, ${year}` }).click();
  const day = page.getByRole('dialog').getByText(`Jun 30, ${year}`);
  expect(await day.getAttribute('title')).toBe(`Jun 30, ${year}, 23:59:59 UTC`);
  expect(complaints).toEqual([]);
  await close();
});
