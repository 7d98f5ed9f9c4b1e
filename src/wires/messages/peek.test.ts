import { describe, expect, test } from 'vitest';
import { allRecordings } from '../../../test/messages-recordings.ts';
import { PLAIN, peekAt, refusalOf, textOf } from '../../../test/messages-request.ts';
import type { CacheWrites } from '../../canonical/cache-writes.ts';
import { texts } from './peek.ts';

const IMAGE = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } };

function withContent(content: unknown, role = 'user') {
  return { ...PLAIN, messages: [{ role, content }] };
}

function refused(body: unknown) {
  return refusalOf(() => peekAt(body));
}

test('what admission needs to know', () => {
  expect(peekAt({ ...PLAIN, stream: true })).toMatchObject({
    model: 'claude-harbour',
    stream: true,
    outputLimit: { tokens: 64, field: 'max_tokens' },
    answers: 1,
    needs: [{ capability: 'messages', param: 'model' }],
    size: { textBytes: 5, toolBytes: 0, messages: 1, tools: 0, images: 0, tokenIds: 0 },
    labels: null,
    reasoning: null,
    hostHeaders: { 'anthropic-version': '2023-06-01' },
  });
});

const MARK = { cache_control: { type: 'ephemeral' } };
const HOUR = { cache_control: { type: 'ephemeral', ttl: '1h' } };
const TOOL = { name: 'tide', input_schema: { type: 'object' } };

test.each<[string, object, CacheWrites]>([
  ['a request without marks', { ...PLAIN, tools: [TOOL] }, 'none'],
  ['a mark of null', { ...PLAIN, cache_control: null }, 'none'],
  ['a mark at the top', { ...PLAIN, ...MARK }, 'default'],
  ['a mark on a tool', { ...PLAIN, tools: [TOOL, { ...TOOL, ...HOUR }] }, 'one_hour'],
  ['a mark in the system prompt', { ...PLAIN, system: [{ type: 'text', text: 'a', ...MARK }] }, 'default'],
  ['a mark on a block', withContent([{ type: 'text', text: 'a', ...HOUR }]), 'one_hour'],
  [
    'a mark on a block inside a tool result',
    withContent([{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'a', ...HOUR }] }]),
    'one_hour',
  ],
  [
    'two lifetimes',
    withContent([
      { type: 'text', text: 'a', ...HOUR },
      { type: 'text', text: 'b', ...MARK },
    ]),
    'one_hour',
  ],
  ['five minutes', withContent([{ type: 'text', text: 'a', cache_control: { ttl: '5m' } }]), 'default'],
  ['an unknown lifetime', withContent([{ type: 'text', text: 'a', cache_control: { ttl: '2h' } }]), 'one_hour'],
  [
    'arguments that look like a mark',
    withContent([{ type: 'tool_use', id: 't', name: 'a', input: HOUR }], 'assistant'),
    'none',
  ],
])('finds the cache writes that %s asks for', (_, body, expected) => {
  expect(peekAt(body).cacheWrites).toBe(expected);
});

test('needs follow from tools, images and thinking', () => {
  const tools = [{ name: 'tide', input_schema: { type: 'object' } }];
  const body = { ...withContent([IMAGE]), tools, thinking: { type: 'adaptive' } };
  expect(peekAt(body).needs).toEqual([
    { capability: 'messages', param: 'model' },
    { capability: 'tools', param: 'tools' },
    { capability: 'images', param: 'messages[0].content[0]' },
    { capability: 'reasoning', param: 'thinking' },
  ]);
  expect(peekAt({ ...PLAIN, tools: [], thinking: { type: 'disabled' } }).needs).toHaveLength(1);
  expect(peekAt({ ...PLAIN, output_config: { effort: 'low' } }).needs).toHaveLength(1);
});

