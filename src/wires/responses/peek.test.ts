import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../canonical/errors.ts';
import { scanJson } from '../../json/json.ts';
import { peek, texts } from './peek.ts';

const ASK = { model: 'm', input: 'hi' };
const LIMITS = { depthMax: 64, nodesMax: 100_000, keysMax: 100_000, numberDigitsMax: 400, keyBytesMax: 4096 };

function peekAt(body: unknown) {
  return peek(scanJson(Buffer.from(JSON.stringify(body)), LIMITS));
}

function refusal(body: unknown): Pick<GatewayError, 'kind' | 'param'> {
  try {
    peekAt(body);
  } catch (error) {
    if (error instanceof GatewayError) return { kind: error.kind, param: error.param };
    throw error;
  }
  return { kind: 'internal_error', param: 'was let through' };
}

describe('what admission learns', () => {
  test('finds the cache writes that the request asks for', () => {
    const part = { type: 'input_text', text: 'a', prompt_cache_breakpoint: {} };
    expect(peekAt({ ...ASK, input: [{ role: 'user', content: [part] }] }).cacheWrites).toBe('default');
    expect(peekAt({ ...ASK, prompt_cache_options: { ttl: '30m' } }).cacheWrites).toBe('default');
  });

  test('the plain case: one answer, no stream, no needs but chat, the default limit', () => {
    expect(peekAt(ASK)).toEqual({
      model: 'm',
      stream: false,
      wantsUsageFrame: false,
      promptParam: 'input',
      limitParam: 'max_output_tokens',
      outputLimit: null,
      defaultOutputLimit: 4096,
      answers: 1,
      needs: [{ capability: 'chat', param: 'model' }],
      size: { textBytes: 2, toolBytes: 0, messages: 1, tools: 0, images: 0, tokenIds: 0 },
      cacheWrites: 'none',
      labels: null,
      reasoning: null,
    });
  });

  test('limit, stream, labels and effort', () => {
    const seen = peekAt({
      ...ASK,
      max_output_tokens: 77,
      stream: true,
      stream_options: { include_usage: true, include_obfuscation: false },
      user: 'u',
      metadata: { team: 'x' },
      safety_identifier: 's',
      prompt_cache_key: 'k',
      reasoning: { effort: 'high', summary: 'auto' },
    });
    expect(seen).toMatchObject({
      stream: true,
      outputLimit: { tokens: 77, field: 'max_output_tokens' },
      labels: { user: 'u', 'metadata.team': 'x', safety_identifier: 's', prompt_cache_key: 'k' },
      reasoning: { effort: 'high', budgetTokens: null, hideReasoning: false, param: 'reasoning' },
    });
    expect(seen.needs).toContainEqual({ capability: 'reasoning', param: 'reasoning' });
  });

  test('a summary alone asks nothing of a model', () => {
    expect(peekAt({ ...ASK, reasoning: { summary: 'auto' } })).toMatchObject({ reasoning: null });
  });

  test('tools and images name their fields', () => {
    const needs = peekAt({
      ...ASK,
      tools: [{ type: 'function', name: 'f', parameters: {} }],
      input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://x.example/a.png' }] }],
    }).needs;
    expect(needs).toContainEqual({ capability: 'tools', param: 'tools' });
    expect(needs).toContainEqual({ capability: 'images', param: 'input[0].content[0]' });
  });

  test('every text weighs: instructions, items, traces, encrypted reasoning, calls, results, what nobody knows', () => {
    const input = [
      { role: 'developer', content: 'aaaa' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'é' }] },
      { type: 'reasoning', id: 'rs', summary: [{ type: 'summary_text', text: 'ss' }], encrypted_content: 'eeeee' },
      { type: 'function_call', id: 'fc', call_id: 'c1', name: 'nn', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_text', text: 'ooo' }] },
      {
        type: 'message',
        role: 'assistant',
        id: 'msg',
        phase: 'final_answer',
        status: 'completed',
        content: [
          { type: 'output_text', text: 'tt', annotations: [] },
          { type: 'refusal', refusal: 'r' },
        ],
      },
    ];
    const body = { ...ASK, instructions: 'iii', input, vendor_field: 'uu' };
    const { size } = peekAt(body);
    expect(size).toMatchObject({ textBytes: 3 + 4 + 2 + 2 + 5 + 2 + 2 + 3 + 2 + 2 + 1 + 2, toolBytes: 4, messages: 7 });
    const counted = texts(scanJson(Buffer.from(JSON.stringify(body)), LIMITS));
    expect(counted.texts.join('')).toHaveLength(size.textBytes - 1);
    expect(counted.toolTexts.join('')).toHaveLength(size.toolBytes);
  });

  test('counts the parts of messages and outputs, and tool calls', () => {
    const call = { type: 'function_call', call_id: 'c', name: 'n', arguments: '{}' };
    const output = { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'o' }] };
    const message = {
      role: 'user',
      content: [
        { type: 'input_text', text: 'a' },
        { type: 'input_text', text: 'b' },
      ],
    };
    expect(peekAt({ ...ASK, input: [message, call, output] }).size.parts).toBe(2 + 1 + 1);
    expect(peekAt({ ...ASK, input: 'text' }).size.parts).toBeUndefined();
  });

  test('members of a part that nobody knows weigh, and a member of another kind of part is none it knows', () => {
    const content = [
      { type: 'input_text', text: 'a', hidden: 'five5', refusal: 'no' },
      { type: 'input_image', image_url: 'https://x', detail: 'low', text: 'four' },
    ];
    const { size } = peekAt({ ...ASK, input: [{ role: 'user', content }] });
    expect(size).toMatchObject({ textBytes: 1 + 5 + 2 + 4, images: 1 });
  });

  test('schemas and formats weigh as tools do', () => {
    const tools = [{ type: 'function', name: 'f', parameters: { type: 'object' } }];
    const text = { format: { type: 'json_schema', name: 'x', schema: {} } };
    const { size } = peekAt({ ...ASK, tools, text, tool_choice: 'auto' });
    expect(size).toMatchObject({ tools: 2, toolBytes: JSON.stringify(tools).length + JSON.stringify(text).length + 6 });
    expect(peekAt({ ...ASK, text: { format: { type: 'text' } } }).size.tools).toBe(0);
    expect(peekAt({ ...ASK, response_format: { type: 'json_object' } }).size.tools).toBe(1);
  });
});

