import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { simHost, startHarness } from './harness.ts';

/** A provider key that is set after the first start adds models and changes no price, so the ledger can still be used. */

test('hosts come and go between lives of one data folder, and receipts keep naming one price list', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-keys-'));
  const ask = { model: 'sim-gpt', messages: [{ role: 'user', content: 'Hello' }] };
  const versions: string[] = [];
  for (const more of [[], ['openai', 'groq'], ['anthropic']]) {
    const life = await startHarness({
      folder,
      hosts: (sim) => [simHost(sim), ...more.map((name) => simHost(sim, { name, simulated: false }))],
    });
    const response = await life.post(ask);
    expect(response.status).toBe(200);
    versions.push((await life.receipt(response.headers.get('x-gateway-request-id')!)).price_version);
    await life.expectCleanBooks();
    await life.stop();
  }
  expect(new Set(versions).size).toBe(1);
  rmSync(folder, { recursive: true });
});
