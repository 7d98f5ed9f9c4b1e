import { describe, expect, test } from 'vitest';
import { refusalOf } from '../../../test/messages-request.ts';
import { TERMS, write } from '../../../test/messages-write.ts';
import { REQUEST, SAMPLING } from '../../../test/shortest-request.ts';
import type { Block, CanonicalMessage, CanonicalRequest } from '../../canonical/request.ts';
import { Adjustments } from '../adjustments.ts';
import { VENDOR } from './vendor-headers.ts';
import { writeRequest } from './write-request.ts';

const text = (words: string): Block => ({ kind: 'text', text: words });
const ASK: CanonicalMessage = { role: 'user', blocks: [text('When?')] };

function conversation(...messages: CanonicalMessage[]) {
  const { system, messages: written } = write({ messages });
  return { system, messages: written };
}

test('the least there is to say', () => {
  expect(write({})).toEqual({
    model: 'vendor-claude',
    max_tokens: 4096,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'When?' }] }],
  });
  expect(write({}, { stream: true })).toMatchObject({ stream: true });
});

test('tool calls of different turns that have one id get ids of their own, and so do their results', () => {
  const call = (id: string): Block => ({ kind: 'tool-call', id, name: 'tide', argumentsJson: '{}' });
  const result = (callId: string): Block => ({ kind: 'tool-result', callId, content: [], isError: false });
  const turn = (...ids: string[]): CanonicalMessage[] => [
    { role: 'assistant', blocks: ids.map(call) },
    { role: 'user', blocks: ids.map(result) },
  ];
  const idsOf = (...turns: CanonicalMessage[]) =>
    conversation(ASK, ...turns)
      .messages.slice(1)
      .map(({ content }: { content: { id?: string; tool_use_id?: string }[] }) =>
        content.map((block) => block.id ?? block.tool_use_id),
      );
  const first = [
    ['0', '1'],
    ['0', '1'],
  ];
  expect(idsOf(...turn('0', '1'))).toEqual(first);
  expect(idsOf(...turn('0', '1'), ...turn('0'))).toEqual([...first, ['0_2'], ['0_2']]);
  expect(idsOf(...turn('0', '0'))).toEqual([
    ['0', '0_2'],
    ['0', '0_2'],
  ]);
  expect(idsOf(...turn('0', '0_2'), ...turn('0'))).toEqual([['0', '0_2'], ['0', '0_2'], ['0_3'], ['0_3']]);
  const [asked, answered] = turn('0') as [CanonicalMessage, CanonicalMessage];
  const interrupted: CanonicalMessage = { role: 'user', blocks: [{ kind: 'text', text: 'Wait.' }] };
  expect(idsOf(asked, interrupted, asked, answered)).toEqual([['0'], [undefined], ['0_2'], ['0_2']]);
  const answeredTwice: CanonicalMessage = { role: 'user', blocks: [result('0'), result('0')] };
  expect(idsOf(asked, answeredTwice, asked, answered)).toEqual([['0'], ['0', '0'], ['0_2'], ['0_2']]);
});

test('fields that the host’s row omits or adds', () => {
  const quirks = { omits: ['stop_sequences'], adds: { region: 'eu' } };
  const body = write({ sampling: { ...SAMPLING, stop: ['a'] } }, { quirks });
  expect(body).toMatchObject({ region: 'eu', messages: [{ role: 'user' }] });
  expect(body).not.toHaveProperty('stop_sequences');
});

test.each([
  ['image/jpg', 'image/jpeg'],
  ['image/JPEG', 'image/jpeg'],
  ['image/webp', 'image/webp'],
])('an image of type %s is sent as %s', (mediaType, sent) => {
  const image: Block = { kind: 'image', source: { kind: 'inline', mediaType, base64: 'AAAA' }, detail: null };
  expect(write({ messages: [{ role: 'user', blocks: [image] }] }).messages[0].content[0].source).toEqual({
    type: 'base64',
    media_type: sent,
    data: 'AAAA',
  });
});

