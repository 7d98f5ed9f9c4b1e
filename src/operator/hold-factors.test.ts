import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { anAccount } from '../../test/store-fixtures.ts';
import { buildCatalog } from '../catalog/catalog.ts';
import { loadSimulatedFile } from '../catalog/load.ts';
import { ManualClock } from '../kit/clock.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { Store } from '../store/store.ts';
import { listHoldFactors, resetHoldFactor } from './hold-factors.ts';

const folder = mkdtempSync(join(tmpdir(), 'tollgate-factors-'));
const clock = new ManualClock();
const catalog = buildCatalog({ rows: loadSimulatedFile().models, hosts: new Set(['sim']), version: '2026-01-01-x' });
let store: Store;
let nextId = 0n;

beforeAll(async () => {
  store = await openSqliteStore({ folder, clock, threads: false });
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

function services() {
  const actor = { kind: 'command_line', id: null, name: 'root', address: null } as const;
  return { store, clock, catalog: () => catalog, ids: { next: () => ++nextId }, actor };
}

test('a factor comes with its source, rises after overruns of three accounts, and can be reset', async () => {
  const shown = async () => (await listHoldFactors(services())).data.find(({ model }) => model === 'sim-gpt');
  const before = {
    model: 'sim-gpt',
    tokenizer: null,
    factor: 1.6,
    source: 'default',
    raised_to: null,
    overrun_accounts: 0,
  };
  expect(await shown()).toEqual(before);
  for (const accountId of [1n, 2n, 3n]) {
    await store.createAccount(anAccount(accountId));
    expect((await shown())?.raised_to).toBeNull();
    await store.directory.noteTokenOverrun({ model: 'sim-gpt', accountId, factor: 2.5, notedMs: 0 });
  }
  expect(await shown()).toEqual({ ...before, raised_to: 2.5, overrun_accounts: 3 });
  expect(await resetHoldFactor(services(), { model: 'sim-gpt' })).toMatchObject({ forgotten_accounts: 3 });
  expect(await shown()).toEqual(before);
});

test('a model that is not served has no factor to reset', async () => {
  const refusal = { code: 'not_found', message: 'No model is called "none".', hint: 'tollgate models' };
  await expect(resetHoldFactor(services(), { model: 'none' })).rejects.toMatchObject(refusal);
});
