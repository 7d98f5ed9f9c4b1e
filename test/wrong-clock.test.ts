import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { ManualClock, systemClock } from '../src/kit/clock.ts';
import { idFloorAt } from '../src/kit/ids.ts';
import { LIMITS } from '../src/limits.ts';
import { type Harness, startHarness } from './harness.ts';
import { aHold, aSettle } from './store-fixtures.ts';
import { until } from './until.ts';

/** A clock that was a year ahead is corrected: calls go on, and their receipts have the right time. */

const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }], max_tokens: 100 };
const TODAY_MS = Date.UTC(2026, 10, 15, 12);
const YEAR_MS = 365 * 86_400_000;

let folder: string;
let harness: Harness;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-clock-'));
});
afterEach(async () => {
  await harness.stop();
  rmSync(folder, { recursive: true });
});

async function call(): Promise<string> {
  const response = await harness.post(ASK);
  expect(response.status).toBe(200);
  return response.headers.get('x-request-id')!;
}

const warned = () => harness.log.filter(({ msg }) => typeof msg === 'string' && msg.includes('clock is behind')).length;

test('while it was stopped, after the ledger was closed and receipts were deleted', async () => {
  const ahead = new ManualClock(TODAY_MS + YEAR_MS);
  harness = await startHarness({ folder, clock: ahead });
  const early = [await call(), await call()];
  await harness.settled();
  ahead.setNowMs(ahead.nowMs() + 2 * 3_600_000);
  expect(await harness.running.books.store.closeBooks(ahead.nowMs())).toEqual({ closed: 2, forgotten: 2 });
  expect(warned()).toBe(0);
  await harness.stop();

  harness = await startHarness({ folder, clock: new ManualClock(TODAY_MS) });
  const late = [await call(), await call()];
  expect([...early, ...late].toSorted()).toEqual([...early, ...late]);
  for (const id of late) expect((await harness.receipt(id)).status).toBe('settled');
  expect((await harness.newestReceipt()).createdMs).toBe(TODAY_MS);
  expect(warned()).toBe(1);
  await harness.expectCleanBooks();
});

test('while it runs, after the ledger was closed', async () => {
  const clock = new ManualClock(TODAY_MS + YEAR_MS);
  harness = await startHarness({ folder, clock });
  await call();
  await harness.settled();
  clock.setNowMs(clock.nowMs() + 2 * 3_600_000);
  expect((await harness.running.books.store.closeBooks(null)).closed).toBe(1);
  clock.setNowMs(TODAY_MS);
  expect((await harness.receipt(await call())).status).toBe('settled');
  clock.advance(60_000);
  await until(() => warned() === 1, 'the jump is logged');
  await harness.expectCleanBooks();
});

test('while only some workers had calls, after these were closed', async () => {
  const { closingPeriodMs, bookkeepingFirstMs } = LIMITS;
  onTestFinished(() => void Object.assign(LIMITS, { closingPeriodMs, bookkeepingFirstMs }));
  Object.assign(LIMITS, { closingPeriodMs: 20, bookkeepingFirstMs: 20 });
  harness = await startHarness({ folder, workers: 2 });
  const { store, ids } = harness.running.books;
  const createdMs = systemClock.nowMs() + YEAR_MS;
  const id = idFloorAt(createdMs);
  const { accountId } = await harness.mint();
  const outcomes = await store.apply([aHold(id, 5n, { accountId, createdMs }), aSettle(id, 5n)]);
  expect(outcomes.map(({ kind }) => kind)).toEqual(['held', 'settled']);
  await until(() => ids.aheadMs > YEAR_MS / 2, 'the ledger is closed');
  const answers = await Promise.all(Array.from({ length: 16 }, () => harness.post(ASK, { connection: 'close' })));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
});
