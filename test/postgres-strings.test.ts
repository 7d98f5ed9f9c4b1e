import { afterEach, beforeEach, expect, it } from 'vitest';
import { ManualClock, systemClock } from '../src/kit/clock.ts';
import { LIMITS } from '../src/limits.ts';
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts';
import type { Store } from '../src/store/store.ts';
import { freshSchema } from './postgres.ts';
import { aCredit, aHold, aSettle, NOON_MS, prepare } from './store-fixtures.ts';

/** A database in which a backslash in a plain literal begins an escape, as it did before PostgreSQL 9.1. */

const clock = new ManualClock(NOON_MS);
let usual: string;
let store: Store;

beforeEach(async () => {
  usual = await freshSchema();
  const url = new URL(usual);
  url.searchParams.set('options', `${url.searchParams.get('options')} -c standard_conforming_strings=off`);
  store = await openPostgresStore({ url: url.href.replaceAll('+', '%20'), clock, databaseTime: false });
});
afterEach(() => store.close());

it('closes receipts with the same hashes as any other database', async () => {
  await prepare(store);
  const labels = { user: 'back\\slash and\nline' };
  await store.apply([aCredit(1n, 1_000n), aHold(1n, 10n, { labels, createdMs: NOON_MS }), aSettle(1n, 5n)]);
  clock.advance(2 * LIMITS.closingAgeMs);
  expect(await store.closeBooks(null)).toEqual({ closed: 1, forgotten: 0 });
  expect((await store.findReceipt(1n, null))!.labels).toEqual(labels);
  expect(await store.proofs.prove(1n, 1n)).not.toBeNull();
  const other = await openPostgresStore({ url: usual, clock: systemClock });
  expect(await other.verify().finally(() => other.close())).toMatchObject({ closedReceipts: 1, violations: [] });
});
