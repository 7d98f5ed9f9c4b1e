import { afterEach, beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../src/kit/clock.ts';
import { LIMITS } from '../src/limits.ts';
import { type Store, StoreUnavailable } from '../src/store/store.ts';
import { type Harness, startHarness } from './harness.ts';
import { until } from './until.ts';

/** `/readyz` says what would happen to a call now, although the store's own health check succeeds. */

const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }], max_tokens: 100 };

let clock: ManualClock;
let harness: Harness;
let store: { apply: Store['apply'] };
let apply: Store['apply'];

beforeEach(async () => {
  clock = new ManualClock(Date.UTC(2026, 10, 15));
  harness = await startHarness({ clock });
  store = harness.running.books.store;
  apply = harness.running.books.store.apply.bind(store);
});
afterEach(async () => {
  store.apply = apply;
  await harness.stop();
});

const readiness = async () => {
  const response = await harness.get('/readyz');
  return [response.status, await response.json()] as const;
};
const READY = [200, { status: 'ok' }];
const NOT_READY = [503, { status: 'unavailable', reason: expect.any(String) }];

test('is not ready after a hold failed, and ready again after one succeeded', async () => {
  expect((await harness.post(ASK)).status).toBe(200);
  expect(await readiness()).toEqual(READY);
  store.apply = () => Promise.reject(new StoreUnavailable('sorry, too many clients already'));
  expect((await harness.post(ASK)).status).toBe(503);
  expect(await readiness()).toEqual(NOT_READY);
  store.apply = apply;
  expect((await harness.post(ASK)).status).toBe(200);
  expect(await readiness()).toEqual(READY);
});

test('without traffic is not ready two seconds after holds began to fail, and ready two seconds after they stopped', async () => {
  expect(await readiness()).toEqual(READY);
  store.apply = () => Promise.reject(new StoreUnavailable('sorry, too many clients already'));
  clock.advance(2_000);
  expect(await readiness()).toEqual(NOT_READY);
  store.apply = apply;
  clock.advance(2_000);
  expect(await readiness()).toEqual(READY);
});

test('is not ready after another registration replaced this process', async () => {
  await harness.running.books.store.beginInstance();
  clock.advance(2_000);
  expect(await readiness()).toEqual(NOT_READY);
  expect((await harness.post(ASK)).status).toBe(503);
  expect(await readiness()).toEqual(NOT_READY);
});

test('is not ready while the ledger can write no hold', async () => {
  store.apply = async (operations) => operations.map(() => ({ kind: 'operation_failed', message: 'closed' }));
  expect((await harness.post(ASK)).status).toBe(500);
  expect(await readiness()).toEqual(NOT_READY);
});

test('says that it is not ready when the store hangs, instead of hanging too', async () => {
  let goOn: (() => void) | null = null;
  store.apply = async (operations) => {
    await new Promise<void>((resolve) => {
      goOn = resolve;
    });
    return apply(operations);
  };
  const asked = readiness();
  await until(() => goOn !== null, 'the store has the test hold');
  clock.advance(LIMITS.admissionProbeMs);
  expect(await asked).toEqual(NOT_READY);
  goOn!();
  await until(async () => (await readiness())[0] === 200, 'it is ready again');
});
