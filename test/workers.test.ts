import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { askSocket } from '../campaigns/gateway-process.ts';
import { changeKey } from '../campaigns/workers/changes.ts';
import { ADMITTED, probeEach } from '../campaigns/workers/probes.ts';
import { rush, worstNanousd } from '../campaigns/workers/rush.ts';
import { openKey, type WorkersWorld, workerOf } from '../campaigns/workers/world.ts';
import { Secret } from '../src/kit/secret.ts';
import { type Harness, NO_RATE_LIMITS, simHost, startHarness } from './harness.ts';
import { callRaw } from './raw-client.ts';
import { StreamClient } from './stream-client.ts';
import { until } from './until.ts';

/** Two workers behind one port, in this process. `npm run campaign:workers` does more of it, with the program itself. */

const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }], max_tokens: 50 };
const BURST = 150;
const CALLS_MAX = 24;
const RATE_LIMIT = { ...NO_RATE_LIMITS, requestsPerSecond: 0.001, burst: BURST, calls: CALLS_MAX };

let harness: Harness;
let world: WorkersWorld;

beforeAll(async () => {
  harness = await startHarness({
    workers: 2,
    hosted: true,
    hosts: (sim) => [{ ...simHost(sim), key: new Secret('a-key-of-the-host') }],
    config: { rateLimit: RATE_LIMIT },
  });
  const { sim, url, folder } = harness;
  world = { sim, url, workers: 2, model: ASK.model, ask: askSocket(folder) };
});
beforeEach(() => harness.sim.reset());
afterAll(() => harness.stop());

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

/** Connections of which each leads to another worker. */
async function connections() {
  const key = await openKey(world, { creditNanousd: 10n ** 9n });
  const [first, second] = await probeEach(world, key);
  return { key, both: [first!, second!] as const };
}

describe('limits hold over both workers', () => {
  test('of the calls that arrive at once, exactly those with money pass', async () => {
    const worst = await worstNanousd(world);
    for (const limit of ['balance', 'cap'] as const)
      expect((await rush(world, { limit, calls: CALLS_MAX, allowed: 7 }, worst)).faults).toEqual([]);
    await harness.expectCleanBooks();
  });

  test('a key runs as many calls at once as it may, wherever they arrive', async () => {
    const worst = await worstNanousd(world);
    expect((await rush(world, { limit: 'calls', calls: 60, allowed: CALLS_MAX }, worst)).faults).toEqual([]);
  });

  test('a key sends as many requests as its rate allows, wherever they arrive', async () => {
    const { both } = await connections();
    const key = await openKey(world, { creditNanousd: 10n ** 9n });
    let admitted = 0;
    for (let round = 0; round < BURST; round++)
      for (const { status } of await Promise.all(both.map((probe) => probe.ask(key))))
        if (status === ADMITTED) admitted++;
    expect(admitted).toBe(BURST);
    for (const probe of both) probe.close();
  });
});

test('the first worker answers what is not a call, whichever worker received it', async () => {
  const { key } = await connections();
  const answers = await Promise.all(
    Array.from({ length: 16 }, () =>
      callRaw(`${harness.url}/v1/balance`, undefined, { method: 'GET', headers: bearer(key.secret) }),
    ),
  );
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(new Set(answers.map(({ headers }) => workerOf(String(headers['x-gateway-request-id'])))).size).toBe(1);
  const unknown = await callRaw(`${harness.url}/nothing/here`, undefined, {
    method: 'GET',
    headers: bearer(key.secret),
  });
  expect([unknown.status, unknown.ended]).toEqual([404, 'complete']);
});

test('one scrape has the calls of both workers', async () => {
  const callsSoFar = async (): Promise<number> => {
    const text = await (await fetch(`${harness.running.operationsUrl}/metrics`)).text();
    const counts = text.matchAll(/^tollgate_calls_total\{.*status="404".*\} (\d+)$/gm);
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  };
  const { key, both } = await connections();
  const before = await callsSoFar();
  for (const probe of both) for (let call = 0; call < 3; call++) await probe.ask(key);
  expect(await callsSoFar()).toBe(before + 6);
  for (const probe of both) probe.close();
});

test('log lines of both workers are written by one, each as a whole', async () => {
  const { key, both } = await connections();
  for (const probe of both) await probe.ask(key);
  const workers = () =>
    new Set(harness.log.flatMap((line) => (line.request_id === undefined ? [] : [workerOf(String(line.request_id))])));
  await until(() => workers().size === 2, 'lines of both workers have arrived');
  for (const probe of both) probe.close();
});

test('a host that rejects our key is set aside by both workers, until a reload', async () => {
  const { both } = await connections();
  const { secret } = await harness.mint();
  const call = () => callRaw(`${harness.url}/v1/chat/completions`, ASK, { headers: bearer(secret) });
  harness.sim.script({ status: 401 });
  const first = await call();
  expect(first.status).toBeGreaterThanOrEqual(500);
  await until(() => harness.log.some(({ host, status }) => host === 'sim' && status === 401), 'it is logged');
  harness.sim.reset();
  const statuses = (await Promise.all(Array.from({ length: 16 }, call))).map(({ status }) => status);
  expect([new Set(statuses).size, statuses[0], harness.sim.received()]).toEqual([1, 503, 0]);
  const { config, running, sim } = harness;
  await running.reload(config, [{ ...simHost(sim), key: new Secret('another-key') }]);
  const again = (await Promise.all(Array.from({ length: 16 }, call))).map(({ status }) => status);
  expect(again).toEqual(again.map(() => 200));
  for (const probe of both) probe.close();
});

test('a second gateway cannot take part in the port', async () => {
  const port = Number(new URL(harness.url).port);
  const listen = { ...harness.config.listen, port };
  await expect(startHarness({ workers: 2, hosted: true, config: { listen } })).rejects.toMatchObject({
    code: 'EADDRINUSE',
  });
});

test('changes of a key are seen by both workers, and when it stops, both finish their calls', async () => {
  const stopping = await startHarness({ workers: 2, hosted: true, limits: { shutdownMs: 20_000 } });
  const { url, sim, folder } = stopping;
  const changes = await changeKey({ url, sim, workers: 2, model: ASK.model, ask: askSocket(folder) });
  expect(changes.map(({ name }) => name)).toEqual(['the key is disabled', 'the key is enabled', 'the key is revoked']);
  const { secret } = await stopping.mint();
  stopping.sim.script({ words: 5, gateHead: 'open' });
  const clients = Array.from(
    { length: 16 },
    () => new StreamClient(stopping.url, { ...ASK, stream: true }, bearer(secret)),
  );
  await stopping.sim.waitForGate('open', 16);
  const stopped = stopping.stop();
  stopping.sim.release('open', 16);
  await stopped;
  expect(clients.map(({ status, ended }) => [status, ended])).toEqual(clients.map(() => [200, 'complete']));
  expect(new Set(clients.map(({ requestId }) => workerOf(requestId))).size).toBe(2);
});
