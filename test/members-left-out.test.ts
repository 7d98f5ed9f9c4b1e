import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadSimulatedFile } from '../src/catalog/load.ts';
import { type Harness, startHarness } from './harness.ts';

/** Members that the host's wire lacks, and that are not worth a refusal: the response names each of them. */

type Fields = Readonly<Record<string, unknown>>;

const CALLERS = {
  chat: { path: '/v1/chat/completions', body: { messages: [{ role: 'user', content: 'Hello' }] } },
  messages: { path: '/v1/messages', body: { max_tokens: 50, messages: [{ role: 'user', content: 'Hello' }] } },
  responses: { path: '/v1/responses', body: { input: 'Hello' } },
  completions: { path: '/v1/completions', body: { prompt: 'Hello' } },
} as const;
type Caller = keyof typeof CALLERS;

let harness: Harness;

/** All models may be called on the messages wire. */
const MODELS = loadSimulatedFile().models.map((row) => ({ ...row, caps: [...(row.caps ?? []), 'messages' as const] }));

beforeAll(async () => {
  harness = await startHarness({ config: { models: MODELS } });
});
afterAll(async () => {
  await harness.settled();
  await harness.expectCleanBooks();
  await harness.stop();
});

async function send(caller: Caller, model: string, fields: Fields): Promise<{ status: number; adjusted: string[] }> {
  const { path, body } = CALLERS[caller];
  const response = await harness.post({ model, ...body, ...fields }, {}, path);
  await response.text();
  const adjusted = response.headers.get('x-gateway-adjusted');
  return { status: response.status, adjusted: adjusted === null ? [] : adjusted.split(',') };
}

async function refusal(caller: Caller, model: string, fields: Fields): Promise<unknown[]> {
  const { path, body } = CALLERS[caller];
  const response = await harness.post({ model, ...body, ...fields }, {}, path);
  const { error } = (await response.json()) as { error: { code?: string; param?: string } };
  return [response.status, error.param];
}

const USER = { role: 'user', content: 'Hello' };
const IMAGE = 'data:image/png;base64,iVBORw0KGgo=';
const SCHEMA = { type: 'object', properties: {} };
const CALL = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };
const FUNCTION = { name: 'f', parameters: SCHEMA };

function chat(...messages: object[]): Fields {
  return { messages };
}

function items(...input: object[]): Fields {
  return { input };
}

function blocks(role: string, ...content: object[]): Fields {
  return { messages: [{ role: 'user', content: 'Hello' }, { role, content }, USER] };
}

/** A turn whose tool failed, or did not. */
function resultOf(is_error: unknown): Fields {
  return {
    tools: [{ name: 'f', input_schema: SCHEMA }],
    messages: [
      USER,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'No such file', is_error }] },
    ],
  };
}

