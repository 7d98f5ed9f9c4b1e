import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ManualClock } from '../src/kit/clock.ts';
import { LIMITS } from '../src/limits.ts';
import type { Store } from '../src/store/store.ts';
import { type Harness, startHarness } from './harness.ts';
import { StreamClient } from './stream-client.ts';
import { until } from './until.ts';

/** The ledger cannot be written when a call ends: the end of the response waits, up to the call's time limit. */

const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }], max_tokens: 100 };
const BUFFERED_MS = 60_000;

let clock: ManualClock;
let harness: Harness;
let apply: Store['apply'];
/** Settlements without a reply. */
let turnedAway: number;

beforeEach(async () => {
  clock = new ManualClock(Date.UTC(2026, 10, 15));
  harness = await startHarness({
    clock,
    limits: { bufferedMs: BUFFERED_MS, streamMs: BUFFERED_MS, shutdownMs: 7_000 },
  });
  const { store } = harness.running.books;
  apply = store.apply.bind(store);
  turnedAway = 0;
});
afterEach(() => harness.stop());

/** From now on settlements fail, or (`mute`) are applied without a reply. */
function goAway(how: 'away' | 'mute'): void {
  const store = harness.running.books.store as { apply: Store['apply'] };
  store.apply = async (operations) => {
    const outcomes = how === 'mute' ? await apply(operations) : [];
    if (!operations.some(({ kind }) => kind !== 'hold')) return how === 'mute' ? outcomes : apply(operations);
    turnedAway += 1;
    throw new Error('The store is unreachable.');
  };
}

function comeBack(): void {
  (harness.running.books.store as { apply: Store['apply'] }).apply = apply;
}

async function tryAgain(times: number): Promise<void> {
  for (let count = 0; count < times; count++) {
    const before = turnedAway;
    await until(() => clock.fallsDueIn(LIMITS.settleRetryMs), 'the settlement waits for its next try');
    clock.advance(LIMITS.settleRetryMs);
    await until(() => turnedAway > before, 'it was tried again');
  }
}

describe.each(['away', 'mute'] as const)('a store that is %s for a while', (how) => {
  test('delays the response until the settlement is on disk', async () => {
    goAway(how);
    let answered = false;
    const asked = harness.post(ASK).then((response) => {
      answered = true;
      return response;
    });
    await until(() => turnedAway > 0, 'a settlement was turned away');
    await tryAgain(5);
    expect(answered).toBe(false);
    comeBack();
    await until(() => clock.fallsDueIn(LIMITS.settleRetryMs), 'the settlement waits for its next try');
    clock.advance(LIMITS.settleRetryMs);
    const response = await asked;
    expect(response.status).toBe(200);
    const receipt = await harness.receipt(response.headers.get('x-gateway-request-id')!);
    expect(receipt.cost_nanousd).toBe(Number(response.headers.get('x-gateway-cost-nanousd')));
    await harness.expectCleanBooks();
  });

  test('delays the end of a stream, but not its content', async () => {
    goAway(how);
    const client = new StreamClient(harness.url, { ...ASK, stream: true });
    await until(() => turnedAway > 0, 'a settlement was turned away');
    await until(() => clock.fallsDueIn(LIMITS.settleRetryMs), 'the settlement waits for its next try');
    clock.advance(LIMITS.wholeStreamKeptMs);
    await client.has(({ content }) => content !== '', 'the text of the stream');
    expect(client.text).not.toContain('[DONE]');
    comeBack();
    clock.advance(LIMITS.settleRetryMs - LIMITS.wholeStreamKeptMs);
    await client.end();
    expect(client.text).toContain('[DONE]');
    await harness.expectCleanBooks();
  });
});

/** What the log says about the ledger, and why. */
function said(): unknown[][] {
  const lines = harness.log.filter(({ msg }) => /^The ledger can/.test(String(msg)));
  return lines.map(({ level, error }) => [level, (error as { message: string } | undefined)?.message]);
}

test('the log says once why the ledger cannot be written, and once that it can be again', async () => {
  goAway('away');
  const asked = harness.post(ASK);
  await until(() => turnedAway > 0, 'a settlement was turned away');
  await tryAgain(5);
  expect(said()).toEqual([['error', 'The store is unreachable.']]);
  comeBack();
  await until(() => clock.fallsDueIn(LIMITS.settleRetryMs), 'the settlement waits for its next try');
  clock.advance(LIMITS.settleRetryMs);
  expect((await asked).status).toBe(200);
  clock.advance(LIMITS.storeHealthMs);
  for (let call = 0; call < 2; call++) expect((await harness.post(ASK)).status).toBe(200);
  expect(said()).toEqual([
    ['error', 'The store is unreachable.'],
    ['info', undefined],
  ]);
});

describe('a store that stays unavailable', () => {
  test('fails the call at its time limit without a cost, and the hold is voided later', async () => {
    goAway('away');
    const asked = harness.post(ASK);
    await until(() => turnedAway > 0, 'a settlement was turned away');
    await until(() => clock.fallsDueIn(LIMITS.settleRetryMs), 'the settlement waits for its next try');
    clock.advance(BUFFERED_MS);
    const response = await asked;
    expect(response.status).toBe(503);
    expect(response.headers.get('x-gateway-cost-nanousd')).toBeNull();
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await response.json()).toMatchObject({ error: { code: 'store_unavailable' } });
    expect(harness.running.books.ledger.openHolds).toBe(1);
    comeBack();
    clock.advance(LIMITS.storeHealthMs);
    await harness.settled();
    expect(await harness.newestReceipt()).toMatchObject({ state: 'voided', costNanousd: 0n });
    await harness.expectCleanBooks();
  });

  test('does not delay the shutdown', async () => {
    goAway('away');
    const asked = harness.post(ASK).catch(() => null);
    await until(() => turnedAway > 0, 'a settlement was turned away');
    const stopped = harness.running.stop();
    await until(() => clock.fallsDueIn(harness.shutdownMs), 'the calls under way have their time');
    clock.advance(harness.shutdownMs);
    await stopped;
    expect((await asked)?.status ?? 0).not.toBe(200);
  });
});
