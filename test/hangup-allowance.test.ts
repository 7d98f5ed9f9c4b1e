import { afterAll, beforeAll, expect, test } from 'vitest';
import { ManualClock } from '../src/kit/clock.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';
import { StreamClient } from './stream-client.ts';
import { manyTurns, until } from './until.ts';

/** What callers see of the loss allowance over HTTP. */

const HOUR_MS = 3_600_000;
const ASK = { model: 'sim-gpt', stream: true, max_tokens: 100, messages: [{ role: 'user', content: 'hello' }] };

const clock = new ManualClock(Date.UTC(2026, 10, 15, 12, 30));
let harness: Harness;
let caller: MintedKey;
let holdNanousd: number;

beforeAll(async () => {
  const probe = await startHarness();
  const response = await probe.post({ path: '/v1/chat/completions', body: ASK }, {}, '/v1/quote');
  holdNanousd = ((await response.json()) as { worst_case_nanousd: number }).worst_case_nanousd;
  await probe.stop();
  harness = await startHarness({ hosted: true, clock, limits: { hangupAllowanceNanousd: 2 * holdNanousd - 1 } });
  caller = await harness.mint();
});
afterAll(() => harness.stop());

const bearer = () => ({ authorization: `Bearer ${caller.secret}` });

async function hangups(): Promise<unknown> {
  const response = await harness.get('/v1/balance', bearer());
  return ((await response.json()) as { hangups: unknown }).hangups;
}

async function announced(): Promise<string | null> {
  const response = await harness.post(ASK, bearer());
  await response.text();
  return response.headers.get('x-gateway-hangups');
}

async function hangUp(): Promise<void> {
  const received = harness.sim.received();
  harness.sim.script({ gate: 'chunk' }, { times: 1 });
  const client = new StreamClient(harness.url, ASK, bearer());
  await until(() => harness.sim.received() > received, 'the host has the call');
  await harness.sim.waitForGate('chunk', 1);
  client.leave();
  await until(() => harness.sim.openResponses() === 0, 'the host was cancelled');
  await harness.settled();
}

test('the balance and the responses announce an allowance that is used up, and that it is whole again', async () => {
  const allowance_nanousd = 2 * holdNanousd - 1;
  const resets_at = Date.UTC(2026, 10, 15, 13) / 1000;
  expect([await announced(), await hangups()]).toEqual([
    null,
    { allowance_nanousd, remaining_nanousd: allowance_nanousd, resets_at },
  ]);
  await hangUp();
  expect([await announced(), await hangups()]).toEqual([
    'charged',
    { allowance_nanousd, remaining_nanousd: holdNanousd - 1, resets_at },
  ]);
  clock.advance(HOUR_MS);
  expect([await announced(), await hangups()]).toEqual([
    null,
    { allowance_nanousd, remaining_nanousd: allowance_nanousd, resets_at: resets_at + HOUR_MS / 1000 },
  ]);
});

test('hanging up on documents again and again costs no more than the allowance, and charges by their size', async () => {
  const documents = await startHarness({ hosted: true, clock, limits: { hangupAllowanceNanousd: 2_000_000_000 } });
  const { secret } = await documents.mint({ creditNanousd: 10_000_000_000n });
  const file_data = `data:application/pdf;base64,${Buffer.alloc(900_000).toString('base64')}`;
  const content = [{ type: 'file', file: { filename: 'tides.pdf', file_data } }];
  const body = { ...ASK, messages: [{ role: 'user', content }] };
  const receipts = [];
  for (let call = 0; call < 3; call++) {
    documents.sim.reset();
    documents.sim.script({ gate: 'chunk' }, { times: 1 });
    const client = new StreamClient(documents.url, body, { authorization: `Bearer ${secret}` });
    await documents.sim.waitForGate('chunk', 1);
    documents.sim.release('chunk', 3);
    await client.has((seen) => seen.content !== '', 'a word');
    client.leave();
    await manyTurns();
    clock.advance(documents.running.gateway.limits.drainMs);
    await manyTurns();
    documents.sim.release('chunk', 1_000);
    await until(() => documents.running.gateway.runningCalls.count === 0, 'the call is over');
    await documents.settled();
    receipts.push(await documents.newestReceipt());
  }
  const losses = receipts.map(({ lossNanousd }) => lossNanousd);
  expect(losses.reduce((sum, one) => sum + one, 0n)).toBeLessThanOrEqual(2_000_000_000n);
  expect(receipts[0]).toMatchObject({
    usageSource: 'estimated',
    usage: { freshTokens: 30_000 + Math.ceil('tides.pdf'.length / 4) },
  });
  expect(receipts.at(-1)).toMatchObject({ usageSource: 'drained', lossReason: null });
  await documents.stop();
});

test('the local account has no allowance', async () => {
  const local = await startHarness();
  const response = await local.get('/v1/balance');
  expect(await response.json()).toMatchObject({ unlimited: true, hangups: null });
  await local.stop();
});
