import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { JOB_STATE } from '../../src/store/codes.ts';
import { databaseFile } from '../../src/store/sqlite/database.ts';
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

test('the link of another data folder leads to none of what was typed for the one before', async () => {
  const first = await startHarness({ folder });
  const { page, close } = await visit(browser, `${first.url}/console/keys?dialog=mint`, {
    token: new ManageClient(first).token,
  });
  await page.getByLabel('Name').fill('of-the-first-folder');
  await first.stop();
  const listen = { ...first.config.listen, port: Number(new URL(first.url).port) };
  const second = await startHarness({ config: { listen } });
  await page.getByRole('button', { name: 'Mint key' }).click();
  await page.getByRole('heading', { name: 'This link does not work here' }).waitFor();
  await page.getByLabel('Link or token').fill(new ManageClient(second).token);
  await page.getByRole('button', { name: 'Open the console' }).click();
  await page.getByRole('button', { name: 'Mint key' }).waitFor();
  expect(await page.getByLabel('Name').inputValue()).toBe('');
  await close();
  await second.stop();
});

test('the operator decides what becomes of jobs that a restore has paused', async () => {
  const before = await startHarness({ folder });
  const body = { model: 'sim-gpt-mini', max_tokens: 20, messages: [{ role: 'user', content: 'Hello' }] };
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  const job = { endpoint: '/v1/chat/completions', custom_id: 'nightly', body, not_before: tomorrow };
  expect((await before.post(job, {}, '/v1/jobs')).status).toBe(202);
  await before.stop();
  const database = new DatabaseSync(databaseFile(folder));
  // As a restore leaves them.
  database.exec(`UPDATE job SET state = ${JOB_STATE.of.paused} WHERE state = ${JOB_STATE.of.queued}`);
  database.close();
  const harness = await startHarness({ folder });
  const { token } = new ManageClient(harness);
  const { page, complaints, close } = await visit(browser, `${harness.url}/console/jobs`, { token });
  await page.getByRole('row', { name: /nightly paused/ }).waitFor();
  await page.getByRole('button', { name: 'End them as failed' }).click();
  await page.getByRole('button', { name: 'End jobs' }).click();
  await page.getByRole('row', { name: /nightly failed/ }).waitFor();
  await page.getByText('Decide what becomes of them').waitFor({ state: 'detached' });
  await harness.expectCleanBooks();
  expect(complaints).toEqual([]);
  await close();
  await harness.stop();
});

test('a live list keeps its rows while the gateway cannot be reached', async () => {
  const harness = await startHarness({ folder });
  const call = { model: 'sim-gpt-mini', max_tokens: 8, messages: [{ role: 'user', content: 'Hello' }] };
  await (await harness.post(call)).text();
  const { token } = new ManageClient(harness);
  const { page, close } = await visit(browser, `${harness.url}/console/requests?live=1`, { token });
  await page.locator('[data-row]').first().waitFor();
  const rows = await page.locator('[data-row]').count();
  await page.context().setOffline(true);
  await page.getByText('The gateway cannot be reached. This page goes on').waitFor();
  expect(await page.locator('[data-row]').count()).toBe(rows);
  await close();
  await harness.stop();
});