const MESSAGE = (part: unknown) => ({ ...ASK, input: [{ role: 'user', content: [part] }] });
const ITEM = (item: unknown) => ({ ...ASK, input: [item] });

const REFUSED: readonly [string, unknown, string][] = [
  ['store', { ...ASK, store: true }, 'store'],
  ['a stored response', { ...ASK, previous_response_id: 'resp_1' }, 'previous_response_id'],
  ['a conversation', { ...ASK, conversation: 'conv_1' }, 'conversation'],
  ['the background', { ...ASK, background: true }, 'background'],
  ['the prompt registry', { ...ASK, prompt: { id: 'p' } }, 'prompt'],
  ['truncation', { ...ASK, truncation: 'auto' }, 'truncation'],
  ['context management', { ...ASK, context_management: [{ type: 'compaction' }] }, 'context_management'],
  ['moderation', { ...ASK, moderation: { model: 'x' } }, 'moderation'],
  ['pinning', { ...ASK, provider: { order: ['x'] } }, 'provider'],
  ['fallbacks', { ...ASK, models: ['a', 'b'] }, 'models'],
  ['plugins', { ...ASK, plugins: [{ id: 'web' }] }, 'plugins'],
  ['another tier', { ...ASK, service_tier: 'priority' }, 'service_tier'],
  ['several answers', { ...ASK, n: 2 }, 'n'],
  ['another wire’s limit', { ...ASK, max_tokens: 5 }, 'max_tokens'],
  ['a mode that costs more', { ...ASK, reasoning: { mode: 'pro' } }, 'reasoning.mode'],
  ['a longer cache', { ...ASK, prompt_cache_options: { ttl: '12h' } }, 'prompt_cache_options.ttl'],
  [
    'a longer cache of a part',
    MESSAGE({ type: 'input_text', text: 'a', prompt_cache_breakpoint: { ttl: '12h' } }),
    'input[0].content[0].prompt_cache_breakpoint.ttl',
  ],
  [
    'a longer cache of a tool',
    { ...ASK, tools: [{ type: 'function', name: 'f', prompt_cache_breakpoint: { ttl: '12h' } }] },
    'tools[0].prompt_cache_breakpoint.ttl',
  ],
  [
    'a longer cache of an item',
    ITEM({ role: 'user', content: 'a', prompt_cache_breakpoint: { ttl: '12h' } }),
    'input[0].prompt_cache_breakpoint.ttl',
  ],
  ['a cache without an answer', { ...ASK, prompt_cache_options: { prewarm: true } }, 'prompt_cache_options.prewarm'],
  ['results of server-side tools', { ...ASK, include: ['web_search_call.results'] }, 'include[0]'],
  ['a reference', ITEM({ type: 'item_reference', id: 'msg_1' }), 'input[0].type'],
  ['a server-side call', ITEM({ type: 'web_search_call', id: 'ws_1' }), 'input[0].type'],
  ['a changed effort', ITEM({ type: 'configuration_update', reasoning: {} }), 'input[0].type'],
  ['a file', MESSAGE({ type: 'input_file', file_id: 'file_1' }), 'input[0].content[0].file_id'],
  ['a file by address', MESSAGE({ type: 'input_file', file_url: 'https://x' }), 'input[0].content[0].file_url'],
  ['audio', MESSAGE({ type: 'input_audio', input_audio: {} }), 'input[0].content[0].type'],
  ['an image by id', MESSAGE({ type: 'input_image', file_id: 'file_1' }), 'input[0].content[0].file_id'],
  ...[
    'web_search',
    'web_search_preview',
    'file_search',
    'code_interpreter',
    'computer',
    'computer_use_preview',
    'mcp',
    'image_generation',
    'local_shell',
    'shell',
    'apply_patch',
    'tool_search',
    'programmatic_tool_calling',
  ].map((type): [string, unknown, string] => [type, { ...ASK, tools: [{ type, name: 'x' }] }, 'tools[0].type']),
  ['a choice of a server-side tool', { ...ASK, tool_choice: { type: 'web_search_preview' } }, 'tool_choice.type'],
];