describe('a model that must call a tool', () => {
  const tools = [{ name: 'open', description: null, schema: { type: 'object' }, strict: null }];
  const reasoning = { effort: 'high', budgetTokens: null } as const;
  const asked = (toolChoice: CanonicalRequest['toolChoice'], thinking: 'budget' | 'effort') =>
    write({ tools, toolChoice, reasoning }, { thinking, reasoningEffort: 'high' });

  test.each(['budget', 'effort'] as const)('does not think first, by %s', (thinking) => {
    // Without the field, some models that take an effort think at their default effort.
    const off = thinking === 'effort' ? { type: 'disabled' } : undefined;
    expect(asked({ kind: 'required' }, thinking)).toMatchObject({ tool_choice: { type: 'any' } });
    expect(asked({ kind: 'required' }, thinking).thinking).toEqual(off);
    expect(asked({ kind: 'tool', name: 'open' }, thinking).thinking).toEqual(off);
  });

  test('and cannot do without reasoning is left to its host', () => {
    const terms = { thinking: 'effort', reasoningEffort: 'low', alwaysReasons: true } as const;
    expect(write({ tools, toolChoice: { kind: 'required' }, reasoning }, terms)).toMatchObject({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'low' },
    });
  });

  test.each(['budget', 'effort'] as const)('thinks where it may choose, by %s', (thinking) => {
    expect(asked({ kind: 'auto' }, thinking)).toHaveProperty('thinking');
    expect(asked(null, thinking)).toHaveProperty('thinking');
  });
});

test('instructions stand apart, wherever they stood, with their cache marks', () => {
  const marked: Block = { kind: 'text', text: 'Be brief.', cache: { lifetime: '1h' } };
  expect(
    conversation({ role: 'system', blocks: [marked] }, ASK, { role: 'system', blocks: [text('Be kind.')] }),
  ).toEqual({
    system: [
      { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { type: 'text', text: 'Be kind.' },
    ],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'When?' }] }],
  });
  const image: Block = { kind: 'image', source: { kind: 'url', url: 'https://a.example' }, detail: null };
  expect(refusalOf(() => write({ messages: [ASK, { role: 'system', blocks: [image] }] }))).toEqual({
    code: 'unsupported_parameter',
    param: 'messages',
  });
});

test('messages of one role become one turn, and its blocks stay unchanged', () => {
  const marked: Block = { kind: 'text', text: 'Tomorrow.', cache: { lifetime: null } };
  expect(conversation(ASK, { role: 'user', blocks: [marked] }, { role: 'user', blocks: [text('')] }).messages).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'When?' },
        { type: 'text', text: 'Tomorrow.', cache_control: { type: 'ephemeral' } },
      ],
    },
  ]);
});

test('results of one turn’s calls come together, before the user’s text', () => {
  const call = (id: string, argumentsJson: string): Block => ({ kind: 'tool-call', id, name: 'tide', argumentsJson });
  const result = (callId: string, isError: boolean): Block => ({
    kind: 'tool-result',
    callId,
    content: [text('low') as never],
    isError,
  });
  const { messages } = conversation(
    ASK,
    { role: 'assistant', blocks: [call('call_1', '{"at": 12345678901234567890}'), call('call_2', '')] },
    { role: 'user', blocks: [result('call_1', false)] },
    { role: 'user', blocks: [text('Hurry.'), result('call_2', true)] },
  );
  expect(messages[1].content.map(({ id, input }: { id: string; input: object }) => [id, input])).toEqual([
    ['call_1', { at: Number('12345678901234567890') }],
    ['call_2', {}],
  ]);
  expect(messages[2].content).toEqual([
    { type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text: 'low' }] },
    { type: 'tool_result', tool_use_id: 'call_2', is_error: true, content: [{ type: 'text', text: 'low' }] },
    { type: 'text', text: 'Hurry.' },
  ]);
});

test('white space is left out where a turn or a result has no other text', () => {
  const call: Block = { kind: 'tool-call', id: 'c1', name: 'tide', argumentsJson: '{}' };
  const result: Block = { kind: 'tool-result', callId: 'c1', content: [{ kind: 'text', text: '\n' }], isError: false };
  const { system, messages } = conversation(
    { role: 'system', blocks: [text(' ')] },
    { role: 'user', blocks: [text('When?'), text(' '), text('Now?')] },
    { role: 'assistant', blocks: [text('\n\n'), call] },
    { role: 'user', blocks: [result] },
  );
  expect(system).toBeUndefined();
  expect(messages.map(({ content }: { content: unknown }) => content)).toEqual([
    ['When?', ' ', 'Now?'].map((words) => ({ type: 'text', text: words })),
    [{ type: 'tool_use', id: 'c1', name: 'tide', input: {} }],
    [{ type: 'tool_result', tool_use_id: 'c1' }],
  ]);
});

test('white space as the last question is for the host to refuse, since the model would answer something else', () => {
  const answered: CanonicalMessage = { role: 'assistant', blocks: [text('At six.')] };
  const blank: CanonicalMessage = { role: 'user', blocks: [text(' ')] };
  const roles = (...given: CanonicalMessage[]) =>
    conversation(...given).messages.map(({ role }: { role: string }) => role);
  expect(roles(ASK, answered, blank)).toEqual(['user', 'assistant', 'user']);
  expect(conversation({ role: 'system', blocks: [text('Be brief.')] }, blank)).toMatchObject({
    system: [{ type: 'text', text: 'Be brief.' }],
    messages: [{ role: 'user', content: [{ type: 'text', text: ' ' }] }],
  });
  expect(roles(blank)).toEqual(['user']);
  expect(roles(ASK, answered, blank, ASK)).toEqual(['user', 'assistant', 'user']);
  expect(conversation(ASK, blank).messages).toEqual(conversation(ASK).messages);
});

