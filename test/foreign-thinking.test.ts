import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadSimulatedFile } from '../src/catalog/load.ts';
import { type Harness, startHarness } from './harness.ts';

/** The field `thinking` of the messages wire, as clients of other gateways also send it on other wires. */

type Fields = Readonly<Record<string, unknown>>;

const CHAT = ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 4000 }] as const;
const RESPONSES = ['/v1/responses', { input: 'Hello', max_output_tokens: 4000 }] as const;
const COMPLETIONS = ['/v1/completions', { prompt: 'Hello', max_tokens: 4000 }] as const;
type Caller = typeof CHAT | typeof RESPONSES | typeof COMPLETIONS;

const ENABLED = { type: 'enabled', budget_tokens: 2000 };

let harness: Harness;

/**
 * Further models of the messages wire: one that takes an effort, and one that cannot reason. Those named `mute-` reason on each wire,
 * but their rows say neither which efforts they have nor that they take a budget.
 */
function moreModels(): ReturnType<typeof loadSimulatedFile>['models'] {
  const rows = loadSimulatedFile().models;
  const { thinking: _, reasoning_efforts: __, ...plain } = rows.find(({ id }) => id === 'sim-claude')!;
  const caps = plain.caps?.filter((cap) => cap !== 'reasoning');
  const mute = ['sim-claude', 'sim-gpt', 'sim-responses'].map((id) => {
    const { thinking: _own, reasoning_efforts: _efforts, ...row } = rows.find((one) => one.id === id)!;
    return { ...row, id: id.replace('sim', 'mute') };
  });
  return [
    ...rows,
    ...mute,
    { ...plain, id: 'adaptive', thinking: 'effort', reasoning_efforts: ['none', 'low', 'medium', 'high'] },
    { ...plain, id: 'plain', ...(caps !== undefined && { caps }) },
  ];
}

beforeAll(async () => {
  harness = await startHarness({ config: { models: moreModels() } });
});
afterAll(async () => {
  await harness.settled();
  await harness.expectCleanBooks();
  await harness.stop();
});

async function send([path, body]: Caller, model: string, fields: Fields): Promise<{ status: number; error: Fields }> {
  const response = await harness.post({ model, ...body, ...fields }, {}, path);
  const { error } = (await response.json()) as { error?: Fields | null };
  return { status: response.status, error: error ?? {} };
}

/** What the host got. */
async function sent(caller: Caller, model: string, fields: Fields): Promise<Fields> {
  const { status, error } = await send(caller, model, fields);
  expect([status, error]).toEqual([200, {}]);
  return JSON.parse(harness.sim.calls.at(-1)!.body) as Fields;
}

describe.each([
  ['chat', CHAT],
  ['responses', RESPONSES],
  ['completions', COMPLETIONS],
] as const)('on the %s wire', (_, caller) => {
  test('a budget reaches a messages host as it is', async () => {
    expect(await sent(caller, 'sim-claude', { thinking: ENABLED })).toMatchObject({ thinking: ENABLED });
  });

  test('a budget is an effort for a model of that wire that takes efforts', async () => {
    const body = await sent(caller, 'adaptive', { thinking: ENABLED });
    expect(body).toMatchObject({ thinking: { type: 'adaptive' }, output_config: { effort: 'medium' } });
  });

  test.each([
    [{ type: 'enabled' }, 'medium'],
    [{ type: 'adaptive', display: 'summarized' }, 'high'],
  ])('%j without a budget is an effort', async (thinking, effort) => {
    expect(await sent(caller, 'adaptive', { thinking })).toMatchObject({ output_config: { effort } });
  });

  test.each([0, -1, 1.5, '2000', 4000, 5000])('a budget of %j is refused by its name', async (budget_tokens) => {
    const answer = await send(caller, 'sim-claude', { thinking: { type: 'enabled', budget_tokens } });
    expect(answer).toMatchObject({ status: 400, error: { code: 'invalid_value', param: 'thinking.budget_tokens' } });
  });

  test('a model that cannot reason is named with the field', async () => {
    const answer = await send(caller, 'plain', { thinking: ENABLED });
    expect(answer).toMatchObject({ status: 400, error: { param: 'thinking', code: 'missing_capability' } });
  });

  test('it is refused beside `enable_thinking: false`, unless it is off too', async () => {
    for (const thinking of [ENABLED, { type: 'adaptive' }]) {
      const answer = await send(caller, 'sim-claude', { thinking, enable_thinking: false });
      const message = '`enable_thinking` and `thinking` contradict each other; send one.';
      expect(answer).toMatchObject({
        status: 400,
        error: { code: 'invalid_value', param: 'enable_thinking', message },
      });
    }
    const body = await sent(caller, 'sim-claude', { thinking: { type: 'disabled' }, enable_thinking: false });
    expect(body.thinking).toEqual({ type: 'disabled' });
  });

  test('another amount of reasoning beside it is refused, and the same is not', async () => {
    for (const other of [{ reasoning: { max_tokens: 1500 } }, { reasoning: { effort: 'none' } }]) {
      const answer = await send(caller, 'sim-claude', { thinking: ENABLED, ...other });
      const message = '`thinking` and `reasoning` contradict each other; send one.';
      expect(answer).toMatchObject({ status: 400, error: { code: 'invalid_value', param: 'thinking', message } });
    }
    const body = await sent(caller, 'sim-claude', { thinking: ENABLED, reasoning: { max_tokens: 2000 } });
    expect(body.thinking).toEqual(ENABLED);
    const effort = await sent(caller, 'adaptive', { thinking: { type: 'adaptive' }, reasoning: { effort: 'low' } });
    expect(effort.output_config).toEqual({ effort: 'low' });
  });
});

