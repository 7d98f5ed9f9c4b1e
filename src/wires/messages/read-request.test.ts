import { describe, expect, test } from 'vitest';
import { PLAIN, peekAt, refusalOf, textOf } from '../../../test/messages-request.ts';
import { Adjustments } from '../adjustments.ts';
import { wrapForeign } from '../fields/foreign-reasoning.ts';
import { readRequest } from './read-request.ts';
import { VENDOR } from './vendor-headers.ts';

function read(body: object | string) {
  return readRequest(textOf(body), peekAt(body));
}

test('system, user and assistant text, plain or in blocks, with cache marks', () => {
  const cache_control = { type: 'ephemeral', ttl: '1h' };
  const body = {
    ...PLAIN,
    system: [
      { type: 'text', text: 'Be brief.', cache_control },
      { type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral' } },
    ],
    messages: [
      { role: 'user', content: 'When?' },
      { role: 'assistant', content: [{ type: 'text', text: 'Nine.', citations: null }] },
      { role: 'system', content: 'Now in Dutch.' },
      { role: 'user', content: '' },
    ],
  };
  expect(read(body).messages).toEqual([
    {
      role: 'system',
      blocks: [
        { kind: 'text', text: 'Be brief.', cache: { lifetime: '1h' } },
        { kind: 'text', text: 'Be kind.', cache: { lifetime: null } },
      ],
    },
    { role: 'user', blocks: [{ kind: 'text', text: 'When?' }] },
    { role: 'assistant', blocks: [{ kind: 'text', text: 'Nine.' }] },
    { role: 'system', blocks: [{ kind: 'text', text: 'Now in Dutch.' }] },
  ]);
});

test('a tool loop with signed, redacted and foreign reasoning', () => {
  const foreign = { vendor: 'somebody', form: 'encrypted', data: 'x', id: 'rs_1' } as const;
  const body = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[
    {"type":"thinking","thinking":"Hm.","signature":"EqQB+/=="},{"type":"redacted_thinking","data":"seal"},
    {"type":"thinking","thinking":"","signature":"${wrapForeign(foreign)}"},{"type":"thinking","thinking":"unsigned","signature":""},
    {"type":"tool_use","id":"t1","name":"tide","input":{ "at": 12345678901234567890 },"caller":{"type":"direct"}},
    {"type":"tool_use","id":"t2","name":"wind","input":{}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"low","is_error":false},
    {"type":"tool_result","tool_use_id":"t2","is_error":true,"cache_control":{"type":"ephemeral"},
     "content":[{"type":"text","text":"none"},{"type":"image","source":{"type":"url","url":"https://a.example/b.png"}}]}]}]}`;
  const [, assistant, results] = read(body).messages;
  expect(assistant?.blocks).toEqual([
    { kind: 'reasoning', text: 'Hm.', opaque: { vendor: VENDOR, form: 'signature', data: 'EqQB+/==' } },
    { kind: 'reasoning', text: '', opaque: { vendor: VENDOR, form: 'redacted', data: 'seal' } },
    { kind: 'reasoning', text: '', opaque: foreign },
    { kind: 'reasoning', text: 'unsigned', opaque: null },
    { kind: 'tool-call', id: 't1', name: 'tide', argumentsJson: '{ "at": 12345678901234567890 }' },
    { kind: 'tool-call', id: 't2', name: 'wind', argumentsJson: '{}' },
  ]);
  expect(results?.blocks).toEqual([
    { kind: 'tool-result', callId: 't1', content: [{ kind: 'text', text: 'low' }], isError: false },
    {
      kind: 'tool-result',
      callId: 't2',
      content: [
        { kind: 'text', text: 'none' },
        { kind: 'image', source: { kind: 'url', url: 'https://a.example/b.png' }, detail: null },
      ],
      isError: true,
      cache: { lifetime: null },
    },
  ]);
});

test('reads images that are inline and images by URL', () => {
  const source = { type: 'base64', media_type: 'image/png', data: 'iVBO' };
  const byUrl = { type: 'image', source: { type: 'url', url: 'https://a.example' } };
  const body = { ...PLAIN, messages: [{ role: 'user', content: [{ type: 'image', source }, byUrl] }] };
  expect(read(body).messages[0]?.blocks).toEqual([
    { kind: 'image', source: { kind: 'inline', mediaType: 'image/png', base64: 'iVBO' }, detail: null },
    { kind: 'image', source: { kind: 'url', url: 'https://a.example' }, detail: null },
  ]);
});

test('tools, what the model may call, and how often', () => {
  const schema = { type: 'object', properties: {} };
  const tools = [
    {
      name: 'tide',
      description: 'High or low',
      input_schema: schema,
      strict: true,
      cache_control: { type: 'ephemeral' },
    },
    {
      type: 'custom',
      name: 'wind',
      input_schema: schema,
      eager_input_streaming: true,
      input_examples: [],
      allowed_callers: ['direct'],
    },
  ];
  const choosing = (tool_choice: unknown) => {
    const { toolChoice, parallelToolCalls } = read({ ...PLAIN, tools, tool_choice });
    return [toolChoice, parallelToolCalls];
  };
  expect(read({ ...PLAIN, tools }).tools).toEqual([
    { name: 'tide', description: 'High or low', schema, strict: true, cache: { lifetime: null } },
    { name: 'wind', description: null, schema, strict: null },
  ]);
  expect(choosing(undefined)).toEqual([null, null]);
  expect(choosing({ type: 'auto', disable_parallel_tool_use: false })).toEqual([{ kind: 'auto' }, null]);
  expect(choosing({ type: 'any', disable_parallel_tool_use: true })).toEqual([{ kind: 'required' }, false]);
  expect(choosing({ type: 'tool', name: 'tide' })).toEqual([{ kind: 'tool', name: 'tide' }, null]);
  expect(choosing({ type: 'none' })).toEqual([{ kind: 'none' }, null]);
});

test('a schema with an optional member is not strict elsewhere, where strict hosts refuse it, and that is named once', () => {
  const adjustments = new Adjustments(false);
  const whole = { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] };
  const partial = { type: 'object', properties: { stop: { ...whole, required: [] } }, required: ['stop'] };
  const listed = { type: 'array', items: { anyOf: [partial, { type: 'null' }] } };
  const formatOf = (schema: object) => {
    const body = { ...PLAIN, output_config: { format: { type: 'json_schema', schema } } };
    return readRequest(textOf(body), peekAt(body), adjustments).responseFormat;
  };
  expect(formatOf(whole)).toMatchObject({ strict: true });
  expect(adjustments.describe(null)).toBeNull();
  for (const schema of [partial, listed]) expect(formatOf(schema)).toMatchObject({ schema, strict: false });
  const tools = [whole, partial, partial].map((input_schema, at) => ({ name: `t${at}`, input_schema, strict: true }));
  const body = { ...PLAIN, tools };
  const offered = readRequest(textOf(body), peekAt(body), adjustments).tools;
  expect(offered.map(({ strict }) => strict)).toEqual([true, null, null]);
  expect(adjustments.describe(null)).toBe('output_config.format.strict=dropped,tools.strict=dropped');
});

test('sampling, stop sequences, the answer’s format and reasoning', () => {
  const schema = { type: 'object' };
  const request = read({
    ...PLAIN,
    temperature: 0.5,
    top_p: 0.9,
    top_k: 40,
    stop_sequences: ['\n\nUser:'],
    output_config: { effort: 'max', format: { type: 'json_schema', schema } },
    thinking: { type: 'adaptive' },
  });
  expect(request.sampling).toMatchObject({ temperature: 0.5, topP: 0.9, topK: 40, stop: ['\n\nUser:'], seed: null });
  expect(request.responseFormat).toEqual({ kind: 'schema', name: 'answer', description: null, schema, strict: true });
  expect(request.reasoning).toEqual({ effort: 'max', budgetTokens: null });
  expect(read({ ...PLAIN, output_format: { type: 'json_schema', schema } }).responseFormat).toMatchObject({ schema });
  expect(read({ ...PLAIN, thinking: { type: 'enabled', budget_tokens: 32 } }).reasoning).toEqual({
    effort: null,
    budgetTokens: 32,
  });
  expect(read({ ...PLAIN, thinking: { type: 'disabled' } }).reasoning).toEqual({ effort: 'none', budgetTokens: null });
  expect(read(PLAIN)).toMatchObject({ reasoning: null, responseFormat: null, tools: [] });
});

test('the reasoning and format fields of every wire, and an option of streams that has no effect here', () => {
  const schema = { type: 'object' };
  const format = { type: 'json_schema', json_schema: { name: 'berth', schema } };
  expect(read({ ...PLAIN, reasoning_effort: 'low' }).reasoning).toEqual({ effort: 'low', budgetTokens: null });
  expect(read({ ...PLAIN, reasoning: { max_tokens: 20 } }).reasoning).toEqual({ effort: null, budgetTokens: 20 });
  expect(read({ ...PLAIN, response_format: format }).responseFormat).toMatchObject({ name: 'berth', schema });
  expect(read({ ...PLAIN, response_format: { type: 'json_object' } }).responseFormat).toEqual({ kind: 'json' });
  expect(read({ ...PLAIN, stream: true, stream_options: { include_usage: true } })).toEqual(read(PLAIN));
});

test('labels and tiers are for this gateway', () => {
  const body = { ...PLAIN, metadata: { user_id: 'u' }, service_tier: 'auto', store: false };
  expect(read(body)).toEqual(read(PLAIN));
});

test('marks on the whole and on calls of tools are read', () => {
  const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } };
  const call = { type: 'tool_use', id: 'c1', name: 'f', input: {}, ...mark };
  const { cache, messages } = read({ ...PLAIN, ...mark, messages: [{ role: 'assistant', content: [call] }] });
  expect(cache).toEqual({ lifetime: '1h' });
  expect(messages[0]!.blocks[0]).toMatchObject({ kind: 'tool-call', cache: { lifetime: '1h' } });
});

describe('what the canonical form cannot express is refused by name', () => {
  const block = (content: object) => ({ ...PLAIN, messages: [{ role: 'user', content: [content] }] });
  const tool = (members: object) => ({ ...PLAIN, tools: [{ name: 'a', input_schema: {}, ...members }] });
  test.each<[object, string]>([
    [{ ...PLAIN, from_the_future: 1 }, 'from_the_future'],
    [{ ...PLAIN, diagnostics: { previous_message_id: null } }, 'diagnostics'],
    [{ ...PLAIN, output_config: { task_budget: { type: 'tokens', total: 1000 } } }, 'output_config.task_budget'],
    [{ ...PLAIN, thinking: { type: 'between_tools' } }, 'thinking.type'],
    [tool({ defer_loading: true }), 'tools[0].defer_loading'],
    [tool({ allowed_callers: ['code_execution_20250825'] }), 'tools[0].allowed_callers'],
    [tool({ input_examples: [{}] }), 'tools[0].input_examples'],
    [block({ type: 'text', text: 'x', citations: [{}] }), 'messages[0].content[0].citations'],
    [block({ type: 'search_result', source: 's', title: 't', content: [] }), 'messages[0].content[0].type'],
    [
      block({ type: 'tool_use', id: 'a', name: 'b', input: {}, caller: { type: 'code_execution_20250825' } }),
      'messages[0].content[0].caller',
    ],
    [
      block({ type: 'tool_use', id: 'a', name: 'b', input: {}, toolset_name: 'computer' }),
      'messages[0].content[0].toolset_name',
    ],
    [
      block({
        type: 'tool_result',
        tool_use_id: 'a',
        content: [{ type: 'search_result', source: 's', title: 't', content: [] }],
      }),
      'messages[0].content[0].content[0].type',
    ],
    [
      block({
        type: 'image',
        source: { type: 'url', url: 'https://a.example' },
        transformations: { oversized_image: 'error' },
      }),
      'messages[0].content[0].transformations',
    ],
  ])('%j: %s', (body, param) => {
    expect(refusalOf(() => read(body))).toEqual({ code: 'unsupported_parameter', param });
  });

  test.each<object>([
    { type: 'tool_addition', tool: { type: 'tool_reference', name: 'a' } },
    { type: 'tool_removal', tool: { type: 'tool_reference', name: 'a' } },
    { type: 'tool_result', tool_use_id: 'b', content: [{ type: 'tool_reference', tool_name: 'a' }] },
  ])('%j, and says where to offer the tools', (content) => {
    expect(() => read(block(content))).toThrow(/type` is not supported .*; offer all tools in `tools`/);
  });

  test.each(['bash_20250124', 'text_editor_20250728', 'memory_20250818', 'computer_20251124'])(
    'the tool %s, by its name, even if fields may be dropped',
    (type) => {
      const body = { ...PLAIN, tools: [{ type, name: 'x' }] };
      const readLeniently = () => readRequest(textOf(body), peekAt(body), new Adjustments(true));
      expect(refusalOf(readLeniently)).toEqual({ code: 'unsupported_parameter', param: 'tools[0].type' });
      expect(readLeniently).toThrow(`"${type}" is built into the models of one vendor`);
    },
  );

  test.each<[object, string]>([
    [{ ...PLAIN, tool_choice: { type: 'tool' } }, 'tool_choice.type'],
    [{ ...PLAIN, tool_choice: { type: 'constructor' } }, 'tool_choice.type'],
    [{ ...PLAIN, output_config: { format: { type: 'regex' } } }, 'output_config.format'],
  ])('%j makes no sense: %s', (body, param) => {
    expect(refusalOf(() => read(body))).toEqual({ code: 'invalid_value', param });
  });
});