describe('what is refused', () => {
  test.each(REFUSED)('%s', (_, body, param) => {
    expect(refusal(body)).toEqual({ kind: 'unsupported_feature', param });
  });

  test('a hosted tool inside a namespace, by its place', () => {
    const tools = [{ type: 'namespace', name: 'x', tools: [{ type: 'web_search' }] }];
    expect(refusal({ ...ASK, tools })).toEqual({ kind: 'unsupported_feature', param: 'tools[0].tools[0].type' });
  });

  test.each([
    ['no model', { input: 'x' }, 'missing_required_parameter', 'model'],
    ['no input', { model: 'm' }, 'missing_required_parameter', 'input'],
    ['an empty input', { model: 'm', input: [] }, 'invalid_value', 'input'],
    ['an unknown role', ITEM({ role: 'tool', content: 'x' }), 'invalid_value', 'input[0].role'],
    [
      'a call without a name',
      ITEM({ type: 'function_call', call_id: 'c' }),
      'missing_required_parameter',
      'input[0].name',
    ],
    [
      'an answer to no call',
      ITEM({ type: 'function_call_output', output: '' }),
      'missing_required_parameter',
      'input[0].call_id',
    ],
    [
      'a document as an image',
      MESSAGE({ type: 'input_image', image_url: 'data:application/pdf,x' }),
      'invalid_value',
      'input[0].content[0].image_url',
    ],
    [
      'an image as on the chat wire',
      MESSAGE({ type: 'input_image', image_url: { url: 'https://x' } }),
      'invalid_value',
      'input[0].content[0].image_url',
    ],
    [
      'encrypted reasoning other than text',
      ITEM({ type: 'reasoning', summary: [], encrypted_content: 7 }),
      'invalid_value',
      'input[0].encrypted_content',
    ],
    ['a limit other than a number', { ...ASK, max_output_tokens: '5' }, 'invalid_value', 'max_output_tokens'],
    ['a limit of nothing', { ...ASK, max_output_tokens: 0 }, 'invalid_value', 'max_output_tokens'],
    [
      'a tool as on the chat wire',
      { ...ASK, tools: [{ type: 'function', function: { name: 'f' } }] },
      'invalid_value',
      'tools[0].name',
    ],
    ['options of a stream without one', { ...ASK, stream_options: {} }, 'invalid_value', 'stream_options'],
    ['an unknown effort', { ...ASK, reasoning: { effort: 'huge' } }, 'invalid_value', 'reasoning.effort'],
    [
      'two efforts',
      { ...ASK, reasoning_effort: 'low', reasoning: { effort: 'high' } },
      'invalid_value',
      'reasoning_effort',
    ],
    ['a number for instructions', { ...ASK, instructions: 7 }, 'invalid_value', 'instructions'],
    ['no object', 'hello', 'invalid_request_body', null],
  ])('%s', (_, body, kind, param) => {
    expect(refusal(body)).toEqual({ kind, param });
  });
});

describe('what asks for nothing is let through', () => {
  test.each([
    { store: false },
    { previous_response_id: null, conversation: null, prompt: null },
    { truncation: 'disabled' },
    { background: false },
    { models: ['m'] },
    { provider: {} },
    { service_tier: 'auto' },
    { n: 1 },
    { include: ['reasoning.encrypted_content', 'message.output_text.logprobs'] },
    { tools: [{ type: 'custom', name: 'patch' }], tool_choice: { type: 'custom', name: 'patch' } },
    { tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [] } },
    { usage: { include: true } },
    { prompt_cache_options: { mode: 'explicit', ttl: '30m' } },
    { response_format: { type: 'json_object' } },
  ])('%o', (fields) => {
    expect(() => peekAt({ ...ASK, ...fields })).not.toThrow();
  });
});