test.each([
  [{ type: 'enabled', budget_tokens: 63 }, undefined, { effort: null, budgetTokens: 63, hideReasoning: false }],
  [{ type: 'adaptive' }, undefined, { effort: 'high', budgetTokens: null, hideReasoning: false }],
  [
    { type: 'adaptive', display: 'omitted' },
    { effort: 'max' },
    { effort: 'max', budgetTokens: null, hideReasoning: true },
  ],
  [{ type: 'disabled' }, { effort: 'low' }, { effort: 'none', budgetTokens: null, hideReasoning: false }],
  [undefined, { effort: 'low' }, { effort: 'low', budgetTokens: null, hideReasoning: false }],
])('thinking %j with %j is understood', (thinking, output_config, expected) => {
  expect(peekAt({ ...PLAIN, thinking, output_config }).reasoning).toMatchObject(expected);
});

describe('the prompt weighs', () => {
  test.each<[string, object, number, number]>([
    ['text of both spellings', withContent([{ type: 'text', text: 'é' }]), 2, 0],
    ['the system prompt', { ...PLAIN, system: 'abc' }, 5 + 3, 0],
    [
      'system blocks',
      { ...PLAIN, system: [{ type: 'text', text: 'abc', cache_control: { type: 'ephemeral' } }] },
      8,
      0,
    ],
    [
      'a trace and its proof',
      withContent([{ type: 'thinking', thinking: 'abc', signature: 'defg' }], 'assistant'),
      7,
      0,
    ],
    [
      'what nobody knows of a block',
      withContent(
        [
          { type: 'text', text: 'a', hidden: 'five5' },
          { type: 'thinking', thinking: '', hidden: 'five5' },
          { type: 'redacted_thinking', data: '', hidden: 'five5' },
          { type: 'tool_use', id: '', name: '', input: {}, hidden: 'five5' },
        ],
        'assistant',
      ),
      1 + 4 * 5,
      2,
    ],
    [
      'unknown members of an image',
      withContent([
        { type: 'image', source: { type: 'url', url: 'https://x', hidden: 'five5' }, hidden: 'five5' },
        { type: 'search_result', source: 's', title: 't', content: [], hidden: 'five5' },
      ]),
      3 * 5 + 2,
      0,
    ],
    ['a redacted trace', withContent([{ type: 'redacted_thinking', data: 'abcd' }], 'assistant'), 4, 0],
    ['a tool call', withContent([{ type: 'tool_use', id: 'ab', name: 'tide', input: { at: 9 } }], 'assistant'), 2, 12],
    ['a tool result', withContent([{ type: 'tool_result', tool_use_id: 'ab', content: 'low' }]), 5, 0],
    [
      'a nested one',
      withContent([{ type: 'tool_result', tool_use_id: 'ab', content: [{ type: 'text', text: 'low' }] }]),
      5,
      0,
    ],
    [
      'a search result',
      withContent([{ type: 'search_result', source: 'a', title: 'b', content: [{ type: 'text', text: 'c' }] }]),
      3,
      0,
    ],
    ['an unknown member', withContent([{ type: 'text', text: 'a', citations: [{ cited_text: 'x' }] }]), 1 + 20, 0],
    ['an unknown field', { ...PLAIN, incantation: 'abc' }, 5 + 3, 0],
    ['schemas as they stand', { ...PLAIN, output_config: { format: {} }, tool_choice: {} }, 5, 13 + 2],
  ])('%s', (_what, body, textBytes, toolBytes) => {
    expect(peekAt(body).size).toMatchObject({ textBytes, toolBytes });
  });

  test('messages, the system prompt among them, tools and images, wherever these stand', () => {
    const nested = { type: 'tool_result', tool_use_id: 'a', content: [IMAGE, { type: 'text', text: '' }] };
    const url = { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } };
    const tools = [
      { name: 'a', input_schema: {} },
      { type: 'custom', name: 'b', input_schema: {} },
    ];
    const body = { ...withContent([IMAGE, nested, url]), system: 'x', tools };
    expect(peekAt(body).size).toMatchObject({ messages: 2, tools: 2, images: 3, parts: 7 });
  });

  test('a response format counts as a tool, an effort does not', () => {
    expect(peekAt({ ...PLAIN, output_config: { format: { type: 'json_schema', schema: {} } } }).size.tools).toBe(1);
    expect(peekAt({ ...PLAIN, output_format: { type: 'json_schema', schema: {} } }).size.tools).toBe(1);
    expect(peekAt({ ...PLAIN, output_config: { effort: 'low' } }).size.tools).toBe(0);
  });

  test('the same texts are counted where they can be', () => {
    const body = { ...withContent([{ type: 'text', text: 'a' }, IMAGE]), system: 's', odd: 'o', tools: [TOOL] };
    expect(texts(textOf(body))).toEqual({ texts: ['s', 'a', 'o'], toolTexts: [JSON.stringify([TOOL])] });
  });
});

