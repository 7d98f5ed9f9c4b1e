import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StreamClient } from './stream-client.ts';
import { ASK, NAMES, ThreeHosts } from './three-hosts.ts';
import { until } from './until.ts';

/** Refusals that the operator has to fix: callers are served by another host, and the log says it once. */

/** As a host of the responses wire says it. */
const UNKNOWN_MODEL = {
  error: {
    message: "The requested model 'upstream-name' does not exist.",
    type: 'invalid_request_error',
    param: 'model',
    code: 'model_not_found',
  },
};

let world: ThreeHosts;

beforeEach(async () => {
  world = await ThreeHosts.start();
});
afterEach(() => world.end());

describe('keys that hosts refuse', () => {
  test('a 401 sets the key aside, tells the operator once, and the caller nothing', async () => {
    const status = 401;
    world.script('northern', { status });
    for (let calls = 0; calls < 3; calls++) expect(await world.served()).toBe('eastern');
    expect(world.sims.northern.received()).toBe(1);
    expect(world.told(/rejected our key.* restart the gateway, or .*SIGHUP if the key is in a file/)).toMatchObject([
      { level: 'error', host: 'northern', status },
    ]);
    expect(await world.metric('tollgate_host_refusals_total{host="northern",kind="key"}')).toBe(1);
    expect(await world.metric('tollgate_host_state{host="northern",state="key_refused"}')).toBe(1);
    world.script('northern', null);
    world.clock.advance(300_000);
    expect(await world.served()).toBe('northern');
  });

  test('other calls wait only until the answer to the call begins that finds out whether a key is accepted again', async () => {
    for (const name of NAMES) world.script(name, { status: 401 });
    expect([(await world.call()).status, (await world.call()).status]).toEqual([502, 503]);
    world.clock.advance(300_000);
    world.script('northern', { gate: 'chunk' });
    const probe = new StreamClient(world.harness.url, { ...ASK, stream: true });
    await world.sims.northern.waitForGate('chunk', 1);
    world.sims.northern.release('chunk', 2);
    await until(() => probe.content !== '', 'the answer has begun');
    world.script('northern', null);
    expect(await world.served()).toBe('northern');
    expect(world.told(/healthy again/)).toMatchObject([{ host: 'northern' }]);
    world.sims.northern.release('chunk', 100);
    await probe.end();
  });

  test('a call that finds out whether a key is accepted again and takes long is followed by another one', async () => {
    for (const name of NAMES) world.script(name, { status: 401 });
    expect([(await world.call()).status, (await world.call()).status]).toEqual([502, 503]);
    world.clock.advance(300_000);
    world.script('northern', { gateHead: 'head' });
    const probe = new StreamClient(world.harness.url, ASK);
    await world.sims.northern.waitForGate('head', 1);
    world.script('northern', null);
    expect([(await world.call()).status, (await world.call()).status]).toEqual([502, 503]);
    world.clock.advance(30_000);
    expect(await world.served()).toBe('northern');
    world.sims.northern.release('head');
    await probe.end();
    expect([probe.status, await world.served()]).toEqual([200, 'northern']);
  });

  test.each([402, 403])('a %i is the failure of one request: the host is asked again for the next', async (status) => {
    world.script('northern', { status });
    for (let calls = 0; calls < 5; calls++) expect(await world.served()).toBe('eastern');
    expect(world.sims.northern.received()).toBe(5);
    world.script('northern', null);
    expect(await world.served()).toBe('northern');
    expect(await world.metric('tollgate_host_refusals_total{host="northern",kind="request"}')).toBe(5);
  });

  test('when every host answers 402, the caller sees a neutral 502 and the next call asks them again', async () => {
    for (const name of NAMES)
      world.script(name, { status: 402, errorBody: { error: { message: 'Your balance is 0.' } } });
    for (let calls = 0; calls < 4; calls++) {
      const response = await world.call();
      expect(response.status).toBe(502);
      expect(await response.text()).not.toContain('balance');
    }
    for (const name of NAMES) world.script(name, null);
    expect(await world.served()).toBe('northern');
  });

  test.each([
    ['a 404', { status: 404 }],
    ['a 400 model_not_found', { status: 400, errorBody: UNKNOWN_MODEL }],
  ])('%s sets the model aside at that host', async (_what, answer) => {
    world.script('northern', answer);
    for (let calls = 0; calls < 3; calls++) expect(await world.served()).toBe('eastern');
    expect(world.sims.northern.received()).toBe(1);
    expect(world.told(/does not know this model/)).toMatchObject([
      { level: 'error', host: 'northern', host_model: 'sim-gpt' },
    ]);
    expect(world.told(/rejected our account/)).toEqual([]);
  });

  test('when no host knows the model, the caller sees a neutral 502 without the host’s name for it', async () => {
    for (const name of NAMES) world.script(name, { status: 400, errorBody: UNKNOWN_MODEL });
    const response = await world.call();
    expect(response.status).toBe(502);
    expect(await response.text()).not.toMatch(/upstream-name|model_not_found/);
  });

  test('a refusal for what the prompt says is the caller’s, and no fault of the key', async () => {
    world.script('northern', {
      status: 403,
      errorBody: { error: { code: 403, message: 'Your input was flagged by moderation' } },
    });
    expect((await world.call()).status).toBe(400);
    expect(world.received()).toEqual([1, 0, 0]);
    expect(world.told(/rejected our key/)).toEqual([]);
  });

  test('a 400 that speaks of our account is told each time, but words alone set no key aside', async () => {
    const errorBody = { error: { message: 'Your credit balance is too low to access the API.' } };
    world.script('northern', { status: 400, errorBody });
    for (let calls = 0; calls < 2; calls++) expect(await world.served()).toBe('eastern');
    expect(world.sims.northern.received()).toBe(2);
    expect(world.told(/rejected our account/)).toMatchObject([{ host: 'northern' }, { host: 'northern' }]);
  });

  test('when none is left callers see 502, then 503, never what hosts said; a reload tries again', async () => {
    for (const name of NAMES) world.script(name, { status: 401 });
    const codes: unknown[] = [];
    for (let calls = 0; calls < 3; calls++) {
      const response = await world.call();
      const { error } = (await response.json()) as { error: { code: string } };
      codes.push([response.status, error.code, response.headers.get('x-gateway-cost-nanousd')]);
    }
    expect(codes).toEqual([
      [502, 'host_failed', '0'],
      [503, 'no_healthy_host', '0'],
      [503, 'no_healthy_host', '0'],
    ]);
    expect(world.received()).toEqual([1, 1, 1]);
    expect(Number((await world.call()).headers.get('retry-after'))).toBe(300);
    for (const name of NAMES) world.script(name, null);
    await world.harness.running.reload(world.harness.config, world.hosts);
    expect(await world.served()).toBe('northern');
  });
});

test('docs/hosts.md names every line that the log has about hosts', () => {
  const page = readFileSync(new URL('../docs/hosts.md', import.meta.url), 'utf8');
  const source = readFileSync(new URL('../src/main/host-events.ts', import.meta.url), 'utf8');
  const sentences = [...source.matchAll(/'((?:Ejected host|Host) [^',;.]+)/g)].map(([, sentence]) => sentence!);
  expect(sentences).toHaveLength(7);
  for (const sentence of sentences) expect(page).toContain(`| ${sentence}`);
});
