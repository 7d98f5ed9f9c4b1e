import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../canonical/errors.ts';
import type { CanonicalRequest } from '../../canonical/request.ts';
import { scanJson } from '../../json/json.ts';
import { wrapForeign } from '../fields/foreign-reasoning.ts';
import { peek } from './peek.ts';
import { readRequest } from './read-request.ts';

const LIMITS = { depthMax: 64, nodesMax: 100_000, keysMax: 100_000, numberDigitsMax: 400, keyBytesMax: 4096 };

function read(fields: Record<string, unknown>): CanonicalRequest {
  const text = scanJson(Buffer.from(JSON.stringify({ model: 'm', input: 'hi', ...fields })), LIMITS);
  return readRequest(text, peek(text));
}

function refusal(fields: Record<string, unknown>): unknown {
  try {
    read(fields);
  } catch (error) {
    return error instanceof GatewayError ? [error.kind, error.param] : error;
  }
  return 'was let through';
}

describe('messages', () => {
  test('a string is a user message, and instructions come before it', () => {
    expect(read({ instructions: 'Be brief.' }).messages).toEqual([
      { role: 'system', blocks: [{ kind: 'text', text: 'Be brief.' }] },
      { role: 'user', blocks: [{ kind: 'text', text: 'hi' }] },
    ]);
  });

  test('a tool loop: one turn of the assistant, one message of results, then the user', () => {
    const input = [
      { role: 'developer', content: 'Use tools.' },
      { role: 'user', content: 'Weather?' },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [
          { type: 'summary_text', text: 'a' },
          { type: 'summary_text', text: 'b' },
        ],
        encrypted_content: 'enc',
      },
      {
        type: 'message',
        role: 'assistant',
        phase: 'commentary',
        id: 'msg_1',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Looking.', annotations: [] }],
      },
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'w', arguments: '{"p":1}', status: 'completed' },
      { type: 'function_call', call_id: 'call_2', name: 'w', arguments: '' },
      { type: 'function_call_output', call_id: 'call_1', output: 'sun' },
      {
        type: 'function_call_output',
        call_id: 'call_2',
        output: [
          { type: 'input_text', text: 'rain' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
        ],
      },
      { role: 'user', content: [{ type: 'input_text', text: 'And?' }] },
    ];
    expect(read({ input }).messages).toEqual([
      { role: 'system', blocks: [{ kind: 'text', text: 'Use tools.' }] },
      { role: 'user', blocks: [{ kind: 'text', text: 'Weather?' }] },
      {
        role: 'assistant',
        blocks: [
          {
            kind: 'reasoning',
            text: 'a\n\nb',
            opaque: { vendor: 'responses', form: 'encrypted', data: 'enc', id: 'rs_1' },
          },
          { kind: 'text', text: 'Looking.' },
          { kind: 'tool-call', id: 'call_1', name: 'w', argumentsJson: '{"p":1}' },
          { kind: 'tool-call', id: 'call_2', name: 'w', argumentsJson: '' },
        ],
      },
      {
        role: 'user',
        blocks: [
          { kind: 'tool-result', callId: 'call_1', content: [{ kind: 'text', text: 'sun' }], isError: false },
          {
            kind: 'tool-result',
            callId: 'call_2',
            content: [
              { kind: 'text', text: 'rain' },
              { kind: 'image', source: { kind: 'inline', mediaType: 'image/png', base64: 'AAAA' }, detail: null },
            ],
            isError: false,
          },
        ],
      },
      { role: 'user', blocks: [{ kind: 'text', text: 'And?' }] },
    ]);
  });

  test('reasoning that another vendor signed comes back unchanged, and an empty item is dropped', () => {
    const opaque = { vendor: 'another', form: 'signature', data: 'sig', id: 'x' } as const;
    const input = [
      { type: 'reasoning', id: 'rs_0', summary: [] },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: wrapForeign(opaque) },
      { type: 'reasoning', id: 'rs_2', summary: [], content: [{ type: 'reasoning_text', text: 'raw' }] },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
    ];
    expect(read({ input }).messages).toEqual([
      {
        role: 'assistant',
        blocks: [
          { kind: 'reasoning', text: '', opaque },
          { kind: 'reasoning', text: 'raw', opaque: null },
          { kind: 'refusal', text: 'No.' },
        ],
      },
    ]);
  });

  test('a cache breakpoint is a mark on its part', () => {
    const part = { type: 'input_text', text: 'long', prompt_cache_breakpoint: { mode: 'explicit' } };
    expect(read({ input: [{ role: 'user', content: [part] }] }).messages[0]!.blocks).toEqual([
      { kind: 'text', text: 'long', cache: { lifetime: null } },
    ]);
  });
});