test('labels say whose request it is', () => {
  expect(peekAt({ ...PLAIN, metadata: { user_id: 'u-1', n: 3 }, user: 'me' }).labels).toEqual({
    user: 'me',
    'metadata.user_id': 'u-1',
  });
});

describe('refused', () => {
  test.each<[object, string]>([
    [{ ...PLAIN, model: undefined }, 'model'],
    [{ ...PLAIN, max_tokens: undefined }, 'max_tokens'],
    [{ ...PLAIN, max_tokens: null }, 'max_tokens'],
    [{ ...PLAIN, messages: undefined }, 'messages'],
  ])('%j lacks %s', (body, param) => {
    expect(refused(body)).toEqual({ code: 'missing_required_parameter', param });
  });

  test.each<[unknown, string]>([
    [{ ...PLAIN, model: '' }, 'model'],
    [{ ...PLAIN, max_tokens: 0 }, 'max_tokens'],
    [{ ...PLAIN, max_tokens: 1.5 }, 'max_tokens'],
    [{ ...PLAIN, max_tokens: '64' }, 'max_tokens'],
    [{ ...PLAIN, messages: [] }, 'messages'],
    [{ ...PLAIN, messages: 'hi' }, 'messages'],
    [{ ...PLAIN, messages: ['hi'] }, 'messages[0]'],
    [{ ...PLAIN, messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].role'],
    [withContent(undefined), 'messages[0].content'],
    [withContent([null]), 'messages[0].content[0]'],
    [withContent([{ type: 7 }]), 'messages[0].content[0].type'],
    [withContent([{ type: 'text' }]), 'messages[0].content[0].text'],
    [withContent([{ type: 'image' }]), 'messages[0].content[0].source'],
    [withContent([{ type: 'image', source: { type: 'x' } }]), 'messages[0].content[0].source.type'],
    [
      withContent([{ type: 'image', source: { type: 'base64', media_type: 'application/pdf', data: '' } }]),
      'messages[0].content[0].source.media_type',
    ],
    [
      withContent([{ type: 'image', source: { type: 'url', url: 'file:///etc/passwd' } }]),
      'messages[0].content[0].source.url',
    ],
    [withContent([{ type: 'tool_use', id: 'a', name: 'b' }]), 'messages[0].content[0].input'],
    [withContent([{ type: 'tool_result' }]), 'messages[0].content[0].tool_use_id'],
    [withContent([{ type: 'tool_result', tool_use_id: 'a', content: 7 }]), 'messages[0].content[0].content'],
    [withContent([{ type: 'thinking' }]), 'messages[0].content[0].thinking'],
    [{ ...PLAIN, system: 7 }, 'system'],
    [{ ...PLAIN, system: [{ type: 'text' }] }, 'system[0].text'],
    [{ ...PLAIN, tools: {} }, 'tools'],
    [{ ...PLAIN, tools: ['a'] }, 'tools[0]'],
    [{ ...PLAIN, tools: [{ name: 'a' }] }, 'tools[0].input_schema'],
    [{ ...PLAIN, tools: [{ input_schema: {} }] }, 'tools[0].name'],
    [{ ...PLAIN, tools: [{ type: 7 }] }, 'tools[0].type'],
    [{ ...PLAIN, stop_sequences: 'x' }, 'stop_sequences'],
    [{ ...PLAIN, stop_sequences: [1] }, 'stop_sequences'],
    [{ ...PLAIN, temperature: 'hot' }, 'temperature'],
    [{ ...PLAIN, stream: 'yes' }, 'stream'],
    [{ ...PLAIN, metadata: 'x' }, 'metadata'],
    [{ ...PLAIN, thinking: true }, 'thinking'],
    [{ ...PLAIN, thinking: {} }, 'thinking.type'],
    [{ ...PLAIN, thinking: { type: 'enabled' } }, 'thinking.budget_tokens'],
    [{ ...PLAIN, max_tokens: 2048, thinking: { type: 'enabled', budget_tokens: 2048 } }, 'thinking.budget_tokens'],
    [{ ...PLAIN, output_config: { effort: 'huge' } }, 'output_config.effort'],
  ])('%j: the value of %s is wrong', (body, param) => {
    expect(refused(body)).toEqual({ code: 'invalid_value', param });
  });

  test.each<[object, string]>([
    [withContent([{ type: 'document', source: { type: 'url', url: 'https://x' } }]), 'messages[0].content[0].source'],
    [withContent([{ type: 'container_upload', file_id: 'f' }]), 'messages[0].content[0].type'],
    [withContent([{ type: 'server_tool_use' }]), 'messages[0].content[0].type'],
    [withContent([{ type: 'web_search_tool_result' }]), 'messages[0].content[0].type'],
    [withContent([{ type: 'mcp_tool_use' }]), 'messages[0].content[0].type'],
    [withContent([{ type: 'compaction' }]), 'messages[0].content[0].type'],
    [withContent([{ type: 'constructor' }]), 'messages[0].content[0].type'],
    [
      withContent([{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'tool_use' }] }]),
      'messages[0].content[0].content[0].type',
    ],
    [withContent([{ type: 'image', source: { type: 'file', file_id: 'f' } }]), 'messages[0].content[0].source'],
    [{ ...PLAIN, system: [IMAGE] }, 'system[0].type'],
    ...[
      'web_search_20250305',
      'web_fetch_20250910',
      'code_execution_20250825',
      'browser_toolset_20260801',
      'advisor_20260301',
      'tool_search_tool_bm25_20251119',
      'mcp_toolset',
    ].map((type): [object, string] => [{ ...PLAIN, tools: [{ type, name: 'x' }] }, 'tools[0].type']),
    ...[
      ['provider', { order: ['a'] }],
      ['models', ['a', 'b']],
      ['route', 'fallback'],
      ['fallbacks', [{ model: 'x' }]],
      ['transforms', ['middle-out']],
      ['plugins', [{ id: 'web' }]],
      ['preset', 'p'],
      ['prompt', { id: 'p' }],
      ['guardrails', ['g']],
      ['moderation', true],
      ['truncation', 'auto'],
      ['context_management', { edits: [{}] }],
      ['previous_response_id', 'r'],
      ['conversation', 'c'],
      ['item_reference', 'i'],
      ['background', true],
      ['store', true],
      ['prediction', { content: 'x' }],
      ['web_search_options', {}],
      ['audio', { voice: 'x' }],
      ['modalities', ['text', 'audio']],
      ['service_tier', 'priority'],
      ['speed', 'fast'],
      ['inference_geo', 'us'],
      ['container', 'c'],
      ['mcp_servers', [{}]],
      ['compaction', { type: 'x' }],
      ['thread', { type: 'create' }],
      ['workspace_id', 'w'],
      ['user_profile_id', 'u'],
      ['n', 2],
      ['best_of', 2],
      ['max_completion_tokens', 9],
      ['max_output_tokens', 9],
      ['max_tokens_to_sample', 9],
    ].map(([name, value]): [object, string] => [{ ...PLAIN, [name as string]: value }, name as string]),
  ])('%j has no price: %s', (body, param) => {
    expect(refused(body)).toEqual({ code: 'unsupported_feature', param });
  });

  test('a body that is not an object', () => {
    expect(refused([])).toEqual({ code: 'invalid_request_body', param: null });
  });
});

