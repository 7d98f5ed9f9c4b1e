import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ManualClock } from '../src/kit/clock.ts';
import { LIMITS } from '../src/limits.ts';
import { type Harness, startHarness } from './harness.ts';
import { firstAnswer, openSocket, readToEnd, speak } from './raw-socket.ts';
import { expectTimersAtRest } from './timers-at-rest.ts';
import { TRANSPORTS } from './transports.ts';
import { manyTurns, until } from './until.ts';

/** Clients that send slowly, read slowly or not at all, queue up, and leave. */

const ASK = JSON.stringify({ model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }] });
const HOST = 'host: localhost\r\n';
const JSON_TYPE = 'content-type: application/json\r\n';

describe.each(TRANSPORTS)('over the %s transport, a client that takes too long', (transport) => {
  let harness: Harness;

  beforeAll(async () => {
    harness = await startHarness({ transport, limits: { requestHeadMs: 100, requestMs: 300 } });
  });
  afterAll(async () => {
    expect(harness.sim.received()).toBe(0);
    await harness.expectCleanBooks();
    await harness.stop();
  });

  const HEAD = `POST /v1/chat/completions HTTP/1.1\r\n${HOST}${JSON_TYPE}`;

  test.each([
    ['to say anything of its head', 'POST /v1/chat'],
    ['to end its head', HEAD],
    ['to send its body', `${HEAD}content-length: ${ASK.length}\r\n\r\n{"model":`],
    ['to send the next piece of its body', `${HEAD}transfer-encoding: chunked\r\n\r\n5\r\n{"mod`],
  ])('%s gets an error and is cut off', async (_, bytes) => {
    const answer = firstAnswer(await speak(harness.url, bytes))!;
    expect([answer.status, JSON.parse(answer.body).error.code]).toEqual([408, 'request_timeout']);
    expect(answer.headers['x-should-retry']).toBeUndefined();
    expect(answer.headers['x-gateway-request-id']).toMatch(/^req_/);
  });

  test('to send its body is told the id under which the log has the route', async () => {
    const answer = firstAnswer(await speak(harness.url, `${HEAD}content-length: ${ASK.length}\r\n\r\n{"model":`))!;
    const id = answer.headers['x-gateway-request-id'];
    const lines = harness.log.filter(({ request_id }) => request_id === id);
    expect(lines).toContainEqual(expect.objectContaining({ method: 'POST', route: '/v1/chat/completions' }));
  });

  test('to send another request after the first gets an error too', async () => {
    const socket = openSocket(harness.url);
    const text = readToEnd(socket);
    socket.write(`GET /v1/models HTTP/1.1\r\n${HOST}\r\n`);
    await once(socket, 'data');
    socket.write(HEAD);
    expect((await text).match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 408']);
  });

  test('to say anything at all is cut too', async () => {
    expect(firstAnswer(await readToEnd(openSocket(harness.url)))).toMatchObject({ status: 408 });
  });
});

describe.each(TRANSPORTS)('over the %s transport, several requests on one connection', (transport) => {
  const STREAM = JSON.stringify({ ...JSON.parse(ASK), stream: true });
  const call = (body: string) =>
    `POST /v1/chat/completions HTTP/1.1\r\n${HOST}${JSON_TYPE}content-length: ${body.length}\r\n\r\n${body}`;
  const list = `GET /v1/models HTTP/1.1\r\n${HOST}\r\n`;
  let clock: ManualClock;
  let harness: Harness;
  /** Counted before the clock moves: after that, timers that reschedule themselves may be running. */
  let timersAtRest: number;

  beforeAll(async () => {
    clock = new ManualClock(Date.UTC(2026, 10, 15));
    harness = await startHarness({ transport, clock, limits: { stallMs: 1_000 } });
    timersAtRest = clock.pendingTimers;
  });
  afterEach(() => harness.sim.reset());
  afterAll(async () => {
    await harness.expectCleanBooks();
    await harness.stop();
  });

  test('are not looked at once their client is gone, and one that is answered too late leaves no timer', async () => {
    const { ledger } = harness.running.books;
    const balance = ledger.balance.bind(ledger);
    const { promise: gate, resolve: letGo } = Promise.withResolvers<void>();
    let asked = 0;
    ledger.balance = async (...terms) => {
      asked++;
      await gate;
      return balance(...terms);
    };
    const socket = openSocket(harness.url);
    socket.write(`GET /v1/balance HTTP/1.1\r\n${HOST}\r\n`.repeat(3));
    await until(() => asked === 1, 'the balance is asked for');
    socket.resetAndDestroy();
    await manyTurns();
    letGo();
    await manyTurns();
    Reflect.deleteProperty(ledger, 'balance');
    expect(asked).toBe(1);
    await expectTimersAtRest(clock, timersAtRest);
  });

  test('whose client is gone leave nothing behind: no call, no hold, no timer', async () => {
    harness.sim.script({ gate: 'chunk', words: 3, tokensPerChunk: 1 });
    const socket = openSocket(harness.url);
    socket.write(call(STREAM) + call(STREAM) + call(ASK) + list.repeat(5));
    await harness.sim.waitForCalls(1);
    await manyTurns();
    // The others wait for their turn, and have cost nothing yet.
    expect([harness.running.gateway.runningCalls.count, harness.sim.received()]).toEqual([1, 1]);
    socket.resetAndDestroy();
    harness.sim.release('chunk', 100);
    await harness.settled();
    await until(() => harness.running.gateway.runningCalls.count === 0, 'every call is over');
    clock.advance(LIMITS.hostLingerMs);
    await expectTimersAtRest(clock, timersAtRest);
  });

  test('are answered in order, however many come in one piece', async () => {
    const socket = openSocket(harness.url);
    const text = readToEnd(socket);
    const many = 3_000;
    socket.write(list.repeat(many) + list.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n'));
    expect((await text).match(/HTTP\/1\.1 200 OK/g)).toHaveLength(many + 1);
  });

  test('wait for their turn as long as that takes', async () => {
    harness.sim.script({ gate: 'chunk', words: 3, tokensPerChunk: 1 });
    const socket = openSocket(harness.url);
    const text = readToEnd(socket);
    socket.write(call(STREAM) + list + list.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n'));
    await harness.sim.waitForGate('chunk', 1);
    await manyTurns();
    clock.advance(10 * harness.running.gateway.limits.stallMs);
    await manyTurns();
    harness.sim.release('chunk', 100);
    expect((await text).match(/HTTP\/1\.1 \d{3}/g)).toEqual(Array(3).fill('HTTP/1.1 200'));
    expect(await text).toContain('[DONE]');
  });
});

describe.each(TRANSPORTS)('over the %s transport, a client that does not read', (transport) => {
  const ALIASES = Array.from({ length: 60 }, (_, at) => `${at}-${'a'.repeat(190)}`);
  const PRICE = { input: 1, output: 1 };
  /** Twenty megabytes of list: more than the sockets between us hold. */
  const MODELS = Array.from({ length: 1600 }, (_, at) => ({
    id: `long-${at}`,
    aliases: ALIASES.map((alias) => `${at}-${alias}`),
    caps: ['chat' as const],
    context_window: 1000,
    price: PRICE,
    hosts: [{ host: 'sim', model: 'sim-gpt' }],
  }));

  test.each(['', 'connection: close\r\n'])('a long list is cut when its time is over (%j)', async (connection) => {
    const clock = new ManualClock(Date.UTC(2026, 10, 15));
    const harness = await startHarness({ transport, clock, config: { models: MODELS } });
    const socket = openSocket(harness.url);
    socket.pause();
    socket.write(`GET /v1/catalog HTTP/1.1\r\n${HOST}${connection}\r\n`);
    const { stallMs } = harness.running.gateway.limits;
    const timers = clock.pendingTimers;
    await until(() => clock.pendingTimers > timers, 'the reader is watched');
    await manyTurns();
    clock.advance(2 * stallMs);
    let bytes = 0;
    socket.on('data', (chunk) => (bytes += chunk.length));
    socket.resume();
    await once(socket, 'close');
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(20_000_000);
    await harness.stop();
  });
});
