import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ManualClock } from '../src/kit/clock.ts';
import { LIMITS } from '../src/limits.ts';
import type { SimCall } from '../src/sim/sim.ts';
import { type Harness, startHarness } from './harness.ts';
import { StreamClient } from './stream-client.ts';
import { TRANSPORTS } from './transports.ts';
import { manyTurns, until } from './until.ts';

/** How fast bytes go through, and what happens when one side is faster than the other. */

const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }], stream: true };
/** More than the socket buffers of both connections together, far less than an endless answer. */
const BUFFERED_BYTES_MAX = 48 * 1024 * 1024;
/** An answer with an end that still does not fit into those buffers. */
const HUGE_CHOICES = 128;
const HUGE_ASK = { ...ASK, n: HUGE_CHOICES, max_tokens: 16_384 };
const HUGE_TEXT = 'x'.repeat(8 * 16_384);
/** Small chunks, because the names around them make it three times as long: a busy system lets its buffers grow beyond the text. */
const HUGE_ANSWER = { text: HUGE_TEXT, tokensPerChunk: 16 };

const HOSTS = TRANSPORTS.flatMap((transport) => [['drain', transport] as const, ['cancel', transport] as const]);

describe.each(HOSTS)('from a host to %s when the client is gone, over the %s transport', (onClientGone, transport) => {
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
  });
  afterAll(() => harness.stop());

  const openStream = (reading = true, ask: object = ASK) => new StreamClient(harness.url, ask, {}, { reading });

  /** A full socket may be emptied a moment later; a paused host does not move. */
  async function hostIsPaused(): Promise<SimCall> {
    await harness.sim.waitForCalls(1);
    const call = harness.sim.calls[0]!;
    await until(async () => {
      const { stalled, bytesWritten } = call;
      await manyTurns();
      return stalled && call.stalled && call.bytesWritten === bytesWritten;
    }, 'the host is paused');
    return call;
  }

  test('a client that stops reading stops the host, with a bounded amount between them', async () => {
    const { sim, running } = harness;
    sim.script({ endless: true });
    const client = openStream(false);
    const call = await hostIsPaused();
    for (let round = 0; round < 2; round++) {
      await hostIsPaused();
      const written = call.bytesWritten;
      expect(written - client.text.length).toBeLessThan(BUFFERED_BYTES_MAX);
      // Reading lets it continue; then it stops again.
      await until(() => {
        client.readOnce();
        return call.bytesWritten > written;
      }, 'the host goes on');
    }
    await hostIsPaused();
    client.leave();
    if (onClientGone === 'drain') {
      const pausedAt = call.bytesWritten;
      await until(() => call.bytesWritten > pausedAt + BUFFERED_BYTES_MAX / 4, 'the host is read on, without pauses');
      clock.advance(running.gateway.limits.drainMs);
    }
    await sim.waitForIdle();
    await until(() => running.egress.openConnections === 0, 'the connection to the host is closed');
    expect(call.clientClosed).toBe(true);
    await harness.settled();
    expect(await harness.receipt(client.requestId)).toMatchObject({ ended: 'client_gone', usage_source: 'estimated' });
  });

  test('a client that closes while the host is paused leaves nothing open', async () => {
    const { sim, running } = harness;
    sim.script(HUGE_ANSWER);
    const client = openStream(false, HUGE_ASK);
    const call = await hostIsPaused();
    client.leave();
    await sim.waitForIdle();
    expect(call.completed).toBe(onClientGone === 'drain');
    await harness.settled();
    const receipt = await harness.receipt(client.requestId);
    expect(receipt).toMatchObject({
      ended: 'client_gone',
      http_status: 499,
      usage_source: onClientGone === 'drain' ? 'drained' : 'estimated',
    });
    if (onClientGone === 'drain') expect(receipt.usage!.output_tokens).toBe(HUGE_CHOICES * 16_384);
    else await until(() => running.egress.openConnections === 0, 'the connection to the host is closed');
    expect(sim.openResponses()).toBe(0);
  });

  test('a client that reads nothing for a minute is gone', async () => {
    const { sim, running } = harness;
    const { stallMs, drainMs } = running.gateway.limits;
    sim.script({ endless: true });
    const client = openStream(false);
    await hostIsPaused();
    clock.advance(stallMs - 1);
    await manyTurns();
    expect(client.ended).toBeNull();
    clock.advance(1);
    client.read();
    await client.end();
    expect(client.ended).toBe('cut');
    if (onClientGone === 'drain') clock.advance(drainMs);
    await sim.waitForIdle();
    await harness.settled();
    expect(await harness.receipt(client.requestId)).toMatchObject({ ended: 'stalled', usage_source: 'estimated' });
  });

  // Whether the host is read on without a client makes no difference to clients that stay.
  if (onClientGone === 'drain') {
    test('a host sends its next chunk only after the client has the last one', async () => {
      const { sim } = harness;
      sim.script({ gate: 'chunk', tokensPerChunk: 1, words: 12 });
      const client = openStream();
      await sim.waitForGate('chunk', 1);
      await manyTurns();
      // The host's headers have arrived; ours are sent with the first text, and so is the role.
      sim.release('chunk');
      await sim.waitForGate('chunk', 1);
      await manyTurns();
      expect(client.status).toBeNull();
      const texts = new Set<string>();
      for (let word = 1; word <= 12; word++) {
        await sim.waitForGate('chunk', 1);
        sim.release('chunk');
        await client.has(({ events }) => events.length === word + 1, `word ${word}`);
        texts.add(client.content);
      }
      expect(texts.size).toBe(12);
      // The finish, the usage that nobody asked for, the terminator.
      sim.release('chunk', 3);
      await client.end();
      expect(client.ended).toBe('complete');
      expect(client.events.at(-1)).toBe('data: [DONE]');
      expect(await harness.receipt(client.requestId)).toMatchObject({ ended: 'complete', usage_source: 'reported' });
    });

    test('what the host wrote in one piece goes on in one piece', async () => {
      harness.sim.script({ words: 40, tokensPerChunk: 1 });
      const client = openStream(false);
      await client.head();
      await manyTurns();
      const pieces: number[] = [];
      await until(() => {
        const bytes = client.readOnce();
        if (bytes > 0) pieces.push(bytes);
        return client.text.includes('[DONE]');
      }, 'the terminator');
      // The headers of the response, then its end, which waited for the settlement.
      expect(pieces.length).toBeLessThanOrEqual(2);
    });

    test('the terminator waits for the money, not for the host to close, which has a limit of its own', async () => {
      const { sim, running } = harness;
      sim.script({ words: 3, hang: 7, tokensPerChunk: 1 });
      const client = openStream();
      await client.end();
      expect(client.events.at(-1)).toBe('data: [DONE]');
      expect(await harness.receipt(client.requestId)).toMatchObject({ ended: 'complete', status: 'settled' });
      expect(sim.openResponses()).toBe(1);
      clock.advance(LIMITS.hostLingerMs);
      await sim.waitForIdle();
      await until(() => running.egress.openConnections === 0, 'the connection to the host is closed');
    });

    test('a client that does not read the end of a finished answer is not waited for', async () => {
      const { sim, running } = harness;
      sim.script({ text: HUGE_TEXT, tokensPerChunk: 16_384 });
      const client = openStream(false, { ...HUGE_ASK, stream: false });
      await client.head();
      await harness.settled();
      await manyTurns();
      clock.advance(running.gateway.limits.stallMs);
      client.read();
      await client.end();
      expect([client.status, client.ended]).toEqual([200, 'cut']);
      expect(await harness.receipt(client.requestId)).toMatchObject({ ended: 'complete' });
    });

    test('a client that reads again in time is no stalled client', async () => {
      const { sim, running } = harness;
      const { stallMs } = running.gateway.limits;
      sim.script(HUGE_ANSWER);
      const client = openStream(false, HUGE_ASK);
      await hostIsPaused();
      clock.advance(stallMs - 1);
      client.read();
      await client.end();
      clock.advance(1);
      expect([client.ended, client.text.slice(-14)]).toEqual(['complete', 'data: [DONE]\n\n']);
    });
  }
});