test('an empty question after a response is for the host to refuse, since the model would continue its response', () => {
  const answered: CanonicalMessage = { role: 'assistant', blocks: [text('At six.')] };
  const empty = [{ role: 'user', content: [{ type: 'text', text: '' }] }];
  expect(conversation(ASK, answered, { role: 'user', blocks: [] }).messages.slice(2)).toEqual(empty);
  expect(conversation(ASK, answered, { role: 'user', blocks: [text('')] }).messages.slice(2)).toEqual(empty);
});

test('ids of calls that the host would refuse are replaced in call and result', () => {
  const ids = ['functions.open:0', 'functions.open.0', ''];
  const call = (id: string): Block => ({ kind: 'tool-call', id, name: 'open', argumentsJson: '{}' });
  const result = (callId: string): Block => ({ kind: 'tool-result', callId, content: [], isError: false });
  const { messages } = conversation(
    ASK,
    { role: 'assistant', blocks: ids.map(call) },
    { role: 'user', blocks: ids.map(result) },
  );
  const written = messages[1].content.map(({ id }: { id: string }) => id);
  expect(new Set(written).size).toBe(ids.length);
  for (const id of written) expect(id).toMatch(/^[\w-]+$/);
  expect(messages[2].content.map(({ tool_use_id: id }: { tool_use_id: string }) => id)).toEqual(written);
});

test.each(['text/plain', 'text/csv', 'application/json'])(
  'a document of type %s is sent as text, which hosts do not take in base64',
  (mediaType) => {
    const base64 = Buffer.from('Fähre, 6').toString('base64');
    const document: Block = { kind: 'document', mediaType, base64, filename: 'a.txt' };
    expect(write({ messages: [{ role: 'user', blocks: [document] }] }).messages[0].content).toEqual([
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Fähre, 6' }, title: 'a.txt' },
    ]);
  },
);

test('a text document that is not UTF-8 is refused, because the model would read other characters', () => {
  const base64 = Buffer.from('Fähre, 6', 'latin1').toString('base64');
  const document: Block = { kind: 'document', mediaType: 'text/plain', base64, filename: 'a.txt' };
  const writing = (): unknown => write({ messages: [{ role: 'user', blocks: [document] }] });
  expect(writing).toThrow('A document of type text/plain must be encoded as UTF-8 for this model.');
});

test('arguments leave with every digit, and must be an object', () => {
  const calling = (argumentsJson: string) => ({
    messages: [
      ASK,
      { role: 'assistant' as const, blocks: [{ kind: 'tool-call' as const, id: 'a', name: 'b', argumentsJson }] },
    ],
  });
  expect(writeRequest({ ...REQUEST, ...calling('{"n": 1.50e400}') }, TERMS).toString()).toContain(
    '"input":{"n": 1.50e400}',
  );
  for (const wrong of ['[]', '3', '{"cut": "of', 'null']) {
    expect(refusalOf(() => write(calling(wrong)))).toEqual({ code: 'invalid_value', param: 'messages' });
  }
});

test('only this vendor’s signed reasoning goes to its hosts', () => {
  const reasoning = (vendor: string, form: 'signature' | 'redacted' | 'encrypted', words: string): Block => ({
    kind: 'reasoning',
    text: words,
    opaque: { vendor, form, data: `${form} data` },
  });
  const blocks = [
    reasoning(VENDOR, 'signature', 'Hm.'),
    reasoning(VENDOR, 'redacted', ''),
    reasoning(VENDOR, 'encrypted', ''),
    reasoning('somebody', 'signature', 'secret'),
    reasoning('somebody', 'encrypted', 'secret'),
    { kind: 'reasoning', text: 'unsigned', opaque: null } as const,
    { kind: 'refusal', text: 'I will not.' } as const,
  ];
  expect(conversation(ASK, { role: 'assistant', blocks }).messages[1].content).toEqual([
    { type: 'thinking', thinking: 'Hm.', signature: 'signature data' },
    { type: 'redacted_thinking', data: 'redacted data' },
    { type: 'redacted_thinking', data: 'encrypted data' },
    { type: 'text', text: 'I will not.' },
  ]);
});

