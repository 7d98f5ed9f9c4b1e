import { describe, expect, test } from 'vitest';
import { REQUEST, SAMPLING } from '../../../test/shortest-request.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { Block, CanonicalMessage, CanonicalRequest } from '../../canonical/request.ts';
import type { HubRequestTerms } from '../hub.ts';
import { writeRequest } from './write-request.ts';

const TERMS: HubRequestTerms = {
  hostModel: 'host-model',
  stream: false,
  outputLimit: 321,
  outputLimitField: 'max_output_tokens',
  reasoningEffort: null,
  thinking: null,
};

const ASK: CanonicalRequest = { ...REQUEST, messages: [{ role: 'user', blocks: [{ kind: 'text', text: 'hi' }] }] };

function written(request: Partial<CanonicalRequest> = {}, terms: Partial<HubRequestTerms> = {}) {
  return JSON.parse(writeRequest({ ...ASK, ...request }, { ...TERMS, ...terms }).toString());
}

const turn = (...blocks: Block[]): CanonicalMessage => ({ role: 'assistant', blocks });
const own = { vendor: 'responses', form: 'encrypted', data: 'enc', id: 'rs_1' } as const;

test('the plain case says nothing more than it must', () => {
  expect(written()).toEqual({
    model: 'host-model',
    input: [{ role: 'user', content: 'hi' }],
    max_output_tokens: 321,
    store: false,
  });
  expect(written({}, { stream: true }).stream).toBe(true);
});

test('fields that the host’s row omits or adds', () => {
  const quirks = { omits: ['prompt_cache_retention'], adds: { region: 'eu' } };
  const body = written({ cacheRetention: '24h' }, { quirks });
  expect(body).toMatchObject({ region: 'eu' });
  expect(body).not.toHaveProperty('prompt_cache_retention');
});

test('an output limit below the least that the host takes is refused by the name of the caller’s field', () => {
  const terms = { quirks: { outputLimitMin: 16 }, callersLimitField: 'max_completion_tokens' };
  expect(written({}, { ...terms, outputLimit: 16 }).max_output_tokens).toBe(16);
  expect(() => written({}, { ...terms, outputLimit: 15 })).toThrow('`max_completion_tokens` must be at least 16');
  expect(written({}, { outputLimit: 1 }).max_output_tokens).toBe(1);
});

test('an empty question is asked, because the model would answer something else without it', () => {
  const empty: CanonicalMessage = { role: 'user', blocks: [] };
  expect(written({ messages: [empty] }).input).toEqual([{ role: 'user', content: '' }]);
  expect(written({ messages: [...ASK.messages, turn({ kind: 'text', text: 'a' }), empty] }).input.at(-1)).toEqual({
    role: 'user',
    content: '',
  });
});

test('ids of calls that are empty or too long for the host are replaced in call and result', () => {
  const ids = ['', 'c'.repeat(65), 'c'.repeat(64)];
  const call = (id: string): Block => ({ kind: 'tool-call', id, name: 'open', argumentsJson: '{}' });
  const result = (callId: string): Block => ({ kind: 'tool-result', callId, content: [], isError: false });
  const { input } = written({ messages: [turn(...ids.map(call)), { role: 'user', blocks: ids.map(result) }] });
  const sent = input.map(({ call_id: id }: { call_id: string }) => id);
  expect(sent.slice(0, 3)).toEqual(sent.slice(3));
  expect(sent.slice(0, 3)).toEqual([expect.stringMatching(/^call_/), expect.stringMatching(/^call_/), ids[2]]);
});

