import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadSimulatedFile } from '../src/catalog/load.ts';
import type { ConfiguredHost, HostRow } from '../src/hosts/host.ts';
import { ManualClock } from '../src/kit/clock.ts';
import { Secret } from '../src/kit/secret.ts';
import { LIMITS } from '../src/limits.ts';
import { type Sim, type SimScript, startSim } from '../src/sim/sim.ts';
import { type Harness, simHost, startHarness } from './harness.ts';
import { StreamClient } from './stream-client.ts';

/** One model on three hosts that charge us differently: who is asked, who is set aside, and what callers see of it. */

const ROW = loadSimulatedFile().models.find(({ id }) => id === 'sim-gpt')!;
const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }] };
const NAMES = ['northern', 'eastern', 'western'] as const;
type Name = (typeof NAMES)[number];

const keyOf = (name: string): string => `sk-${name}-0123456789abcdef`;

interface World {
  readonly clock: ManualClock;
  readonly harness: Harness;
  readonly sims: Readonly<Record<Name, Sim>>;
  readonly hosts: readonly ConfiguredHost[];
}

let world: World;

/** Prices in nanodollars per million tokens; null: the catalog's. */
async function start(
  prices: readonly (number | null)[] = [100_000_000, 200_000_000, 300_000_000],
  row: Partial<HostRow> = {},
): Promise<World> {
  const clock = new ManualClock(Date.parse('2026-11-15T12:00:00Z'));
  const sims = await Promise.all(NAMES.map(() => startSim()));
  const places = NAMES.map((host, at) => {
    const price = prices[at]!;
    return { ...ROW.hosts[0]!, host, ...(price !== null && { price: { input: price, output: price } }) };
  });
  const hosts = NAMES.map((name, at): ConfiguredHost => {
    return { ...simHost(sims[at]!, { name, simulated: false, ...row }), key: new Secret(keyOf(name)) };
  });
  // The order in which they stand must not matter.
  const config = { models: [{ ...ROW, hosts: places.toReversed() }] };
  const harness = await startHarness({ clock, config, hosts: () => hosts });
  return { clock, harness, hosts, sims: { northern: sims[0]!, eastern: sims[1]!, western: sims[2]! } };
}

beforeEach(async () => {
  world = await start();
});
afterEach(() => end());

async function end(): Promise<void> {
  await world.harness.settled();
  await world.harness.expectCleanBooks();
  await world.harness.stop();
  await Promise.all(NAMES.map((name) => world.sims[name].close()));
}

/** Puts another world in the place of the one that every test begins with. */
async function insteadStart(prices: readonly (number | null)[]): Promise<void> {
  await end();
  world = await start(prices);
}

async function call(body: object = {}): Promise<Response> {
  const response = await world.harness.post({ ...ASK, ...body });
  await response.clone().text();
  return response;
}

/** Who served one call. */
async function served(body: object = {}): Promise<string | null> {
  expect((await call(body)).status).toBe(200);
  return (await world.harness.newestReceipt()).host;
}

function received(): number[] {
  return NAMES.map((name) => world.sims[name].received());
}

function script(name: Name, faults: SimScript | null): void {
  world.sims[name].script(faults);
}

function told(message: RegExp): Record<string, unknown>[] {
  return world.harness.log.filter(({ msg }) => message.test(String(msg)));
}

async function metric(line: string): Promise<number | null> {
  const text = await (await world.harness.get('/metrics')).text();
  const found = text.split('\n').find((one) => one.startsWith(`${line} `));
  return found === undefined ? null : Number(found.slice(line.length + 1));
}

