import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildPackage } from '../../test/client-build.ts';
import { type Harness, startHarness } from '../../test/harness.ts';
import { launchBrowser } from './browser.ts';

/** The client library in a real browser, on a page of another origin than the gateway's. */

const folder = mkdtempSync(join(tmpdir(), 'tollgate-browser-'));
let site: Server;
let origin: string;
let harness: Harness;
let browser: Browser;

beforeAll(async () => {
  buildPackage('client', folder);
  site = createServer(serve);
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  [harness, browser] = await Promise.all([startHarness({ config: { origins: [origin] } }), launchBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await harness.stop();
  site.close();
  rmSync(folder, { recursive: true, force: true });
});

const serve: Parameters<typeof createServer>[1] = ({ url }, response) => {
  const name = /^\/([a-z-]+\.js)$/.exec(url ?? '')?.[1];
  if (name === undefined) response.setHeader('content-type', 'text/html').end('<!doctype html><title>A page</title>');
  else response.setHeader('content-type', 'text/javascript').end(readFileSync(join(folder, 'dist', name)));
};

/** Runs in the page; a text, because the test runner would rewrite the import. */
const programFor = (baseURL: string) => `(async () => {
  const { createClient, fallback } = await import('/index.js');
  const client = createClient({ baseURL: '${baseURL}' });
  const messages = [{ role: 'user', content: 'Hello' }];
  const ask = (member) => client.chat({ model: member.model, messages }, member);
  const answer = await fallback(['sim-gpt-mini', 'sim-gpt'], ask);
  const stream = client.chat.stream({ model: 'sim-gpt', messages });
  let text = '';
  for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
  const refused = await client.chat({ model: 'no-such-model', messages }).catch(({ code }) => code);
  return { text, refused, receipts: JSON.stringify([answer.receipts[0], await stream.receipt]) };
})()`;

interface Result {
  readonly text: string;
  readonly refused: string;
  readonly receipts: string;
}

test('reads receipts from headers and from the ledger, across origins', async () => {
  const page = await browser.newPage();
  await page.goto(origin);
  const { text, refused, receipts } = await page.evaluate<Result>(programFor(harness.url));
  expect(text).toContain('simulated');
  expect(refused).toBe('model_not_found');
  for (const { requestId, costNanousd } of JSON.parse(receipts)) {
    const { cost_nanousd } = await harness.receipt(requestId);
    expect(costNanousd).toBe(String(cost_nanousd));
    expect(cost_nanousd).toBeGreaterThan(0);
  }
  await page.close();
});