const PROMPT_FILE = { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' };
const SCHEMA_FORMAT = { name: 'n', description: 'About it', schema: { ...SCHEMA, additionalProperties: false } };

const NAMED: readonly [Caller, string, Fields, readonly string[]][] = [
  ['chat', 'sim-claude', { response_format: { type: 'json_object' } }, ['response_format']],
  ['completions', 'sim-claude', { response_format: { type: 'json_object' } }, ['response_format']],
  ['responses', 'sim-claude', { text: { format: { type: 'json_object' } } }, ['text.format']],
  ['responses', 'sim-claude', { response_format: { type: 'json_object' } }, ['response_format']],
  [
    'chat',
    'sim-claude',
    { response_format: { type: 'json_schema', json_schema: SCHEMA_FORMAT } },
    ['response_format.json_schema.description'],
  ],
  [
    'responses',
    'sim-claude',
    { text: { format: { type: 'json_schema', ...SCHEMA_FORMAT } } },
    ['text.format.description'],
  ],
  ['chat', 'sim-claude', { response_format: { type: 'text', mode: 'x' } }, ['response_format.mode']],
  [
    'responses',
    'sim-gpt',
    { text: { format: { type: 'text', mode: 'x' }, tone: 'dry' } },
    ['text.tone', 'text.format.mode'],
  ],
  ['chat', 'sim-claude', chat(USER, { role: 'assistant', content: '{', prefix: true }), ['messages.1.prefix']],
  ['chat', 'sim-responses', chat({ ...USER, metadata: { a: 1 } }), ['messages.0.metadata']],
  ['chat', 'sim-claude', chat({ ...USER, tool_calls: [CALL] }), ['messages.0.tool_calls']],
  [
    'chat',
    'sim-claude',
    chat({ role: 'user', content: [{ type: 'text', text: 'Hello', weight: 2 }] }),
    ['messages.0.content.0.weight'],
  ],
  [
    'chat',
    'sim-claude',
    chat({ role: 'user', content: [{ type: 'image_url', image_url: { url: IMAGE, detail: 'low', format: 'png' } }] }),
    ['messages.0.content.0.image_url.format', 'image_url.detail'],
  ],
  [
    'chat',
    'sim-responses',
    chat({ role: 'user', content: [{ type: 'image_url', image_url: { url: IMAGE, detail: 'finest' } }] }),
    ['messages.0.content.0.image_url.detail'],
  ],
  [
    'responses',
    'sim-claude',
    items({ role: 'user', content: [{ type: 'input_image', image_url: IMAGE, detail: 'high' }] }),
    ['input_image.detail'],
  ],
  [
    'chat',
    'sim-claude',
    chat({ role: 'user', content: [{ type: 'file', file: { ...PROMPT_FILE, pages: '1-2' } }] }),
    ['messages.0.content.0.file.pages'],
  ],
  [
    'chat',
    'sim-claude',
    {
      tools: [{ type: 'function', function: FUNCTION }],
      ...chat(
        USER,
        { role: 'assistant', tool_calls: [{ ...CALL, extra_content: { a: 1 } }] },
        { role: 'tool', tool_call_id: 'c1', name: 'f', content: 'x', status: 'failed' },
      ),
    },
    ['messages.1.tool_calls.0.extra_content', 'messages.2.status'],
  ],
  [
    'chat',
    'sim-claude',
    { tools: [{ type: 'function', title: 'F', function: { ...FUNCTION, returns: { type: 'string' } } }] },
    ['tools.0.title', 'tools.0.function.returns'],
  ],
  [
    'chat',
    'sim-claude',
    { stream: true, stream_options: { include_obfuscation: true } },
    ['stream_options.include_obfuscation'],
  ],
  [
    'responses',
    'sim-gpt',
    { stream: true, stream_options: { include_obfuscation: true } },
    ['stream_options.include_obfuscation'],
  ],
  ['completions', 'sim-gpt', { stream: true, stream_options: { every_chunk: true } }, ['stream_options.every_chunk']],
  ['responses', 'sim-gpt', items({ ...USER, name: 'ada', weight: 2 }), ['input.0.name', 'input.0.weight']],
  // Types that every object has as members.
  ['responses', 'sim-gpt', items({ ...USER, tools: [{ type: 'constructor' }] }), ['input.0.tools']],
  ['responses', 'sim-gpt', items({ ...USER, output: [{ type: 'toString' }] }), ['input.0.output']],
  [
    'responses',
    'sim-claude',
    items({ role: 'user', content: [{ type: 'input_text', text: 'Hello', weight: 2 }] }),
    ['input.0.content.0.weight'],
  ],
  [
    'responses',
    'sim-claude',
    {
      tools: [{ type: 'function', ...FUNCTION, returns: { type: 'string' } }],
      ...items(
        USER,
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}', caller: { type: 'direct' } },
        { type: 'function_call_output', call_id: 'c1', output: 'x', outcome: 'failure' },
      ),
    },
    ['tools.0.returns', 'input.1.caller', 'input.2.outcome'],
  ],
  [
    'responses',
    'sim-gpt',
    {
      tools: [
        {
          type: 'namespace',
          name: 'n',
          icon: 'x',
          tools: [{ type: 'function', ...FUNCTION, returns: { type: 'string' } }],
        },
      ],
    },
    ['tools.0.icon', 'tools.0.tools.0.returns'],
  ],
  ['messages', 'sim-gpt', resultOf(true), ['messages.2.content.0.is_error']],
  [
    'messages',
    'sim-responses',
    { messages: [{ ...USER, name: 'ada', weight: 2 }] },
    ['messages.0.name', 'messages.0.weight'],
  ],
  [
    'messages',
    'sim-gpt',
    blocks('assistant', { type: 'thinking', thinking: 'Hm', signature: '', weight: 2 }, { type: 'text', text: 'Yes' }),
    ['messages.1.content.0.weight'],
  ],
  [
    'messages',
    'sim-gpt',
    blocks('user', {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=', crop: 2 },
    }),
    ['messages.1.content.0.source.crop'],
  ],
  [
    'responses',
    'sim-gpt',
    {
      tools: [
        { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } },
        { type: 'custom', name: 'note', format: { type: 'text' } },
        {
          type: 'namespace',
          name: 'files',
          tools: [{ type: 'custom', name: 'find', format: { type: 'pattern', pattern: 'a+' } }],
        },
      ],
    },
    ['tools.0.format', 'tools.2.tools.0.format'],
  ],
  ['messages', 'sim-gpt', { thinking: { type: 'disabled', style: 'x' } }, ['thinking.style']],
  [
    'messages',
    'sim-gpt',
    { tools: [{ name: 'f', input_schema: SCHEMA }], tool_choice: { type: 'auto', hint: 'x' } },
    ['tool_choice.hint'],
  ],
  [
    'messages',
    'sim-gpt',
    { output_config: { format: { type: 'json_schema', schema: SCHEMA, title: 'x' } } },
    ['output_config.format.title'],
  ],
];

