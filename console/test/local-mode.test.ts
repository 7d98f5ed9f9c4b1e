import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHarness } from '../../test/harness.ts';
import { copyEmptyLedger } from '../../test/ledger-template.ts';
import { launchBrowser } from './browser.ts';
import { ManageClient } from './manage-client.ts';
import { visit } from './visit.ts';

let browser: Browser;
let folder: string;

beforeAll(async () => {
  browser = await launchBrowser();
  folder = mkdtempSync(join(tmpdir(), 'tollgate-local-mode-'));
  await copyEmptyLedger(folder);
});
afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

test('an open page goes on after the gateway was restarted, and a second tab needs no link', async () => {
  const first = await startHarness({ folder });
  const { token } = new ManageClient(first);
  const { page, close } = await visit(browser, `${first.url}/console/keys`, { token });
  await page.getByText('No keys yet').waitFor();
  await first.stop();
  await page.getByRole('button', { name: 'New key' }).first().click();
  await page.getByLabel('Name').fill('after-restart');
  await page.getByRole('button', { name: 'Mint key' }).click();
  await page.getByText('The gateway cannot be reached. This page goes on').waitFor();
  const listen = { ...first.config.listen, port: Number(new URL(first.url).port) };
  const second = await startHarness({ folder, config: { listen } });
  await page.getByText('The gateway cannot be reached. This page goes on').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Mint key' }).click();
  await page.locator('[data-secret]').waitFor();
  const tab = await page.context().newPage();
  await tab.goto(`${second.url}/console/keys`);
  await tab.getByText('after-restart').first().waitFor();
  expect(new ManageClient(second).token).toBe(token);
  await close();
  await second.stop();
});