describe('calls follow the cheapest host that is well', () => {
  test('by price, then around faults, and back again', async () => {
    expect(await served()).toBe('northern');
    script('northern', { status: 500 });
    for (let failures = 0; failures < 5; failures++) expect(await served()).toBe('eastern');
    expect(received()).toEqual([6, 5, 0]);
    expect(await served()).toBe('eastern');
    expect(received()).toEqual([6, 6, 0]);
    script('eastern', { status: 429, headers: { 'retry-after': '20' } });
    expect([await served(), await served()]).toEqual(['western', 'western']);
    expect(received()).toEqual([6, 7, 2]);
    script('northern', null);
    script('eastern', null);
    world.clock.advance(20_000);
    expect(await served()).toBe('eastern');
    world.clock.advance(10_000);
    expect([await served(), await served()]).toEqual(['northern', 'northern']);
  });

  test('ejection and return are seen in the log and in the metrics', async () => {
    script('northern', { status: 503 });
    for (let failures = 0; failures < 5; failures++) await call();
    expect(told(/was ejected/)).toMatchObject([
      { level: 'warn', host: 'northern', cause: 'failures', for_ms: 30_000, times: 1 },
    ]);
    expect(await metric('tollgate_host_ejections_total{host="northern",cause="failures"}')).toBe(1);
    expect(await metric('tollgate_host_state{host="northern",state="ejected"}')).toBe(1);
    expect(await metric('tollgate_host_state{host="northern",state="well"}')).toBe(0);
    expect(await metric('tollgate_host_state{host="eastern",state="well"}')).toBe(1);
    expect(await metric('tollgate_host_retries_total{host="eastern",retry="first"}')).toBe(5);
    world.clock.advance(30_000);
    await call();
    expect(told(/was ejected/).at(-1)).toMatchObject({ for_ms: 60_000, times: 2 });
    world.clock.advance(60_000);
    script('northern', null);
    expect(await served()).toBe('northern');
    expect(told(/tried by one call/)).toHaveLength(2);
    expect(told(/has returned/)).toMatchObject([{ level: 'info', host: 'northern' }]);
    expect(await metric('tollgate_host_returns_total{host="northern"}')).toBe(1);
    expect(await metric('tollgate_host_state{host="northern",state="well"}')).toBe(1);
  });

  test('while one call finds out whether an ejected host is back, no other asks it', async () => {
    script('northern', { status: 500 });
    for (let failures = 0; failures < 5; failures++) await call();
    world.clock.advance(30_000);
    world.sims.northern.reset();
    script('northern', { gateHead: 'probe' });
    const probe = new StreamClient(world.harness.url, ASK);
    await world.sims.northern.waitForGate('probe', 1);
    expect(await served()).toBe('eastern');
    expect(world.sims.northern.received()).toBe(1);
    world.sims.northern.release('probe');
    await probe.end();
    script('northern', null);
    expect(await served()).toBe('northern');
  });

  test('the last host that is left is asked, however it fails', async () => {
    for (const name of NAMES) script(name, { status: 500 });
    for (let calls = 0; calls < 10; calls++) expect((await call()).status).toBe(502);
    expect(told(/was ejected/).map(({ host }) => host)).toEqual(['northern', 'eastern']);
    for (const name of NAMES) script(name, null);
    expect(await served()).toBe('western');
  });

  test('a host that counts more than a call can use is set aside when it does so again', async () => {
    script('northern', { usage: { inflate: 1_000_000 } });
    for (let calls = 0; calls < 3; calls++) expect(await served()).toBe('northern');
    expect(told(/was ejected/)).toMatchObject([{ host: 'northern', cause: 'overruns' }]);
    expect(await served()).toBe('eastern');
  });
});

describe('a host that dies with fifty calls under way', () => {
  const CALLS = 50;

  test('costs no client an error before its head', async () => {
    script('northern', { gateHead: 'head' });
    const clients = Array.from(
      { length: CALLS },
      (_, at) => new StreamClient(world.harness.url, { ...ASK, stream: at % 2 === 0 }),
    );
    await world.sims.northern.waitForGate('head', CALLS);
    await world.sims.northern.close();
    await Promise.all(clients.map((client) => client.end()));
    expect(clients.map(({ status, ended }) => [status, ended])).toEqual(clients.map(() => [200, 'complete']));
    expect(received()).toEqual([CALLS, CALLS, 0]);
    expect(told(/was ejected/)).toMatchObject([{ host: 'northern', times: 1 }]);
    expect(await served()).toBe('eastern');
  });

  test('and none of them is repeated after its head has left', async () => {
    script('northern', { gate: 'chunk' });
    const clients = Array.from({ length: CALLS }, () => new StreamClient(world.harness.url, { ...ASK, stream: true }));
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
    expect(received()).toEqual([CALLS, CALLS / 2, 0]);
  });

  test('nor is a buffered call whose answer the host had begun', async () => {
    script('northern', { cutAtByte: 10 });
    expect((await call()).status).toBe(502);
    expect(received()).toEqual([1, 0, 0]);
  });
});

