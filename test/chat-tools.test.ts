import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';

/** Custom tools and allowed tools of the chat wire, where the model's host speaks another wire. */

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});
afterAll(async () => {
  await harness.expectCleanBooks();
  await harness.stop();
});

type Json = Record<string, unknown>;

const parameters = { type: 'object', properties: { target: { type: 'string' } }, required: ['target'] };
const GRAMMAR = { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "patch"' } };
const TOOLS = [
  { type: 'function', function: { name: 'run', parameters } },
  { type: 'function', function: { name: 'stop', parameters } },
  { type: 'custom', custom: { name: 'apply_patch', description: 'Edits files.', format: GRAMMAR } },
];
const USER = { role: 'user', content: 'Go on.' };
const MODELS = ['sim-claude', 'sim-responses'] as const;

const sent = (): Json => JSON.parse(harness.sim.calls.at(-1)!.body) as Json;
const offered = (): unknown[] => (sent().tools as Json[]).map(({ name }) => name);

async function ask(body: Json): Promise<{ message: Json; response: Response }> {
  const response = await harness.post({ tools: TOOLS, messages: [USER], ...body });
  const answer = (await response.json()) as { choices: { message: Json }[] };
  expect([response.status, answer]).toEqual([200, expect.anything()]);
  return { message: answer.choices[0]!.message, response };
}

async function streamed(body: Json): Promise<Json[]> {
  const stream = await harness.openai().chat.completions.create({
    ...({ tools: TOOLS, messages: [USER], ...body } as object as { model: string; messages: [] }),
    stream: true,
  });
  const calls: Json[] = [];
  for await (const { choices } of stream) {
    for (const call of choices[0]?.delta.tool_calls ?? []) calls.push(call as object as Json);
  }
  return calls;
}

describe.each(MODELS)('%s', (model) => {
  const chosen = { model, tool_choice: { type: 'custom', custom: { name: 'apply_patch' } } };

  test('calls a custom tool with its plain input, and gets the call and its result back', async () => {
    const { message, response } = await ask(chosen);
    const [call] = message.tool_calls as Json[];
    expect(call).toEqual({ id: expect.any(String), type: 'custom', custom: { name: 'apply_patch', input: 'sample' } });
    expect(response.headers.get('x-gateway-adjusted')).toBe('tools.2.custom.format=dropped');
    expect(JSON.stringify(sent().tools)).toContain('lark grammar');
    const result = { role: 'tool', tool_call_id: call!.id, content: 'Done.' };
    const next = await ask({ model, messages: [USER, { role: 'assistant', tool_calls: [call] }, result] });
    expect(next.message.content).toContain('Done.');
    expect(harness.sim.calls.at(-1)!.body).toContain('sample');
  });

  test('streams the input of a custom tool', async () => {
    const [first, ...rest] = await streamed(chosen);
    expect(first).toEqual({
      index: 0,
      id: expect.any(String),
      type: 'custom',
      custom: { name: 'apply_patch', input: '' },
    });
    const inputs = rest.map(({ index, custom }) => [index, (custom as Json).input]);
    expect(inputs.every(([index]) => index === 0)).toBe(true);
    expect(inputs.map(([, input]) => input).join('')).toBe('sample');
  });

  test.each(['auto', 'required'])('is offered only the tools that are allowed, mode %s', async (mode) => {
    const tools = [
      { type: 'function', function: { name: 'stop' } },
      { type: 'custom', custom: { name: 'apply_patch' } },
    ];
    const { message } = await ask({ model, tool_choice: { type: 'allowed_tools', allowed_tools: { mode, tools } } });
    expect(offered()).toEqual(['stop', 'apply_patch']);
    expect(message.tool_calls !== undefined).toBe(mode === 'required');
  });

  test.each<[Json, string]>([
    [{ type: 'allowed_tools' }, 'tool_choice.allowed_tools'],
    [{ type: 'allowed_tools', allowed_tools: { tools: [] } }, 'tool_choice.allowed_tools.mode'],
    [{ type: 'allowed_tools', allowed_tools: { mode: 'auto' } }, 'tool_choice.allowed_tools.tools'],
    [
      { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ type: 'function', name: 'run' }] } },
      'tool_choice.allowed_tools.tools[0].function.name',
    ],
    [{ type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: ['run'] } }, 'tool_choice.allowed_tools.tools[0]'],
    [
      {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'not_offered' } }] },
      },
      'tool_choice.allowed_tools.tools[0]',
    ],
    [{ type: 'custom', name: 'apply_patch' }, 'tool_choice.custom.name'],
  ])('the choice %j is refused by its wrong member', async (choice, param) => {
    const response = await harness.post({ model, tools: TOOLS, messages: [USER], tool_choice: choice });
    expect([response.status, await response.json()]).toMatchObject([400, { error: { code: 'invalid_value', param } }]);
  });
});

describe('a custom tool', () => {
  const offer = (custom: Json, more: Json = {}): Json => ({
    model: 'sim-claude',
    tools: [{ type: 'custom', custom: { name: 'note', ...custom }, ...more }],
  });

  test.each<[Json, string | null]>([
    [{}, null],
    [{ format: { type: 'text' } }, null],
    [{ format: { type: 'pattern', pattern: '[a-z]+' } }, 'tools.0.custom.format=dropped'],
  ])('with the members %j names what its host does not get: %j', async (custom, adjusted) => {
    const { response } = await ask(offer(custom));
    expect(response.headers.get('x-gateway-adjusted')).toBe(adjusted);
  });

  test('keeps its cache mark', async () => {
    const mark = { cache_control: { type: 'ephemeral' } };
    await ask(offer({}, mark));
    expect(sent().tools).toMatchObject([mark]);
  });

  test('with a description that is not text is refused, which would get lost', async () => {
    const response = await harness.post({ messages: [USER], ...offer({ description: ['Notes.'] }) });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { code: 'invalid_value', param: 'tools[0].custom.description' } },
    ]);
  });
});
