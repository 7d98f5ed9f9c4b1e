import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';
import { holdUp } from './ledger-gate.ts';
import { StreamClient } from './stream-client.ts';
import { manyTurns, until } from './until.ts';

/** Money is durable before what it pays for: the hold before the host is called, the settlement before the end of the response. */

const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }] };
const STREAM_ASK = { ...ASK, stream: true };

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});
beforeEach(() => harness.sim.reset());
afterEach(() => harness.expectCleanBooks());
afterAll(() => harness.stop());

test.each([ASK, STREAM_ASK])('no byte goes to a host before the hold is there', async (ask) => {
  const hold = holdUp(harness.running, 'hold');
  const connections = harness.sim.openConnections();
  const client = new StreamClient(harness.url, ask);
  await until(hold.reached, 'the hold is taken');
  await manyTurns();
  expect([harness.sim.calls.length, harness.sim.openConnections(), client.status]).toEqual([0, connections, null]);
  hold.letGo();
  await client.end();
  expect([client.status, harness.sim.received()]).toEqual([200, 1]);
});

test('a whole answer does not begin before it is settled', async () => {
  const settle = holdUp(harness.running, 'settle');
  const client = new StreamClient(harness.url, ASK);
  await until(settle.reached, 'it is settled');
  await manyTurns();
  expect([client.status, client.text]).toEqual([null, '']);
  settle.letGo();
  await client.end();
  expect(client.status).toBe(200);
});

test('a stream does not end before it is settled: all words have left, its usage and its terminator have not', async () => {
  harness.sim.script({ words: 8, tokensPerChunk: 1 });
  const settle = holdUp(harness.running, 'settle');
  const client = new StreamClient(harness.url, { ...STREAM_ASK, stream_options: { include_usage: true } });
  await until(settle.reached, 'it is settled');
  await client.has(({ content }) => content.split(' ').length === 8, 'eight words');
  await manyTurns();
  expect(client.ended).toBeNull();
  expect(client.text).not.toContain('[DONE]');
  expect(client.text).not.toContain('prompt_tokens');
  settle.letGo();
  await client.end();
  expect(client.text).toContain('prompt_tokens');
  expect(client.events.at(-1)).toBe('data: [DONE]');
});

test('an error that cost something is not told before it is settled', async () => {
  harness.sim.script({ words: 8, tokensPerChunk: 1, errorAfterChunks: 5 });
  const settle = holdUp(harness.running, 'settle');
  const client = new StreamClient(harness.url, STREAM_ASK);
  await until(settle.reached, 'it is settled');
  await manyTurns();
  expect(client.text).not.toContain('"error"');
  settle.letGo();
  await client.end();
  expect(client.events.at(-1)).toContain('host_failed');
});