test('a budget is an effort for hosts of the responses and chat wires', async () => {
  expect(await sent(CHAT, 'sim-responses', { thinking: ENABLED })).toMatchObject({ reasoning: { effort: 'medium' } });
  expect(await sent(RESPONSES, 'sim-gpt', { thinking: ENABLED })).toMatchObject({ reasoning_effort: 'medium' });
});

describe('a host that takes neither a budget nor an effort', () => {
  test.each([
    [CHAT, 'mute-responses'],
    [CHAT, 'mute-claude'],
    [RESPONSES, 'mute-gpt'],
  ] as const)('%j to %s: a budget is refused by the name that the caller wrote', async (caller, model) => {
    for (const [fields, param] of [
      [{ thinking: ENABLED }, 'thinking.budget_tokens'],
      [{ reasoning: { max_tokens: 2000 } }, 'reasoning.max_tokens'],
    ] as const) {
      const calls = harness.sim.calls.length;
      const answer = await send(caller, model, fields);
      expect(answer).toMatchObject({ status: 400, error: { code: 'unsupported_parameter', param } });
      expect(harness.sim.calls).toHaveLength(calls);
    }
    expect((await send(caller, model, { thinking: { type: 'enabled' } })).status).toBe(200);
  });

  test.each([
    [CHAT, 'mute-gpt'],
    [RESPONSES, 'mute-responses'],
    [['/v1/messages', CHAT[1]], 'mute-claude'],
  ] as const)('%j to %s: so it is on its own wire, where only the gateway reads it', async (caller, model) => {
    const response = await harness.post({ model, ...caller[1], reasoning: { max_tokens: 2000 } }, {}, caller[0]);
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('reasoning.max_tokens')]);
  });

  test.each([
    [CHAT, 'mute-gpt', { reasoning_effort: 'high' }, 'reasoning_effort'],
    [CHAT, 'mute-claude', { reasoning: { effort: 'high' } }, 'reasoning'],
    [CHAT, 'mute-responses', { thinking: { type: 'adaptive' } }, 'thinking'],
    [RESPONSES, 'mute-responses', { reasoning: { effort: 'low' } }, 'reasoning'],
    [RESPONSES, 'mute-gpt', { reasoning: { effort: 'low' } }, 'reasoning'],
    [['/v1/messages', CHAT[1]], 'mute-claude', { reasoning_effort: 'low' }, 'reasoning_effort'],
    [['/v1/messages', CHAT[1]], 'mute-claude', { thinking: { type: 'adaptive' } }, null],
    [CHAT, 'mute-gpt', { reasoning_effort: 'none' }, 'reasoning_effort'],
    [RESPONSES, 'mute-gpt', { reasoning: { effort: 'none' } }, 'reasoning'],
    [RESPONSES, 'mute-responses', { reasoning: { effort: 'none' } }, 'reasoning'],
    [CHAT, 'mute-claude', { thinking: { type: 'disabled' } }, 'thinking'],
  ] as const)('%j to %s with %j: the effort is left out and named', async (caller, model, fields, named) => {
    const response = await harness.post({ model, ...caller[1], ...fields }, {}, caller[0]);
    await response.text();
    const adjusted = named === null ? null : `${named}=dropped`;
    expect([response.status, response.headers.get('x-gateway-adjusted')]).toEqual([200, adjusted]);
  });

  test('a budget in `thinking` is the host’s own matter on its own wire', async () => {
    const body = { model: 'mute-claude', ...CHAT[1], thinking: ENABLED };
    expect((await harness.post(body, {}, '/v1/messages')).status).toBe(200);
  });
});

