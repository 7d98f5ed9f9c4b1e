import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BrowserPage } from '../../campaigns/client-runtimes/browser.ts';
import { buildPackage } from '../../test/client-build.ts';
import { type Harness, startHarness } from '../../test/harness.ts';

/** The client library, bundled, in a real browser, on a page of another origin than the gateway's. */

const folder = mkdtempSync(join(tmpdir(), 'tollgate-browser-'));
let page: BrowserPage;
let harness: Harness;

beforeAll(async () => {
  buildPackage('client', folder);
  page = await BrowserPage.open();
  harness = await startHarness({ config: { origins: [page.origin] } });
});
afterAll(async () => {
  await harness.stop();
  page.close();
  rmSync(folder, { recursive: true, force: true });
});

const programFor = (baseURL: string) => `
import { createClient, fallback } from './dist/index.js';
const client = createClient({ baseURL: '${baseURL}' });
const messages = [{ role: 'user', content: 'Hello' }];
const ask = (member) => client.chat({ model: member.model, messages }, member);
const answer = await fallback(['sim-gpt-mini', 'sim-gpt'], ask);
const stream = client.chat.stream({ model: 'sim-gpt', messages });
let text = '';
for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
const refused = await client.chat({ model: 'no-such-model', messages }).catch(({ code }) => code);
const result = JSON.stringify({ text, refused, receipts: [answer.receipts[0], await stream.receipt] });
`;

test('reads receipts from headers and from the ledger, across origins', async () => {
  const { text, refused, receipts } = JSON.parse(await page.run(folder, programFor(harness.url)));
  expect(text).toContain('simulated');
  expect(refused).toBe('model_not_found');
  expect(receipts).toHaveLength(2);
  for (const { requestId, costNanousd } of receipts) {
    const { cost_nanousd } = await harness.receipt(requestId);
    expect(costNanousd).toBe(String(cost_nanousd));
    expect(cost_nanousd).toBeGreaterThan(0);
  }
});