describe('retries', () => {
  test('the first is free, the second is for as many calls as the budget allows', async () => {
    // Refused connections of ours would eject the hosts; a rate limit without a time does not.
    for (const name of ['northern', 'eastern'] as const) script(name, { status: 429, headers: { 'retry-after': '0' } });
    const statuses: number[] = [];
    for (let calls = 0; calls < LIMITS.retriesSavedMax + 50; calls++) statuses.push((await call()).status);
    const answered = statuses.filter((status) => status === 200).length;
    // A full bucket, and a fifth of all calls; what the last call put in may still be there.
    const allowed = LIMITS.retriesSavedMax + (LIMITS.retriesSavedMax + 50) * 0.2;
    expect(answered).toBeGreaterThan(allowed - 2);
    expect(answered).toBeLessThanOrEqual(allowed);
    expect(world.sims.western.received()).toBe(answered);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect(await metric('tollgate_host_retries_total{host="western",retry="second"}')).toBe(answered);
  });

  test('every attempt is remembered for the operator, and what a failed one may cost', async () => {
    script('northern', { status: 500 });
    script('eastern', { status: 429 });
    const requestId = (await call()).headers.get('x-gateway-request-id');
    const receipt = await world.harness.newestReceipt();
    expect(receipt).toMatchObject({
      host: 'western',
      attempts: 3,
      lossReason: 'host_may_bill_failed_attempt',
      lossNanousd: receipt.heldNanousd,
    });
    const [line] = world.harness.log.filter((one) => one.request_id === requestId);
    expect(line).toMatchObject({
      level: 'warn',
      host: 'western',
      attempts: 3,
      tries: [
        { host: 'northern', outcome: expect.stringContaining('500'), ms: expect.any(Number) },
        { host: 'eastern', outcome: expect.stringContaining('429'), ms: expect.any(Number) },
        { host: 'western', outcome: 'complete', ms: expect.any(Number) },
      ],
    });
  });

  test('a host that was never reached bills nothing', async () => {
    await world.sims.northern.close();
    expect(await served()).toBe('eastern');
    expect(await world.harness.newestReceipt()).toMatchObject({ attempts: 2, lossNanousd: 0n, lossReason: null });
  });
});

describe('keys that hosts refuse', () => {
  test.each([401, 402, 403])(
    'a %i sets the key aside, tells the operator once, and the caller nothing',
    async (status) => {
      script('northern', { status });
      for (let calls = 0; calls < 3; calls++) expect(await served()).toBe('eastern');
      expect(world.sims.northern.received()).toBe(1);
      expect(told(/refused our key/)).toMatchObject([{ level: 'error', host: 'northern', status }]);
      expect(await metric('tollgate_host_refusals_total{host="northern",kind="key"}')).toBe(1);
      expect(await metric('tollgate_host_state{host="northern",state="key_refused"}')).toBe(1);
      script('northern', null);
      world.clock.advance(300_000);
      expect(await served()).toBe('northern');
    },
  );

  test('a 404 sets the model aside at that host', async () => {
    script('northern', { status: 404 });
    for (let calls = 0; calls < 3; calls++) expect(await served()).toBe('eastern');
    expect(world.sims.northern.received()).toBe(1);
    expect(told(/does not know a model/)).toMatchObject([{ level: 'error', host: 'northern', host_model: 'sim-gpt' }]);
  });

  test('a refusal for what the prompt says is the caller’s, and no fault of the key', async () => {
    script('northern', {
      status: 403,
      errorBody: { error: { code: 403, message: 'Your input was flagged by moderation' } },
    });
    expect((await call()).status).toBe(400);
    expect(received()).toEqual([1, 0, 0]);
    expect(told(/refused our key/)).toEqual([]);
  });

  test('when none is left callers see 502, then 503, never what hosts said; a reload tries again', async () => {
    for (const name of NAMES) script(name, { status: 401 });
    const codes: unknown[] = [];
    for (let calls = 0; calls < 3; calls++) {
      const response = await call();
      const { error } = (await response.json()) as { error: { code: string } };
      codes.push([response.status, error.code, response.headers.get('x-gateway-cost-nanousd')]);
    }
    expect(codes).toEqual([
      [502, 'host_failed', '0'],
      [503, 'no_healthy_host', '0'],
      [503, 'no_healthy_host', '0'],
    ]);
    expect(received()).toEqual([1, 1, 1]);
    for (const name of NAMES) script(name, null);
    await world.harness.running.reload(world.harness.config, world.hosts);
    expect(await served()).toBe('northern');
  });
});

describe('hosts at one price', () => {
  beforeEach(() => insteadStart([null, null, null]));

  const say = (...turns: string[]) => ({
    messages: turns.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content })),
  });

  test('a conversation stays with its host, and conversations are spread', async () => {
    const homes = new Set<string | null>();
    for (let talk = 0; talk < 12; talk++) {
      const home = await served(say(`talk ${talk}`));
      expect(await served(say(`talk ${talk}`, 'Yes?', 'And now?'))).toBe(home);
      homes.add(home);
    }
    expect(homes.size).toBe(3);
  });

  test('calls with one prompt_cache_key share a host, whatever they say', async () => {
    for (const prompt_cache_key of ['a', 'b', 'c']) {
      const home = await served({ ...say('one'), prompt_cache_key });
      for (const words of ['two', 'three', 'four'])
        expect(await served({ ...say(words), prompt_cache_key })).toBe(home);
    }
  });
});

describe('what callers see', () => {
  test('the same cost, whoever served', async () => {
    const costs: (string | null)[] = [];
    for (const name of NAMES) {
      const response = await call();
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
      for (const name of NAMES) script(name, faults);
      const response = await call({ stream });
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
      expect((await call(body)).status).toBe(400);
      expect(received()).toEqual([0, 0, 0]);
    },
  );
});
