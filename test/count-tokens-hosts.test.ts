import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { loadSimulatedFile } from '../src/catalog/load.ts';
import { Secret } from '../src/kit/secret.ts';
import { type SimScript, startSim } from '../src/sim/sim.ts';
import type { Sim } from '../src/sim/sim-handle.ts';
import { type Harness, simHost, startHarness } from './harness.ts';

/** Counting the prompt of a model that has several hosts. */

const NAMES = ['first', 'second', 'third'];
const ROW = loadSimulatedFile().models.find(({ id }) => id === 'sim-claude')!;

let sims: Sim[];
let harness: Harness;

beforeAll(async () => {
  sims = await Promise.all(NAMES.map(() => startSim()));
  const key = new Secret('sk-0123456789abcdef');
  const hosts = NAMES.map((name, at) => ({ ...simHost(sims[at]!, { name, simulated: false }), key }));
  const models = [{ ...ROW, hosts: NAMES.map((host) => ({ ...ROW.hosts[0]!, host })) }];
  harness = await startHarness({ config: { models }, hosts: () => hosts });
});
beforeEach(() => {
  for (const sim of sims) sim.reset();
});
afterAll(async () => {
  await harness.expectCleanBooks();
  await harness.stop();
  await Promise.all(sims.map((sim) => sim.close()));
});

const PROMPT = { model: 'sim-claude', messages: [{ role: 'user', content: 'hello' }] };
const count = (): Promise<Response> => harness.post(PROMPT, {}, '/v1/messages/count_tokens');
const asked = (): number[] => sims.map((sim) => sim.calls.length);

test.each<[string, SimScript]>([
  ['fails', { status: 500 }],
  ['is at its rate limit', { status: 429 }],
  ['rejects the key', { status: 401 }],
  ['is overloaded', { status: 503 }],
  ['has no route for counting', { status: 404 }],
])('the next host counts if the first one %s', async (_what, script) => {
  sims[0]!.script(script);
  const response = await count();
  expect([response.status, await response.json()]).toEqual([200, { input_tokens: expect.any(Number) }]);
  expect(asked()).toEqual([1, 1, 0]);
});

test.each<[string, SimScript]>([
  ['fails', { status: 500 }],
  ['is at its rate limit', { status: 429, headers: { 'retry-after': '60' } }],
  ['rejects the key', { status: 401 }],
  ['refuses', { status: 403 }],
])('a host whose counting %s is used for calls as before', async (_what, script) => {
  for (const sim of sims) sim.script(script);
  for (let counts = 0; counts < 6; counts++) expect((await count()).status).toBeGreaterThanOrEqual(400);
  for (const sim of sims) sim.reset();
  const called = await harness.post({ ...PROMPT, max_tokens: 8 }, {}, '/v1/messages');
  expect(called.status).toBe(200);
  const metrics = await (await fetch(`${harness.url}/metrics`)).text();
  for (const name of NAMES) expect(metrics).toContain(`tollgate_host_state{host="${name}",state="well"} 1\n`);
});

test('the refusal of a prompt is not taken to another host', async () => {
  sims[0]!.script({ status: 400 });
  expect((await count()).status).toBe(400);
  expect(asked()).toEqual([1, 0, 0]);
});

test('the caller gets the failure if no host counts', async () => {
  for (const sim of sims) sim.script({ status: 404 });
  const response = await count();
  expect([response.status, await response.json()]).toMatchObject([400, { error: { code: 'unsupported_feature' } }]);
  expect(asked().slice(0, 2)).toEqual([1, 1]);
});

/** The last test: from here on no host is asked. */
test('if every host has rejected the key of calls, the caller hears when the next count may succeed', async () => {
  for (const sim of sims) sim.script({ status: 401 });
  const called = await harness.post({ ...PROMPT, max_tokens: 8 }, {}, '/v1/messages');
  expect(called.status).toBe(502);
  const response = await count();
  expect(response.status).toBe(529);
  // The clock is the machine's.
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(100);
});