test('what asks for nothing passes', () => {
  const nothing = {
    service_tier: 'standard_only',
    speed: 'standard',
    inference_geo: 'global',
    models: ['claude-harbour'],
    provider: {},
    fallbacks: [],
    container: null,
    mcp_servers: [],
    truncation: 'disabled',
    store: false,
    modalities: ['text'],
    n: 1,
    tools: null,
    system: null,
    thinking: null,
  };
  expect(refused({ ...PLAIN, ...nothing })).toBeNull();
  expect(refused({ ...PLAIN, service_tier: 'auto' })).toBeNull();
});

test('a system message may be among the others: the host decides which version allows it', () => {
  const conversation = [
    ...PLAIN.messages,
    { role: 'assistant', content: 'Nine.' },
    { role: 'system', content: 'Be brief.' },
  ];
  expect(refused({ ...PLAIN, messages: conversation })).toBeNull();
});

describe('headers', () => {
  const headersFor = (headers: Record<string, string>) => peekAt(PLAIN, headers).hostHeaders;

  test.each(['2023-06-01', '2026-10-21'])('version %s is known in both spellings', (version) => {
    const expected = { 'anthropic-version': version };
    expect(headersFor({ 'anthropic-version': version })).toEqual(expected);
    expect(headersFor({ 'messages-version': version })).toEqual(expected);
    expect(headersFor({ 'messages-version': version, 'anthropic-version': version })).toEqual(expected);
  });

  test.each([
    { 'anthropic-version': '2024-01-01' },
    { 'messages-version': '' },
    { 'anthropic-version': '2023-06-01, 2023-06-01' },
    { 'anthropic-version': '2023-06-01', 'messages-version': '2026-10-21' },
  ])('%j is refused, and the message lists what is known', (headers) => {
    const read = () => peekAt(PLAIN, headers);
    expect(refusalOf(read)).toMatchObject({ code: 'invalid_header' });
    expect(read).toThrow(/2023-06-01, 2026-10-21|differ/);
  });

  test('the receipt event comes unless the caller does without it', () => {
    const wanted = (headers: Record<string, string>) => peekAt(PLAIN, headers).wantsUsageFrame;
    expect(wanted({})).toBe(true);
    expect(wanted({ 'x-gateway-receipt-event': 'none' })).toBe(false);
    expect(refusalOf(() => wanted({ 'x-gateway-receipt-event': 'all' }))).toMatchObject({ code: 'invalid_header' });
  });

  test('betas are passed on, known or not, except one that would enlarge the window beyond the hold', () => {
    const headers = { 'anthropic-beta': 'interleaved-thinking-2025-05-14, context-1m-2025-08-07,from-the-future' };
    expect(headersFor(headers)).toMatchObject({ 'anthropic-beta': 'interleaved-thinking-2025-05-14,from-the-future' });
    expect(headersFor({ 'anthropic-beta': 'context-1m-2025-08-07' })).not.toHaveProperty('anthropic-beta');
  });

  test.each(['x'.repeat(2001), 'a\u0001b', 'é'])('a list of betas that no header should hold is refused', (betas) => {
    expect(refusalOf(() => peekAt(PLAIN, { 'anthropic-beta': betas }))).toEqual({
      code: 'invalid_header',
      param: 'anthropic-beta',
    });
  });
});

test('every recorded request of this wire passes, but for the one with tools that a host runs', async () => {
  const { existsSync, readdirSync, readFileSync } = await import('node:fs');
  const folder = new URL('../../../../shared/corpus/anthropic-messages/', import.meta.url);
  expect(allRecordings().hasCorpus).toBe(existsSync(folder));
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.req.json'))) {
    const body = JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
    const expected = name.startsWith('usage-grows') ? { code: 'unsupported_feature', param: 'tools[2].type' } : null;
    expect(refused(body), name).toEqual(expected);
  }
});