describe('messages', () => {
  test('the first system text is the instructions, others keep their place', () => {
    const system = (text: string): CanonicalMessage => ({ role: 'system', blocks: [{ kind: 'text', text }] });
    expect(written({ messages: [system('a'), system('b'), ...ASK.messages] })).toMatchObject({
      instructions: 'a',
      input: [{ role: 'system', content: 'b' }, { role: 'user' }],
    });
  });

  test('reasoning goes back only to its vendor, and never without the item after it', () => {
    const text = { kind: 'text', text: 'So.' } as const;
    const messages = [
      turn(
        { kind: 'reasoning', text: 't', opaque: own },
        { kind: 'reasoning', text: 'foreign', opaque: { vendor: 'another', form: 'signature', data: 's' } },
        { kind: 'reasoning', text: 'plain', opaque: null },
        text,
        { kind: 'reasoning', text: 'orphan', opaque: own },
      ),
    ];
    expect(written({ messages }).input).toEqual([
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 't' }], encrypted_content: 'enc' },
      { role: 'assistant', content: [{ type: 'output_text', text: 'So.' }] },
    ]);
  });

  test('calls, results and images', () => {
    const messages: CanonicalMessage[] = [
      turn({ kind: 'tool-call', id: 'c1', name: 'f', argumentsJson: '' }),
      {
        role: 'user',
        blocks: [
          {
            kind: 'tool-result',
            callId: 'c1',
            content: [
              { kind: 'image', source: { kind: 'inline', mediaType: 'image/png', base64: 'AA' }, detail: 'low' },
            ],
            isError: true,
          },
          { kind: 'tool-result', callId: 'c2', content: [], isError: false },
          { kind: 'text', text: 'and' },
          { kind: 'image', source: { kind: 'url', url: 'https://x.example/y' }, detail: null },
        ],
      },
    ];
    expect(written({ messages }).input).toEqual([
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      {
        type: 'function_call_output',
        call_id: 'c1',
        output: [{ type: 'input_image', image_url: 'data:image/png;base64,AA', detail: 'low' }],
      },
      { type: 'function_call_output', call_id: 'c2', output: '' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'and' },
          { type: 'input_image', image_url: 'https://x.example/y' },
        ],
      },
    ]);
  });
});

test('a tool that said nothing about strict is not strict here either', () => {
  const tools = [null, true, false].map((strict) => ({ name: 'f', description: null, schema: {}, strict }));
  expect(written({ tools }).tools.map((tool: { strict: boolean }) => tool.strict)).toEqual([false, true, false]);
});

test('writes the response format, the tool choice and sampling', () => {
  expect(
    written({
      responseFormat: { kind: 'schema', name: 'n', description: null, schema: { a: 1 }, strict: true },
      toolChoice: { kind: 'tool', name: 'f' },
      parallelToolCalls: false,
      sampling: { ...SAMPLING, temperature: 0, topP: 1, frequencyPenalty: 0, presencePenalty: 0 },
    }),
  ).toMatchObject({
    text: { format: { type: 'json_schema', name: 'n', schema: { a: 1 }, strict: true } },
    tool_choice: { type: 'function', name: 'f' },
    parallel_tool_calls: false,
    temperature: 0,
    top_p: 1,
  });
});

describe('reasoning', () => {
  test.each([
    [
      { reasoningEffort: 'high', thinking: 'effort' },
      { effort: 'high', summary: 'auto' },
      ['reasoning.encrypted_content'],
    ],
    [{ reasoningEffort: 'none', thinking: 'effort' }, { effort: 'none' }, ['reasoning.encrypted_content']],
    [{ reasoningEffort: null, thinking: 'effort' }, undefined, ['reasoning.encrypted_content']],
    [{ reasoningEffort: null, thinking: null }, undefined, undefined],
  ] as const)('%o', (terms, reasoning, include) => {
    const body = written({}, terms);
    expect([body.reasoning, body.include]).toEqual([reasoning, include]);
  });
});

describe('what this wire has no word for is refused by the caller’s name for it', () => {
  test.each([
    [{ stop: ['x'] }, 'stop'],
    [{ topK: 5 }, 'top_k'],
    [{ frequencyPenalty: 0.5 }, 'frequency_penalty'],
    [{ presencePenalty: 0.5 }, 'presence_penalty'],
    [{ seed: 1 }, 'seed'],
  ])('%o', (sampling, param) => {
    const write = (): unknown => written({ sampling: { ...SAMPLING, ...sampling } });
    expect(write).toThrow(GatewayError);
    expect(write).toThrow(expect.objectContaining({ kind: 'unsupported_parameter', param }));
  });
});