test('writes images that are inline and images by URL', () => {
  const inline: Block = {
    kind: 'image',
    source: { kind: 'inline', mediaType: 'image/png', base64: 'iVBO' },
    detail: 'low',
  };
  const url: Block = {
    kind: 'image',
    source: { kind: 'url', url: 'https://a.example' },
    detail: null,
    cache: { lifetime: '5m' },
  };
  expect(conversation({ role: 'user', blocks: [inline, url] }).messages[0].content).toEqual([
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } },
    {
      type: 'image',
      source: { type: 'url', url: 'https://a.example' },
      cache_control: { type: 'ephemeral', ttl: '5m' },
    },
  ]);
});

describe('tools', () => {
  const tool = {
    name: 'tide',
    description: 'High or low',
    schema: { properties: { at: { type: 'number', minimum: 3 } } },
    strict: null,
  };

  test('one that takes a map is not strict, which is named, because the host would only allow an empty map', () => {
    const adjustments = new Adjustments(false);
    const schema = { type: 'object', properties: { by: { type: 'object', additionalProperties: { type: 'number' } } } };
    const { tools } = write({ tools: [{ ...tool, schema, strict: true }] }, { adjustments });
    expect(tools).toEqual([{ name: 'tide', description: 'High or low', input_schema: schema }]);
    expect(adjustments.describe(null)).toBe('tools.strict=dropped');
  });

  test('a schema leaves as it is, but for what the host insists on', () => {
    expect(
      write({ tools: [tool, { ...tool, description: null, strict: true, cache: { lifetime: null } }] }).tools,
    ).toEqual([
      { name: 'tide', description: 'High or low', input_schema: { type: 'object', ...tool.schema } },
      {
        name: 'tide',
        strict: true,
        input_schema: {
          type: 'object',
          properties: { at: { type: 'number', description: '{minimum: 3}' } },
          additionalProperties: false,
        },
        cache_control: { type: 'ephemeral' },
      },
    ]);
  });

  test.each<[CanonicalRequest['toolChoice'], boolean | null, object | undefined]>([
    [null, null, undefined],
    [null, true, undefined],
    [null, false, { type: 'auto', disable_parallel_tool_use: true }],
    [{ kind: 'auto' }, null, { type: 'auto' }],
    [{ kind: 'required' }, false, { type: 'any', disable_parallel_tool_use: true }],
    [{ kind: 'tool', name: 'tide' }, true, { type: 'tool', name: 'tide' }],
    [{ kind: 'none' }, false, { type: 'none' }],
  ])('the choice %j, in parallel %j', (toolChoice, parallelToolCalls, expected) => {
    expect(write({ tools: [tool], toolChoice, parallelToolCalls }).tool_choice).toEqual(expected);
  });

  test('without tools there is nothing to choose', () => {
    expect(write({ toolChoice: { kind: 'none' } })).not.toHaveProperty('tool_choice');
  });

  test.each([{ kind: 'required' as const }, { kind: 'tool' as const, name: 'tide' }])(
    'without tools the choice %j is refused, not left out',
    (toolChoice) => expect(() => write({ toolChoice })).toThrow('`tool_choice` must be "auto" or "none"'),
  );
});

describe('the answer’s format', () => {
  const schema = { type: 'object', properties: {}, additionalProperties: false };

  test('a schema is requested, and plain JSON is left to the prompt', () => {
    const format = { kind: 'schema', name: 'n', description: null, schema, strict: false } as const;
    expect(write({ responseFormat: format }).output_config).toEqual({ format: { type: 'json_schema', schema } });
    expect(write({ responseFormat: { kind: 'json' } })).not.toHaveProperty('output_config');
    expect(write({ responseFormat: { kind: 'text' } })).not.toHaveProperty('output_config');
  });

  test.each([true, { type: 'string' }])(
    'objects open to other members, %j, are closed, which is named',
    (additional) => {
      const adjustments = new Adjustments(false);
      const open = { type: 'object', additionalProperties: additional };
      const format = { kind: 'schema', name: 'n', description: null, schema: open, strict: null } as const;
      expect(write({ responseFormat: format }, { adjustments }).output_config.format.schema).toMatchObject({
        additionalProperties: false,
      });
      expect(adjustments.describe(null)).toBe('response_format.json_schema.schema.additionalProperties=dropped');
    },
  );

  test('beside an effort', () => {
    const format = { kind: 'schema', name: 'n', description: null, schema, strict: true } as const;
    const reasoning = { effort: 'low', budgetTokens: null } as const;
    expect(
      write({ responseFormat: format, reasoning }, { thinking: 'effort', reasoningEffort: 'low' }).output_config,
    ).toEqual({
      effort: 'low',
      format: { type: 'json_schema', schema },
    });
  });
});
