import { describe, expect, test } from 'vitest';
import { BILL, deltasIn, feed, RELAY_TERMS } from '../../../test/chat-wire.ts';
import { HostResponseBroken, type RelayTerms } from '../wire.ts';
import { mendStream } from './mend.ts';
import { responseAsStream, spliceResponse } from './splice-response.ts';

type Fields = Record<string, unknown>;

const USAGE = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };
const answer = (choices: unknown, more: Fields = {}): Fields => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_790_000_000,
  model: 'bridge-2026',
  choices,
  usage: USAGE,
  ...more,
});
const choice = (message: unknown, finish: unknown = 'stop', index: unknown = 0): Fields => ({
  index,
  message,
  logprobs: null,
  finish_reason: finish,
});
const TEXT = choice({ role: 'assistant', content: 'Brücke', refusal: null });
const CALL = { id: 'c1', type: 'function', function: { name: 'open', arguments: '{}' } };

const bytes = (body: unknown) => Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
const read = (body: unknown, more: Partial<RelayTerms> = {}) =>
  spliceResponse(bytes(body), { ...RELAY_TERMS, ...more });
const written = (body: unknown, more: Partial<RelayTerms> = {}) =>
  JSON.parse(read(body, more).write(BILL).toString()) as Fields & { choices: { message: Fields }[] };
const messageOf = (message: unknown, more: Partial<RelayTerms> = {}) =>
  written(answer([choice(message)]), more).choices[0]!;

describe('an answer that is right', () => {
  test('keeps every byte but its model and usage', () => {
    const body = `{ "id":"a\\u0062", "object":"chat.completion", "created":1.79e9,\n "model" : "x", "score":1.50, "system_fingerprint":"fp",
      "choices":[{"index":0,"message":{"role":"assistant","content":"\\u00fc"},"finish_reason":"stop"}], "usage":{"prompt_tokens":1, "completion_tokens":2, "total_tokens":3 } }`;
    const usage =
      '{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10,"cost":9007199.254740993,"cost_nanousd":9007199254740993}';
    expect(read(body).write(BILL).toString()).toBe(
      body.replace('"x"', '"bridge"').replace(/\{"prompt_tokens":1[^}]*\}/, usage),
    );
  });

  test('has its usage read and its words counted', () => {
    const calls = choice(
      { role: 'assistant', content: null, reasoning: 'hm', reasoning_content: 'hm', tool_calls: [CALL] },
      'tool_calls',
      1,
    );
    const { usage, relayedBytes } = read(answer([TEXT, calls]));
    expect(usage).toMatchObject({ state: 'reported', usage: { freshTokens: 9, outputTokens: 4 } });
    expect(relayedBytes).toBe(7 + 2 + 4 + 2);
  });

  test('without usage gets the billed one, and so does one with a host’s bill', () => {
    const { usage: _, ...bare } = answer([TEXT]);
    expect(read(bare).usage).toEqual({ state: 'missing' });
    expect(written(bare).usage).toEqual({
      prompt_tokens: 7,
      completion_tokens: 3,
      total_tokens: 10,
      cost: BILL.costUsd,
      cost_nanousd: Number(BILL.costNanousd),
    });
    expect(written(answer([TEXT], { usage: { ...USAGE, cost: 12, cost_details: {} } })).usage).toEqual(
      written(bare).usage,
    );
  });
});

