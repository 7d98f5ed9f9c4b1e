import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ManualClock } from '../src/kit/clock.ts';
import { priceCounts } from './catalog-price.ts';
import { type Harness, startHarness } from './harness.ts';
import { holdUp } from './ledger-gate.ts';
import { StreamClient } from './stream-client.ts';
import { TRANSPORTS } from './transports.ts';
import { manyTurns, until } from './until.ts';

/** A client may hang up at any moment; the money follows what had happened by then. */

const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }], max_tokens: 100 };
const STREAM_ASK = { ...ASK, stream: true };
const REQUEST_LINE = 'POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n';
/** Forty tokens, by the simulator's own count. */
const ANSWER = { words: 40, tokensPerChunk: 1 };

const HOSTS = TRANSPORTS.flatMap((transport) => [['drain', transport] as const, ['cancel', transport] as const]);

describe.each(HOSTS)('from a host to %s, over the %s transport', (onClientGone, transport) => {
  let clock: ManualClock;
  let harness: Harness;

  beforeAll(async () => {
    clock = new ManualClock(Date.UTC(2026, 10, 15));
    harness = await startHarness({ clock, transport, row: { onClientGone } });
  });
  beforeEach(() => harness.sim.reset());
  afterEach(async () => {
    await harness.settled();
    await harness.expectCleanBooks();
    expect(harness.sim.openResponses()).toBe(0);
    expect(harness.running.gateway.runningCalls.count).toBe(0);
  });
  afterAll(() => harness.stop());

  test('before the whole request has arrived, there is no call', async () => {
    await harness.post(ASK);
    const before = await harness.newestReceipt();
    harness.sim.reset();
    const socket = connect(Number(new URL(harness.url).port), '127.0.0.1');
    socket.write(`${REQUEST_LINE}content-length: 500\r\n\r\n{"model":`);
    await new Promise((resolve) => socket.once('ready', resolve));
    await manyTurns();
    socket.destroy();
    await manyTurns();
    expect(harness.sim.calls).toHaveLength(0);
    expect(await harness.newestReceipt()).toEqual(before);
  });

  test.each([ASK, STREAM_ASK])('while the hold is taken, no host is asked and nothing is charged', async (ask) => {
    const hold = holdUp(harness.running, 'hold');
    const client = new StreamClient(harness.url, ask);
    await until(hold.reached, 'the hold is taken');
    client.leave();
    await manyTurns();
    hold.letGo();
    await harness.settled();
    expect(harness.sim.calls).toHaveLength(0);
    expect(await harness.newestReceipt()).toMatchObject({
      state: 'settled',
      ended: 'client_gone',
      httpStatus: 499,
      host: null,
      attempts: 0,
      costNanousd: 0n,
      lossNanousd: 0n,
    });
  });

  test('before the first content of a stream, the host is cancelled and nothing is charged', async () => {
    for (const script of [{ gateHead: 'gate' }, { gate: 'gate' }]) {
      harness.sim.reset();
      harness.sim.script({ ...ANSWER, ...script });
      const client = new StreamClient(harness.url, STREAM_ASK);
      await harness.sim.waitForGate('gate', 1);
      await manyTurns();
      client.leave();
      await harness.sim.waitForIdle();
      expect(harness.sim.calls[0]!.clientClosed).toBe(true);
      await harness.settled();
      expect(await harness.newestReceipt()).toMatchObject({
        ended: 'client_gone',
        httpStatus: 499,
        attempts: 1,
        costNanousd: 0n,
      });
    }
  });

  test('in the middle of a stream, the host is read to the end for its counts, or cut and estimated', async () => {
    harness.sim.script({ ...ANSWER, gate: 'chunk' });
    const client = new StreamClient(harness.url, STREAM_ASK);
    await harness.sim.waitForGate('chunk', 1);
    harness.sim.release('chunk', 11);
    await client.has(({ events }) => events.length === 11, 'ten words');
    const bytesSeen = Buffer.byteLength(client.content);
    client.leave();
    if (onClientGone === 'cancel') await until(() => harness.sim.openResponses() === 0, 'the host was cancelled');
    else await manyTurns();
    harness.sim.release('chunk', 100);
    await harness.sim.waitForIdle();
    await harness.settled();
    const receipt = await harness.receipt(client.requestId);
    const { pricing } = await harness.catalogEntry('sim-gpt');
    const [source, counts] =
      onClientGone === 'drain'
        ? ['drained', { fresh: 5, output: 40 }]
        : ['estimated', { fresh: Math.ceil('hello'.length / 4), output: Math.ceil(bytesSeen / 4) }];
    expect(receipt).toMatchObject({ ended: 'client_gone', http_status: 499, usage_source: source });
    expect(receipt.usage).toMatchObject({ fresh_tokens: counts.fresh, output_tokens: counts.output });
    const { total } = priceCounts(pricing, { ...counts, cacheRead: 0, cacheWrite: 0 });
    expect(BigInt(receipt.cost_nanousd!)).toBe(total);
    expect(harness.sim.calls[0]!.completed).toBe(onClientGone === 'drain');
  });

  test('while a whole answer is awaited, likewise', async () => {
    harness.sim.script({ ...ANSWER, gateHead: 'head' });
    const client = new StreamClient(harness.url, ASK);
    await harness.sim.waitForGate('head', 1);
    client.leave();
    await manyTurns();
    harness.sim.release('head');
    await harness.sim.waitForIdle();
    await harness.settled();
    expect(await harness.newestReceipt()).toMatchObject({
      ended: 'client_gone',
      httpStatus: 499,
      usageSource: onClientGone === 'drain' ? 'drained' : 'estimated',
      usage: onClientGone === 'drain' ? { freshTokens: 5, outputTokens: 40 } : { freshTokens: 2, outputTokens: 0 },
    });
  });

  test.each([ASK, STREAM_ASK])('while the call is being settled, it is complete and charged as such', async (ask) => {
    harness.sim.script(ANSWER);
    const settle = holdUp(harness.running, 'settle');
    const client = new StreamClient(harness.url, ask);
    await until(settle.reached, 'the settlement is durable');
    client.leave();
    await manyTurns();
    settle.letGo();
    await until(() => harness.running.gateway.runningCalls.count === 0, 'the call is over');
    expect(await harness.newestReceipt()).toMatchObject({
      ended: 'complete',
      httpStatus: 200,
      usageSource: 'reported',
      usage: { outputTokens: 40 },
    });
  });

  test('after the last frame, nothing changes', async () => {
    harness.sim.script(ANSWER);
    const client = new StreamClient(harness.url, STREAM_ASK);
    await client.has(({ text }) => text.includes('[DONE]'), 'the terminator');
    client.leave();
    expect(await harness.receipt(client.requestId)).toMatchObject({ ended: 'complete', usage_source: 'reported' });
  });

  test('by its writing side alone, it counts as gone: a host to cancel would work on for nobody otherwise', async () => {
    harness.sim.script({ ...ANSWER, gateHead: 'head' });
    const body = JSON.stringify(ASK);
    const port = Number(new URL(harness.url).port);
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const text = readAll(socket);
    socket.write(`${REQUEST_LINE}content-length: ${body.length}\r\n\r\n${body}`);
    await harness.sim.waitForGate('head', 1);
    socket.end();
    expect(await text).toBe('');
    harness.sim.release('head');
    await harness.sim.waitForIdle();
    await harness.settled();
    expect(await harness.newestReceipt()).toMatchObject({ ended: 'client_gone', httpStatus: 499 });
  });
});

function readAll(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
    socket.on('end', () => socket.destroy());
  });
}
