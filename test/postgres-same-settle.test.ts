import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../src/kit/clock.ts';
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts';
import type { Store } from '../src/store/store.ts';
import { freshSchema } from './postgres.ts';
import { aCredit, aHold, aSettle, prepare } from './store-fixtures.ts';

const CALLS = 60;
let store: Store;

beforeAll(async () => {
  store = await openPostgresStore({ url: await freshSchema(), clock: systemClock });
  await prepare(store);
  await store.apply([aCredit(1n, 1_000_000n)]);
});
afterAll(() => store.close());

test('two batches that settle the same call at the same time charge it once, and neither is told that it failed', async () => {
  const kinds = new Set<string>();
  for (let call = 0; call < CALLS; call++) {
    const id = BigInt(1_000 + call);
    await store.apply([aHold(id, 10n)]);
    const outcomes = await Promise.all([store.apply([aSettle(id, 7n)]), store.apply([aSettle(id, 7n)])]);
    for (const [outcome] of outcomes) kinds.add(outcome!.kind);
  }
  expect([...kinds].filter((kind) => kind === 'operation_failed')).toEqual([]);
  expect(await store.findAccount(1n)).toMatchObject({ spentNanousd: BigInt(CALLS) * 7n, heldNanousd: 0n });
});