describe('an answer is put right', () => {
  test('where it lacks what every answer has', () => {
    const body = { choices: [{ message: { content: 'x' } }, { message: {} }], model: 7 };
    expect(written(body)).toMatchObject({
      id: 'chatcmpl-req_1',
      object: 'chat.completion',
      created: RELAY_TERMS.createdS,
      model: 'bridge',
      choices: [
        { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'x' } },
        { index: 1, finish_reason: 'stop', message: { role: 'assistant', content: null } },
      ],
    });
  });

  test('with one usage only, the billed one', () => {
    const text = read(answer([TEXT], { provider: 'Somebody' }))
      .write(BILL)
      .toString();
    expect(text.match(/"usage"/g)).toHaveLength(1);
    expect(text).toContain('"cost_nanousd":9007199254740993}}');
  });

  test('where it names the host', () => {
    const body = written(answer([TEXT], { x_groq: { id: 'req_9' }, provider: 'Somebody', citations: [1] }));
    const members = ['choices', 'citations', 'created', 'id', 'model', 'object', 'system_fingerprint', 'usage'];
    expect(Object.keys(body).sort()).toEqual(members);
  });

  test('where it has no fingerprint: some clients cannot do without the member', () => {
    const text = JSON.stringify(answer([TEXT]));
    expect(JSON.parse(read(text).write(BILL).toString()).system_fingerprint).toBeNull();
  });

  test('where its tool calls lack an id, a type, or arguments as text', () => {
    const calls = [
      { id: '', function: { name: 'open', arguments: { lane: 1 } } },
      CALL,
      { function: { name: 'close' } },
    ];
    expect(messageOf({ role: 'assistant', tool_calls: calls })).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: null,
        tool_calls: [
          { id: 'call_req_1_0', type: 'function', function: { name: 'open', arguments: '{"lane":1}' } },
          CALL,
          { id: 'call_req_1_2', type: 'function', function: { name: 'close', arguments: '{}' } },
        ],
      },
    });
  });

  test('where its tool calls share an id: their results could not be told apart', () => {
    const calls = [CALL, { ...CALL, function: { name: 'close', arguments: '{}' } }];
    const { message } = messageOf({ role: 'assistant', content: null, tool_calls: calls }) as {
      message: { tool_calls: { id: string }[] };
    };
    expect(message.tool_calls.map(({ id }) => id)).toEqual([CALL.id, 'call_req_1_1']);
  });

  test('where a tool call has no arguments, unless the limit may have cut them off', () => {
    const calls = [{ ...CALL, function: { name: 'open', arguments: '' } }];
    const argumentsAt = (finish: string): unknown => {
      const whole = answer([{ index: 0, message: { role: 'assistant', tool_calls: calls }, finish_reason: finish }]);
      return JSON.parse(read(JSON.stringify(whole)).write(BILL).toString()).choices[0].message.tool_calls[0].function;
    };
    expect(argumentsAt('tool_calls')).toEqual({ name: 'open', arguments: '{}' });
    expect(argumentsAt('length')).toEqual({ name: 'open', arguments: '' });
    expect(argumentsAt('max_tokens')).toEqual({ name: 'open', arguments: '' });
  });

  test('where its content is in parts', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] },
      { type: 'text', text: 'A' },
      { type: 'text', text: 'B' },
    ];
    expect(messageOf({ role: 'assistant', content }).message).toEqual({
      role: 'assistant',
      content: 'AB',
      reasoning: 'Hm',
      reasoning_content: 'Hm',
    });
  });

  test('where a trace stands under one name only', () => {
    const body = answer([choice({ role: 'assistant', content: 'x', reasoning_content: 'hm' })]);
    expect(written(body).choices[0]!.message).toMatchObject({ reasoning: 'hm', reasoning_content: 'hm' });
    expect(written(body, { hideReasoning: true }).choices[0]!.message).toEqual({ role: 'assistant', content: 'x' });
  });

  test.each([{ reasoning_content: '' }, { reasoning: '' }, { reasoning: '', reasoning_content: null }])(
    'without %j, because the model has not reasoned',
    (empty) => {
      const body = answer([choice({ role: 'assistant', content: 'x', ...empty })]);
      expect(written(body).choices[0]!.message).toEqual({ role: 'assistant', content: 'x' });
    },
  );

  test('with numbers and members it does not know left alone', () => {
    const body = answer([{ ...TEXT, extra: { deep: [1, { x: null }] } }], { provider: 'x' });
    expect(written(body).choices[0]).toEqual({ ...TEXT, extra: { deep: [1, { x: null }] } });
  });
});

describe('what is no answer', () => {
  test.each(['', 'no JSON', '[]', '7', '{}', '{"choices":{}}', '{"choices":[]}', '{"choices":[null,{"text":"x"}]}'])(
    '%j',
    (body) => {
      expect(() => read(body)).toThrow(HostResponseBroken);
    },
  );

  const thrownBy = (body: unknown) => {
    try {
      read(body);
    } catch (error) {
      return (error as HostResponseBroken).hostError;
    }
    throw new Error('Nothing was thrown.');
  };

  test('may be an error that came with 200', () => {
    expect(thrownBy({ error: { message: 'Slow down', code: 429 } })).toMatchObject({
      kind: 'rate',
      message: 'Slow down',
    });
    const failed = { ...choice({ role: 'assistant', content: '' }, 'error'), error: { message: 'gone', code: 502 } };
    expect(thrownBy(answer([failed]))).toMatchObject({ kind: 'unavailable', message: 'gone' });
    expect(thrownBy({})).toBeNull();
  });

  test('whatever could fail has failed before anything is billed', () => {
    const deep = `{"choices":[{"message":{"content":"x"}}],"deep":${'['.repeat(500_000)}${']'.repeat(500_000)}}`;
    expect(() => read(deep)).toThrow();
  });
});

describe('a whole answer where a stream was asked for', () => {
  const streamed = (body: unknown) => {
    const relay = mendStream(RELAY_TERMS);
    return { relay, text: feed(relay, responseAsStream(bytes(body))!) };
  };

  test('goes on as one chunk and its usage', () => {
    const message = {
      role: 'assistant',
      content: 'Hi',
      reasoning: 'h',
      reasoning_content: 'h',
      tool_calls: [CALL, { ...CALL, id: 'c2' }],
    };
    const { relay, text } = streamed(
      answer([choice(message, 'tool_calls'), choice({ role: 'assistant', content: 'B' }, 'stop', 1)]),
    );
    expect(deltasIn(text)).toEqual([
      {
        ...message,
        tool_calls: [
          { ...CALL, index: 0 },
          { ...CALL, id: 'c2', index: 1 },
        ],
      },
      { role: 'assistant', content: 'B' },
    ]);
    expect(relay).toMatchObject({
      terminal: true,
      error: null,
      usage: { state: 'reported', usage: { outputTokens: 4 } },
    });
  });

  test('may be an error', () => {
    expect(streamed({ error: { message: 'no', code: 400 } }).relay.error).toMatchObject({
      kind: 'request',
      message: 'no',
    });
  });

  test('without usage has none', () => {
    expect(streamed({ ...answer([TEXT]), usage: null }).relay.usage).toEqual({ state: 'missing' });
  });

  test.each(['', 'no JSON', '7', '{}', '[]'])('may be nothing at all: %j', (body) => {
    expect(responseAsStream(bytes(body))).toBeNull();
  });
});
