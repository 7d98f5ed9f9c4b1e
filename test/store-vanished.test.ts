import { cpSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startHarness } from './harness.ts';
import { until } from './until.ts';

let home: string;
let folder: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tollgate-vanished-'));
  folder = join(home, 'data');
});

afterEach(() => rmSync(home, { recursive: true }));

describe('a data folder that vanishes under a running gateway', () => {
  test.each([
    ['moved away', (from: string) => renameSync(from, `${from}-away`)],
    [
      'replaced by another',
      (from: string) => {
        cpSync(from, `${from}-copy`, { recursive: true });
        renameSync(from, `${from}-away`);
        renameSync(`${from}-copy`, from);
      },
    ],
    ['without its database', (from: string) => rmSync(join(from, 'tollgate.sqlite'))],
  ])('because it was %s stops admission with the next call', async (_, vanish) => {
    const harness = await startHarness({ folder });
    const ask = () => harness.post({ model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }] });
    try {
      expect((await ask()).status).toBe(200);
      expect((await harness.get('/readyz')).status).toBe(200);
      vanish(folder);
      for (let again = 0; again < 3; again++) {
        const response = await ask();
        expect(response.status).toBe(503);
        expect(await response.json()).toMatchObject({ error: { code: 'store_unavailable' } });
      }
      const readiness = await harness.get('/readyz');
      expect(readiness.status).toBe(503);
      expect(await readiness.text()).toContain('tollgate.sqlite');
      const lines = harness.log.filter(({ msg }) => String(msg).includes('data folder is gone'));
      expect(lines).toHaveLength(1);
    } finally {
      await harness.stop();
    }
  });

  test('loses nothing when only the write-ahead log is deleted, and is noticed within a second', async () => {
    const harness = await startHarness({ folder });
    const response = await harness.post({ model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }] });
    const id = response.headers.get('x-gateway-request-id')!;
    await response.text();
    rmSync(join(folder, 'tollgate.sqlite-wal'));
    await until(() => harness.log.some(({ msg }) => String(msg).includes('data folder is gone')), 'it is noticed');
    expect((await harness.get('/readyz')).status).toBe(503);
    await harness.stop();
    const again = await startHarness({ folder });
    expect((await again.receipt(id)).status).toBe('settled');
    await again.stop();
  });

  test('is noticed by a gateway that nobody calls', async () => {
    const harness = await startHarness({ folder });
    try {
      rmSync(join(folder, 'tollgate.sqlite'));
      expect((await harness.get('/readyz')).status).toBe(503);
    } finally {
      await harness.stop();
    }
  });
});
