import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';

/** More than ten million dollars. A JSON number that is read as a double loses the last digits. */
const CAP = 9_999_999_999_999_999n;
const BELOW = 9_007_199_254_740_993n;

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.stop());

async function send(method: string, path: string, body?: object): Promise<string> {
  const token = readFileSync(join(harness.folder, 'console.token'), 'utf8').trim();
  const response = await fetch(`${harness.url}/manage/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
  return text;
}

test('the audit has every digit of a large amount, as a page and as a file', async () => {
  await send('POST', '/accounts', { name: 'large' });
  await send('POST', '/keys', { account: 'large', spend_cap_nanousd: String(CAP) });
  const path = '/audit?account=large&action=key.mint';
  expect(await send('GET', path)).toContain(`"spend_cap_nanousd":${CAP}`);
  expect(await send('GET', `${path}&format=csv`)).toContain(`""spend_cap_nanousd"":${CAP}`);
});

test('an alert has every digit of a large amount', async () => {
  await send('POST', '/accounts', { name: 'alerted' });
  await send('POST', '/accounts/alerted/credits', { amount_nanousd: String(BELOW - 2n) });
  await send('PATCH', '/accounts/alerted/alert-settings', { balance_below_nanousd: String(BELOW) });
  await harness.running.alerts.look();
  const alerts = await send('GET', '/alerts?account=alerted');
  expect(alerts).toContain(`"below_nanousd":${BELOW}`);
  expect(alerts).toContain(`"balance_nanousd":${BELOW - 2n}`);
});