describe('is left out and named', () => {
  test.each(NAMED)('%s to %s: %j', async (caller, model, fields, names) => {
    expect(await send(caller, model, fields)).toEqual({
      status: 200,
      adjusted: names.map((name) => `${name}=dropped`),
    });
  });
});

describe('of a wrong type is refused by name', () => {
  test.each<[Caller, string, Fields, string]>([
    ['chat', 'sim-claude', { top_k: '40' }, 'top_k'],
    ['completions', 'sim-claude', { top_k: [40] }, 'top_k'],
    [
      'chat',
      'sim-claude',
      { tools: [{ type: 'function', function: { name: 'f', parameters: '{}' } }] },
      'tools[0].function.parameters',
    ],
    [
      'chat',
      'sim-claude',
      { tools: [{ type: 'function', function: { ...FUNCTION, description: 7 } }] },
      'tools[0].function.description',
    ],
    [
      'chat',
      'sim-claude',
      { tools: [{ type: 'function', function: { ...FUNCTION, strict: 'yes' } }] },
      'tools[0].function.strict',
    ],
    [
      'chat',
      'sim-claude',
      { response_format: { type: 'json_schema', json_schema: { name: 'n', schema: '{}' } } },
      'response_format.json_schema.schema',
    ],
    [
      'chat',
      'sim-responses',
      { response_format: { type: 'json_schema', json_schema: { name: 'n', schema: SCHEMA, strict: 'yes' } } },
      'response_format.json_schema.strict',
    ],
    ['responses', 'sim-gpt', { text: { format: 'json_object' } }, 'text.format'],
    [
      'responses',
      'sim-gpt',
      { text: { format: { type: 'json_schema', name: 'n', schema: SCHEMA, strict: 'yes' } } },
      'text.format.strict',
    ],
    ['responses', 'sim-gpt', { tools: [{ type: 'function', ...FUNCTION, description: 7 }] }, 'tools[0].description'],
    ['responses', 'sim-gpt', { tools: [{ type: 'function', ...FUNCTION, strict: 'yes' }] }, 'tools[0].strict'],
    ['messages', 'sim-gpt', { tools: [{ name: 'f', input_schema: SCHEMA, description: 7 }] }, 'tools[0].description'],
    ['messages', 'sim-gpt', { tools: [{ name: 'f', input_schema: SCHEMA, strict: 'yes' }] }, 'tools[0].strict'],
    ['messages', 'sim-gpt', resultOf('true'), 'messages[2].content[0].is_error'],
    [
      'messages',
      'sim-gpt',
      { tools: [{ name: 'f', input_schema: SCHEMA }], tool_choice: { type: 'auto', disable_parallel_tool_use: 'yes' } },
      'tool_choice.disable_parallel_tool_use',
    ],
  ])('%s to %s: %j', async (caller, model, fields, param) => {
    expect(await refusal(caller, model, fields)).toEqual([400, param]);
  });
});

describe('asks for nothing, so nothing is named', () => {
  test.each<[Caller, string, Fields]>([
    [
      'chat',
      'sim-claude',
      chat(
        USER,
        { role: 'assistant', content: 'Hi', refusal: null, annotations: [], audio: null, function_call: null },
        USER,
      ),
    ],
    ['chat', 'sim-claude', { top_k: 0, tools: [{ type: 'function', function: { name: 'f', parameters: [] } }] }],
    ['messages', 'sim-gpt', { top_k: 0 }],
    ['messages', 'sim-gpt', resultOf(false)],
    [
      'responses',
      'sim-gpt',
      items(
        USER,
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          phase: 'final_answer',
          content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [] }],
        },
        USER,
      ),
    ],
    ['chat', 'sim-responses', { cache_control: null, prompt_cache_options: {}, prompt_cache_retention: null }],
    ['chat', 'sim-gpt', chat(USER, { role: 'assistant', content: '{', prefix: true })],
  ])('%s to %s: %j', async (caller, model, fields) => {
    expect(await send(caller, model, fields)).toEqual({ status: 200, adjusted: [] });
  });
});

test.each<[Caller, string, Fields]>([
  [
    'chat',
    'sim-claude',
    chat(
      USER,
      { role: 'assistant', tool_calls: [CALL] },
      { role: 'tool', tool_call_id: 'c1', content: [{ type: 'refusal', refusal: 'I refuse.' }] },
    ),
  ],
  [
    'responses',
    'sim-gpt',
    items(
      USER,
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: [{ type: 'refusal', refusal: 'I refuse.' }] },
    ),
  ],
  ['responses', 'sim-gpt', items({ role: 'user', content: [{ type: 'refusal', refusal: 'I refuse.' }] })],
])('%s to %s: a refusal that is not the model’s is sent as text: %j', async (caller, model, fields) => {
  expect((await send(caller, model, fields)).status).toBe(200);
  expect(harness.sim.calls.at(-1)!.body).toContain('I refuse.');
});
