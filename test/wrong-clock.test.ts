import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../src/kit/clock.ts';
import { type Harness, startHarness } from './harness.ts';
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
