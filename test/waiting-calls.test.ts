import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ManualClock } from '../src/kit/clock.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';
import { StreamClient } from './stream-client.ts';
import { TRANSPORTS } from './transports.ts';
import { manyTurns, until } from './until.ts';

/** Calls that wait because their host has as many as it may have. */

const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }], max_tokens: 100 };
const HOSTS = TRANSPORTS.flatMap((transport) => [['drain', transport] as const, ['cancel', transport] as const]);

describe.each(HOSTS)('a call that waits for a host to %s, over the %s transport', (onClientGone, transport) => {
  let clock: ManualClock;
  let harness: Harness;

  beforeAll(async () => {
    clock = new ManualClock(Date.UTC(2026, 10, 15));
    harness = await startHarness({ clock, transport, row: { onClientGone }, limits: { callsPerHost: 1 } });
  });
  beforeEach(() => harness.sim.reset());
  afterEach(async () => {
    await harness.settled();
    await harness.expectCleanBooks();
    expect(harness.running.gateway.runningCalls.count).toBe(0);
  });
  afterAll(() => harness.stop());

  /** A call that its host answers, and behind it one that waits. */
  async function twoCalls(ask: object): Promise<{ first: StreamClient; second: StreamClient }> {
    harness.sim.script({ words: 1, gateHead: 'head' });
    const first = new StreamClient(harness.url, ASK);
    await harness.sim.waitForGate('head', 1);
    const second = new StreamClient(harness.url, ask);
    await until(() => harness.running.egress.waiting === 1, 'the second call waits for the host');
    await manyTurns();
    return { first, second };
  }

  test.each([ASK, { ...ASK, stream: true }])('is free if its client leaves, and no host hears of it', async (ask) => {
    const { first, second } = await twoCalls(ask);
    second.leave();
    await until(() => harness.running.books.ledger.openHolds === 1, 'the second call is settled');
    expect(await harness.newestReceipt()).toMatchObject({
      state: 'settled',
      ended: 'client_gone',
      httpStatus: 499,
      attempts: 1,
      costNanousd: 0n,
      lossNanousd: 0n,
    });
    harness.sim.release('head', 1);
    await first.end();
    await manyTurns();
    expect(harness.sim.calls).toHaveLength(1);
  });

  test('does not wait for all the calls of another account that came before it', async () => {
    const [many, one] = [await harness.mint(), await harness.mint()];
    const ask = ({ secret }: MintedKey, content: string): StreamClient => {
      const body = { ...ASK, messages: [{ role: 'user', content }] };
      return new StreamClient(harness.url, body, { authorization: `Bearer ${secret}` });
    };
    harness.sim.script({ words: 1, gateHead: 'head' }, { times: 1 });
    const clients = [ask(many, 'many 1')];
    await harness.sim.waitForGate('head', 1);
    for (const content of ['many 2', 'many 3', 'many 4', 'one 1']) {
      const waiting = harness.running.egress.waiting + 1;
      clients.push(ask(content.startsWith('many') ? many : one, content));
      await until(() => harness.running.egress.waiting === waiting, 'the call waits for the host');
    }
    harness.sim.release('head', 1);
    for (const client of clients) await client.end();
    expect(harness.sim.calls.map(({ body }) => /(?:many|one) \d/.exec(JSON.stringify(body))?.[0])).toEqual([
      'many 1',
      'many 2',
      'one 1',
      'many 3',
      'many 4',
    ]);
  });

  test.each([ASK, { ...ASK, stream: true }])('costs the operator nothing if it waits too long', async (ask) => {
    const { second } = await twoCalls(ask);
    const { bufferedMs, firstFrameMs } = harness.config.limits;
    clock.advance(Math.max(bufferedMs, firstFrameMs));
    await second.end();
    expect(second.status).toBe(504);
    await harness.settled();
    expect(await harness.newestReceipt()).toMatchObject({ ended: 'timeout', costNanousd: 0n, lossNanousd: 0n });
    expect(harness.sim.calls).toHaveLength(1);
  });
});