describe('the rest', () => {
  test('tools: no word about strict stays no word', () => {
    const tools = [
      { type: 'function', name: 'a', description: 'd', parameters: { type: 'object' }, strict: true },
      { type: 'function', name: 'b' },
    ];
    expect(read({ tools, tool_choice: { type: 'function', name: 'a' }, parallel_tool_calls: false })).toMatchObject({
      tools: [
        { name: 'a', description: 'd', schema: { type: 'object' }, strict: true },
        { name: 'b', description: null, schema: { type: 'object', properties: {} }, strict: null },
      ],
      toolChoice: { kind: 'tool', name: 'a' },
      parallelToolCalls: false,
    });
  });

  test('allowing some tools means offering only those', () => {
    const tools = ['a', 'b'].map((name) => ({ type: 'function', name }));
    const choice = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'b' }] };
    expect(read({ tools, tool_choice: choice })).toMatchObject({
      tools: [{ name: 'b' }],
      toolChoice: { kind: 'required' },
    });
  });

  test('allowing a tool that is not offered is refused: the model would have fewer tools than the caller thinks', () => {
    const allowed = ['a', 'c'].map((name) => ({ type: 'function', name }));
    const choice = { type: 'allowed_tools', mode: 'auto', tools: allowed };
    const reading = () => read({ tools: [{ type: 'function', name: 'a' }], tool_choice: choice });
    expect(reading).toThrow(expect.objectContaining({ kind: 'invalid_value', param: 'tool_choice.tools[1]' }));
  });

  test('sampling, format and effort', () => {
    const format = { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true };
    const request = read({
      temperature: 0.2,
      top_p: 0.3,
      frequency_penalty: 1,
      presence_penalty: 2,
      text: { format },
      reasoning: { effort: 'low' },
    });
    expect(request.sampling).toMatchObject({
      temperature: 0.2,
      topP: 0.3,
      frequencyPenalty: 1,
      presencePenalty: 2,
      stop: [],
    });
    expect(request.responseFormat).toEqual({
      kind: 'schema',
      name: 'n',
      description: null,
      schema: { type: 'object' },
      strict: true,
    });
    expect(request.reasoning).toEqual({ effort: 'low', budgetTokens: null });
  });

  test('a format in the chat wire’s place is mapped, never refused', () => {
    const chatFormat = { type: 'json_schema', json_schema: { name: 'n', schema: {} } };
    expect(read({ response_format: chatFormat }).responseFormat).toMatchObject({ kind: 'schema', name: 'n' });
    expect(read({ response_format: { type: 'json_object' } }).responseFormat).toEqual({ kind: 'json' });
  });

  test('what asks nothing of a host is let through', () => {
    const fields = {
      store: false,
      include: ['reasoning.encrypted_content'],
      stream: true,
      stream_options: { include_usage: true },
      service_tier: 'auto',
      truncation: 'disabled',
      metadata: { a: 'b' },
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
      max_tool_calls: 2,
      top_logprobs: 0,
      text: { verbosity: 'medium' },
      previous_response_id: null,
      background: false,
      n: 1,
    };
    expect(() => read(fields)).not.toThrow();
  });
});

describe('tools of other kinds are functions', () => {
  const tools = [
    { type: 'custom', name: 'patch' },
    {
      type: 'namespace',
      name: 'crm',
      tools: [
        { type: 'function', name: 'list' },
        { type: 'function', name: 'sum' },
      ],
    },
  ];

  test('the members of a namespace, with its name, and custom tools, with one argument', () => {
    expect(read({ tools }).tools).toMatchObject([
      { name: 'patch', schema: { required: ['input'] }, strict: false },
      { name: 'crm__list', schema: { type: 'object' }, strict: null },
      { name: 'crm__sum' },
    ]);
  });

  test('their calls and results in earlier turns', () => {
    const input = [
      { type: 'custom_tool_call', id: 'ctc_1', call_id: 'a', name: 'patch', input: 'x"y' },
      { type: 'function_call', call_id: 'b', name: 'list', namespace: 'crm', arguments: '{}' },
      { type: 'custom_tool_call_output', call_id: 'a', output: 'done' },
      { type: 'function_call_output', call_id: 'b', output: 'none' },
    ];
    expect(read({ tools, input }).messages).toMatchObject([
      {
        role: 'assistant',
        blocks: [
          { kind: 'tool-call', id: 'a', name: 'patch', argumentsJson: '{"input":"x\\"y"}' },
          { kind: 'tool-call', id: 'b', name: 'crm__list', argumentsJson: '{}' },
        ],
      },
      { role: 'user', blocks: [{ callId: 'a' }, { callId: 'b' }] },
    ]);
  });

  test('the choice of one of them, or of several', () => {
    expect(read({ tools, tool_choice: { type: 'custom', name: 'patch' } }).toolChoice).toEqual({
      kind: 'tool',
      name: 'patch',
    });
    const allowed = [
      { type: 'function', name: 'sum', namespace: 'crm' },
      { type: 'custom', name: 'patch' },
    ];
    const some = read({ tools, tool_choice: { type: 'allowed_tools', mode: 'required', tools: allowed } });
    expect(some.toolChoice).toEqual({ kind: 'required' });
    expect(some.tools.map(({ name }) => name)).toEqual(['patch', 'crm__sum']);
  });
});

describe('what the canonical form has no member for is refused by name', () => {
  test.each([
    [{ vendor_extra: 1 }, 'vendor_extra'],
    [{ top_logprobs: 3 }, 'top_logprobs'],
    [{ include: ['message.output_text.logprobs'] }, 'include[0]'],
    [{ text: { verbosity: 'loud' } }, 'text.verbosity'],
    [{ text: { format: { type: 'grammar' } } }, 'text.format.type'],
    [{ stop: ['x'] }, 'stop'],
  ])('%o', (fields, param) => {
    expect(refusal(fields)).toEqual(['unsupported_parameter', param]);
  });
});
