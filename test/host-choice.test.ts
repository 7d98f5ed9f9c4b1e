import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../src/limits.ts';
import type { SimScript } from '../src/sim/sim.ts';
import { StreamClient } from './stream-client.ts';
import { ASK, keyOf, NAMES, ThreeHosts } from './three-hosts.ts';

/** Three hosts with different prices: which one is asked, when another one is tried, and what callers see of it. */

let world: ThreeHosts;

beforeEach(async () => {
  world = await ThreeHosts.start();
});
afterEach(() => world.end());

describe('calls follow the cheapest host that is well', () => {
  test('by price, then around faults, and back again', async () => {
    expect(await world.served()).toBe('northern');
    world.script('northern', { status: 500 });
    for (let failures = 0; failures < 5; failures++) expect(await world.served()).toBe('eastern');
    expect(world.received()).toEqual([6, 5, 0]);
    expect(await world.served()).toBe('eastern');
    expect(world.received()).toEqual([6, 6, 0]);
    world.script('eastern', { status: 429, headers: { 'retry-after': '20' } });
    expect([await world.served(), await world.served()]).toEqual(['western', 'western']);
    expect(world.received()).toEqual([6, 7, 2]);
    world.script('northern', null);
    world.script('eastern', null);
    world.clock.advance(20_000);
    expect(await world.served()).toBe('eastern');
    world.clock.advance(10_000);
    expect([await world.served(), await world.served()]).toEqual(['northern', 'northern']);
  });

  test('ejection and return are seen in the log and in the metrics', async () => {
    world.script('northern', { status: 503 });
    for (let failures = 0; failures < 5; failures++) await world.call();
    expect(world.told(/Host ejected/)).toMatchObject([
      { level: 'warn', host: 'northern', cause: 'failures', for_ms: 30_000, times: 1 },
    ]);
    expect(await world.metric('tollgate_host_ejections_total{host="northern",cause="failures"}')).toBe(1);
    expect(await world.metric('tollgate_host_state{host="northern",state="ejected"}')).toBe(1);
    expect(await world.metric('tollgate_host_state{host="northern",state="well"}')).toBe(0);
    expect(await world.metric('tollgate_host_state{host="eastern",state="well"}')).toBe(1);
    expect(await world.metric('tollgate_host_retries_total{host="eastern",retry="first"}')).toBe(5);
    world.clock.advance(30_000);
    await world.call();
    expect(world.told(/Host ejected/).at(-1)).toMatchObject({ for_ms: 60_000, times: 2 });
    world.clock.advance(60_000);
    world.script('northern', null);
    expect(await world.served()).toBe('northern');
    expect(world.told(/probed with one call/)).toHaveLength(2);
    expect(world.told(/healthy again/)).toMatchObject([{ level: 'info', host: 'northern' }]);
    expect(await world.metric('tollgate_host_returns_total{host="northern"}')).toBe(1);
    expect(await world.metric('tollgate_host_state{host="northern",state="well"}')).toBe(1);
  });

  test('while one call finds out whether an ejected host is back, no other asks it', async () => {
    world.script('northern', { status: 500 });
    for (let failures = 0; failures < 5; failures++) await world.call();
    world.clock.advance(30_000);
    world.sims.northern.reset();
    world.script('northern', { gateHead: 'probe' });
    const probe = new StreamClient(world.harness.url, ASK);
    await world.sims.northern.waitForGate('probe', 1);
    expect(await world.served()).toBe('eastern');
    expect(world.sims.northern.received()).toBe(1);
    world.sims.northern.release('probe');
    await probe.end();
    world.script('northern', null);
    expect(await world.served()).toBe('northern');
  });

  test('the last host that is left is asked, however it fails', async () => {
    for (const name of NAMES) world.script(name, { status: 500 });
    for (let calls = 0; calls < 10; calls++) expect((await world.call()).status).toBe(502);
    expect(world.told(/Host ejected/).map(({ host }) => host)).toEqual(['northern', 'eastern']);
    for (const name of NAMES) world.script(name, null);
    expect(await world.served()).toBe('western');
  });

  test('a host that counts more than a call can use is set aside when it does so again', async () => {
    world.script('northern', { usage: { inflate: 1_000_000 } });
    for (let calls = 0; calls < 3; calls++) expect(await world.served()).toBe('northern');
    expect(world.told(/Host ejected/)).toMatchObject([{ host: 'northern', cause: 'overruns' }]);
    expect(await world.served()).toBe('eastern');
  });
});

