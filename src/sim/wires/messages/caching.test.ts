import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { dataOf, type Json, SimCaller } from '../../../../test/sim-caller.ts';
import { startSim } from '../../sim.ts';
import type { Sim } from '../../sim-handle.ts';

interface Usage {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  cache_creation: { ephemeral_5m_input_tokens: number; ephemeral_1h_input_tokens: number };
}

const MINUTES = { cache_control: { type: 'ephemeral' } };
const HOUR = { cache_control: { type: 'ephemeral', ttl: '1h' } };

let sim: Sim;
let caller: SimCaller<{ usage: Usage }>;

beforeAll(async () => {
  sim = await startSim();
  const ask = { model: 'sim-claude', max_tokens: 10, messages: [{ role: 'user', content: 'go' }] };
  caller = new SimCaller(sim, '/v1/messages', ask, { 'anthropic-version': '2023-06-01' });
});
beforeEach(() => sim.reset());
afterAll(() => sim.close());

function words(count: number, more: Json = {}, word = 'rule'): Json {
  return { type: 'text', text: `${word} `.repeat(count).trimEnd(), ...more };
}

async function bucketsOf(more: Json): Promise<{ fresh: number; read: number; minutes: number; hour: number }> {
  const { usage } = await caller.complete(more);
  const { ephemeral_5m_input_tokens: minutes, ephemeral_1h_input_tokens: hour } = usage.cache_creation;
  expect(usage.cache_creation_input_tokens).toBe(minutes + hour);
  return { fresh: usage.input_tokens, read: usage.cache_read_input_tokens, minutes, hour };
}

describe('the prompt cache', () => {
  test('writes up to a breakpoint first, and reads it then; the buckets do not overlap', async () => {
    const system = [words(2000, MINUTES)];
    expect(await bucketsOf({ system })).toEqual({ fresh: 5, read: 0, minutes: 2004, hour: 0 });
    expect(await bucketsOf({ system })).toEqual({ fresh: 5, read: 2004, minutes: 0, hour: 0 });
    const events = dataOf(await caller.stream({ system }));
    const { message } = events[0] as { message: { usage: Usage } };
    expect(message.usage).toMatchObject({ input_tokens: 5, cache_read_input_tokens: 2004 });
    expect(events.at(-2)).toMatchObject({ usage: { input_tokens: 5, cache_read_input_tokens: 2004 } });
  });

  test('is not used without a breakpoint, nor for a short prompt', async () => {
    for (const _ of [1, 2]) {
      expect(await bucketsOf({ system: [words(2000)] })).toEqual({ fresh: 2009, read: 0, minutes: 0, hour: 0 });
      expect(await bucketsOf({ system: [words(1000, MINUTES)] })).toMatchObject({ read: 0, minutes: 0 });
    }
  });

  test('tells an hour from five minutes', async () => {
    const tools = [{ name: 'x', input_schema: { type: 'object', description: 'long '.repeat(1500) }, ...HOUR }];
    const system = [words(500, MINUTES)];
    const first = await bucketsOf({ tools, system });
    expect(first.hour).toBeGreaterThan(1500);
    expect(first.minutes).toBe(504);
    const second = await bucketsOf({ tools, system });
    expect(second).toEqual({ fresh: first.fresh, read: first.hour + 504, minutes: 0, hour: 0 });
  });

  test('reads what an earlier turn wrote and writes what came since', async () => {
    const turn = (...more: unknown[]) => ({ messages: [{ role: 'user', content: [...more] }] });
    const first = words(1500);
    await bucketsOf(turn({ ...first, ...MINUTES }));
    expect(await bucketsOf(turn(first, words(300, MINUTES, 'more'), words(7)))).toEqual({
      fresh: 7,
      read: 1504,
      minutes: 300,
      hour: 0,
    });
  });

  test('marks the last block when the request itself carries the mark', async () => {
    const system = [words(2000)];
    expect(await bucketsOf({ system, ...MINUTES })).toEqual({ fresh: 0, read: 0, minutes: 2009, hour: 0 });
    expect(await bucketsOf({ system, ...MINUTES })).toMatchObject({ read: 2009 });
  });

  test('does not confuse models or texts', async () => {
    await bucketsOf({ system: [words(2000, MINUTES)] });
    expect(await bucketsOf({ model: 'other', system: [words(2000, MINUTES)] })).toMatchObject({ read: 0 });
    expect(await bucketsOf({ system: [words(2000, MINUTES, 'role')] })).toMatchObject({ read: 0 });
  });

  test('refuses a fifth mark, and an hour after five minutes', async () => {
    const five = [1, 2, 3, 4, 5].map((count) => words(count, MINUTES));
    const tooMany = await caller.refusal({ system: five });
    expect(tooMany.body).toMatchObject({
      error: { message: 'A maximum of 4 blocks with cache_control may be provided. Found 5.' },
    });
    expect((await caller.send({ system: five.slice(1) })).status).toBe(200);
    const late = await caller.refusal({ system: [words(1, MINUTES), words(1, HOUR)] });
    expect(late.body).toMatchObject({ error: { message: expect.stringContaining("ttl='1h'") } });
  });
});