test.each([
  [{ thinking: { type: 'enabled', budget_tokens: 100 } }, 'thinking.budget_tokens=1024'],
  [{ reasoning: { max_tokens: 100 } }, 'reasoning.max_tokens=1024'],
  [{ reasoning: { max_tokens: 1024 } }, null],
  [{ reasoning_effort: 'minimal' }, null],
])('a budget below the least that messages hosts take is raised, and named: %j', async (fields, adjusted) => {
  const response = await harness.post({ model: 'sim-claude', ...CHAT[1], ...fields });
  await response.text();
  expect(response.headers.get('x-gateway-adjusted')).toBe(adjusted);
  expect(JSON.parse(harness.sim.calls.at(-1)!.body).thinking).toEqual({ type: 'enabled', budget_tokens: 1024 });
});

test.each([
  [{ reasoning: { max_tokens: 100 } }, 'reasoning.max_tokens=1024'],
  [{ reasoning: { max_tokens: 1024 } }, null],
  [{ reasoning_effort: 'minimal' }, null],
])('so is one of the messages wire in a field that only the gateway reads: %j', async (fields, adjusted) => {
  const response = await harness.post({ model: 'sim-claude', ...CHAT[1], ...fields }, {}, '/v1/messages');
  await response.text();
  expect(response.headers.get('x-gateway-adjusted')).toBe(adjusted);
  expect(JSON.parse(harness.sim.calls.at(-1)!.body).thinking).toEqual({ type: 'enabled', budget_tokens: 1024 });
});

test('reasoning is left out and named where the model must call a tool, also on the messages wire', async () => {
  const tools = [{ name: 'tide', input_schema: { type: 'object', properties: {} } }];
  const ask = (model: string, fields: Fields) =>
    harness.post({ model, ...CHAT[1], tools, tool_choice: { type: 'any' }, ...fields }, {}, '/v1/messages');
  for (const [model, fields, named, thinking] of [
    ['sim-claude', { reasoning_effort: 'low' }, 'reasoning_effort=dropped', undefined],
    ['sim-claude', { reasoning: { max_tokens: 2000 } }, 'reasoning=dropped', undefined],
    ['adaptive', { reasoning_effort: 'low' }, 'reasoning_effort=dropped', { type: 'disabled' }],
    ['sim-claude', { reasoning_effort: 'none' }, null, { type: 'disabled' }],
  ] as const) {
    const response = await ask(model, fields);
    await response.text();
    expect([response.status, response.headers.get('x-gateway-adjusted')]).toEqual([200, named]);
    const body = JSON.parse(harness.sim.calls.at(-1)!.body) as Fields;
    expect([body.thinking, body.output_config]).toEqual([thinking, undefined]);
  }
});

test('the default output limit counts too, and the refusal names it', async () => {
  const [path, { messages }] = CHAT;
  const thinking = { type: 'enabled', budget_tokens: 4096 };
  const response = await harness.post({ model: 'sim-claude', messages, thinking }, {}, path);
  const { error } = (await response.json()) as { error: Fields };
  expect(error.message).toBe('`thinking.budget_tokens` must be below `max_tokens`, which is 4096.');
});

test('a member that no other wire has is named', async () => {
  const [path, body] = CHAT;
  const thinking = { ...ENABLED, display: 'omitted' };
  const response = await harness.post({ model: 'sim-claude', ...body, thinking }, {}, path);
  await response.text();
  expect(response.headers.get('x-gateway-adjusted')).toBe('thinking.display=dropped');
});

test('a host of the same wire gets the field as the caller wrote it, without another one', async () => {
  const body = await sent(CHAT, 'sim-gpt', { thinking: ENABLED });
  expect([body.thinking, body.reasoning_effort]).toEqual([ENABLED, undefined]);
});