describe('a host that dies with fifty calls under way', () => {
  const CALLS = 50;

  test('costs no client an error before its head', async () => {
    world.script('northern', { gateHead: 'head' });
    const clients = Array.from(
      { length: CALLS },
      (_, at) => new StreamClient(world.harness.url, { ...ASK, stream: at % 2 === 0 }),
    );
    await world.sims.northern.waitForGate('head', CALLS);
    await world.sims.northern.close();
    await Promise.all(clients.map((client) => client.end()));
    expect(clients.map(({ status, ended }) => [status, ended])).toEqual(clients.map(() => [200, 'complete']));
    expect(world.received()).toEqual([CALLS, CALLS, 0]);
    expect(world.told(/Host ejected/)).toMatchObject([{ host: 'northern', times: 1 }]);
    expect(await world.served()).toBe('eastern');
  });

  test('and none of them is repeated after its head has left', async () => {
    world.script('northern', { gate: 'chunk' });
    const clients = Array.from({ length: CALLS }, () => new StreamClient(world.harness.url, { ...ASK, stream: true }));
    await world.sims.northern.waitForGate('chunk', CALLS);
    // The role alone is not sent yet; the first text is.
    world.sims.northern.release('chunk', CALLS);
    await world.sims.northern.waitForGate('chunk', CALLS);
    world.sims.northern.release('chunk', CALLS / 2);
    const begun = () => clients.filter(({ events }) => events.length > 0);
    await clients[0]!.has(() => begun().length === CALLS / 2, 'half of them have begun');
    const withHead = begun();
    await world.sims.northern.close();
    await Promise.all(clients.map((client) => client.end()));
    for (const client of withHead) {
      expect([client.status, client.text]).toEqual([200, expect.stringContaining('host_failed')]);
    }
    for (const client of clients.filter((one) => !withHead.includes(one))) {
      expect([client.status, client.events.at(-1)]).toEqual([200, 'data: [DONE]']);
    }
    expect(world.received()).toEqual([CALLS, CALLS / 2, 0]);
  });

  test('nor is a buffered call whose answer the host had begun', async () => {
    world.script('northern', { cutAtByte: 10 });
    expect((await world.call()).status).toBe(502);
    expect(world.received()).toEqual([1, 0, 0]);
  });
});

describe('retries', () => {
  test('the first is free, the second is for as many calls as the budget allows', async () => {
    // Refused connections of ours would eject the hosts; a rate limit without a time does not.
    for (const name of ['northern', 'eastern'] as const)
      world.script(name, { status: 429, headers: { 'retry-after': '0' } });
    const statuses: number[] = [];
    for (let calls = 0; calls < LIMITS.retriesSavedMax + 50; calls++) statuses.push((await world.call()).status);
    const answered = statuses.filter((status) => status === 200).length;
    // A full bucket, and a fifth of all calls; what the last call put in may still be there.
    const allowed = LIMITS.retriesSavedMax + (LIMITS.retriesSavedMax + 50) * 0.2;
    expect(answered).toBeGreaterThan(allowed - 2);
    expect(answered).toBeLessThanOrEqual(allowed);
    expect(world.sims.western.received()).toBe(answered);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect(await world.metric('tollgate_host_retries_total{host="western",retry="second"}')).toBe(answered);
  });

  test('every attempt is remembered for the operator, and what a failed one may cost', async () => {
    world.script('northern', { status: 500 });
    world.script('eastern', { status: 429 });
    const requestId = (await world.call()).headers.get('x-gateway-request-id');
    const receipt = await world.harness.newestReceipt();
    const tries = [
      { host: 'northern', outcome: expect.stringContaining('500'), ms: expect.any(Number) },
      { host: 'eastern', outcome: expect.stringContaining('429'), ms: expect.any(Number) },
      { host: 'western', outcome: 'complete', ms: expect.any(Number) },
    ];
    expect(receipt).toMatchObject({
      host: 'western',
      attempts: 3,
      tries,
      lossReason: 'host_may_bill_failed_attempt',
      lossNanousd: receipt.heldNanousd,
    });
    const [line] = world.harness.log.filter((one) => one.request_id === requestId);
    expect(line).toMatchObject({
      level: 'warn',
      host: 'western',
      attempts: 3,
      tries,
    });
  });

  test('a host that was ejected while the call waited for another is passed over', async () => {
    world.sims.northern.script({ gateHead: 'head', status: 500 }, { times: 1 });
    const client = new StreamClient(world.harness.url, ASK);
    await world.sims.northern.waitForGate('head', 1);
    for (const name of ['northern', 'eastern'] as const) world.script(name, { status: 500 });
    for (let failures = 0; failures < 5; failures++) expect(await world.served()).toBe('western');
    expect(world.told(/Host ejected/).map(({ host }) => host)).toEqual(['northern', 'eastern']);
    world.sims.northern.release('head');
    await client.end();
    expect(client.status).toBe(200);
    expect(world.received()).toEqual([6, 5, 6]);
  });

  test('a host that was never reached bills nothing', async () => {
    await world.sims.northern.close();
    expect(await world.served()).toBe('eastern');
    expect(await world.harness.newestReceipt()).toMatchObject({ attempts: 2, lossNanousd: 0n, lossReason: null });
  });
});

