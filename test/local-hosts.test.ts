import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../src/config/config.ts';
import { systemClock } from '../src/kit/clock.ts';
import { withLocalHosts } from '../src/main/local-hosts.ts';
import { startSim } from '../src/sim/sim.ts';
import type { Sim } from '../src/sim/sim-handle.ts';
import { type Harness, startHarness } from './harness.ts';

/** A local server, named by its usual variable: it is found, asked for its models, and called for free. */

const TALK = { messages: [{ role: 'user', content: 'Hello' }] };

let server: Sim;
let harness: Harness;
beforeAll(async () => {
  server = await startSim();
  const env = { OLLAMA_HOST: new URL(server.url).host, TOLLGATE_LOCAL_HOSTS: 'false' };
  const config = await withLocalHosts(loadConfig({ argvFlags: {}, env, cwd: '/' }), systemClock, null);
  harness = await startHarness({ hosts: () => config.hosts.filter(({ row }) => !row.simulated) });
});
afterAll(async () => {
  await harness.expectCleanBooks();
  await harness.stop();
  await server.close();
});

async function listed(): Promise<{ id: string; pricing: { input: number; output: number } }[]> {
  const answer = (await (await harness.get('/v1/models')).json()) as {
    data: { id: string; pricing: { input: number; output: number } }[];
  };
  return answer.data;
}

test('what it lists is in the list of models, free, and under its name where the catalog has the name', async () => {
  const models = await listed();
  expect(models.map(({ id }) => id)).toContain('ollama/sim-gpt');
  expect(models.every(({ pricing }) => pricing.input === 0 && pricing.output === 0)).toBe(true);
});

test('a call reaches it by its own name for the model, and costs nothing, durably', async () => {
  const response = await harness.post({ ...TALK, model: 'ollama/sim-gpt' });
  expect(response.status).toBe(200);
  expect(response.headers.get('x-gateway-effective-model')).toBe('ollama/sim-gpt');
  expect(response.headers.get('x-gateway-cost-nanousd')).toBe('0');
  expect(JSON.parse(server.calls.at(-1)!.body)).toMatchObject({ model: 'sim-gpt', max_tokens: 4096 });
  const receipt = await harness.receipt(response.headers.get('x-gateway-request-id')!);
  expect(receipt).toMatchObject({ status: 'settled', cost_nanousd: 0, held_nanousd: 0 });
});

test('the catalog’s name stays the catalog’s', async () => {
  expect((await harness.post({ ...TALK, model: 'sim-gpt' })).status).toBe(404);
});

test('auto falls on it: nothing is cheaper', async () => {
  const response = await harness.post({ ...TALK, model: 'auto' });
  expect([response.status, response.headers.get('x-gateway-effective-model')]).toEqual([
    200,
    expect.stringMatching(/^ollama\//),
  ]);
});