describe('hosts at one price', () => {
  beforeEach(async () => {
    await world.end();
    world = await ThreeHosts.start(null);
  });

  const say = (...turns: string[]) => ({
    messages: turns.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content })),
  });

  test('a conversation stays with its host, and conversations are spread', async () => {
    const homes = new Set<string | null>();
    for (let talk = 0; talk < 12; talk++) {
      const home = await world.served(say(`talk ${talk}`));
      expect(await world.served(say(`talk ${talk}`, 'Yes?', 'And now?'))).toBe(home);
      homes.add(home);
    }
    expect(homes.size).toBe(3);
  });

  test('calls with one prompt_cache_key share a host, whatever they say', async () => {
    for (const prompt_cache_key of ['a', 'b', 'c']) {
      const home = await world.served({ ...say('one'), prompt_cache_key });
      for (const words of ['two', 'three', 'four'])
        expect(await world.served({ ...say(words), prompt_cache_key })).toBe(home);
    }
  });
});

describe('what callers see', () => {
  test('the same cost, whoever served', async () => {
    const costs: (string | null)[] = [];
    for (const name of NAMES) {
      const response = await world.call();
      costs.push(response.headers.get('x-gateway-cost-nanousd'));
      expect((await world.harness.newestReceipt()).host).toBe(name);
      await world.sims[name].close();
    }
    expect(Number(costs[0])).toBeGreaterThan(0);
    expect(costs).toEqual([costs[0], costs[0], costs[0]]);
  });

  test.each<[string, SimScript]>([
    ['answers', {}],
    [
      'fails',
      {
        status: 500,
        errorBody: { error: { message: 'org-1234567890 at northern, key sk-northern-0123456789abcdef' } },
      },
    ],
    ['is busy', { status: 429 }],
    ['refuses the key', { status: 401, errorBody: { error: { message: 'Bad key sk-northern-0123456789abcdef' } } }],
    ['refuses the request', { status: 400, errorBody: { error: { message: 'no: sk-northern-0123456789abcdef' } } }],
    ['breaks off', { errorAfterChunks: 2 }],
  ])('no word of the host or its account when it %s', async (_, faults) => {
    const names = NAMES.flatMap((name) => [name, keyOf(name), world.sims[name].url]);
    for (const stream of [false, true]) {
      for (const name of NAMES) world.script(name, faults);
      const response = await world.call({ stream });
      const seen = JSON.stringify([...response.headers]) + (await response.text());
      for (const name of names) expect(seen).not.toContain(name);
      const path = `/v1/receipts/${response.headers.get('x-gateway-request-id')}`;
      const receipt = await (await world.harness.get(path)).text();
      for (const name of names) expect(receipt).not.toContain(name);
    }
  });

  test.each([{ provider: { order: ['western'] } }, { route: 'western' }, { model: 'sim-gpt:nitro' }])(
    'no way to choose a host: %j',
    async (body) => {
      expect((await world.call(body)).status).toBe(400);
      expect(world.received()).toEqual([0, 0, 0]);
    },
  );
});
