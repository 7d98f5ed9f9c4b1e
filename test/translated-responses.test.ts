import { describe, expect, test } from 'vitest';
import { TranslatedStream, translateResponse } from '../src/gateway/translate.ts';
import { SseFramer } from '../src/kit/sse.ts';
import { WIRES } from '../src/wires/registry.ts';
import { HostResponseBroken } from '../src/wires/wire.ts';
import { BILL, RELAY_TERMS } from './chat-wire.ts';

/** What hosts get wrong in their responses, where they are translated for callers of another wire. */

type HostWire = 'chat' | 'messages' | 'responses';
const TERMS = { ...RELAY_TERMS, outputLimit: 100 };

function streamed(host: HostWire, client: HostWire, frames: string): { stream: TranslatedStream; text: string } {
  const stream = new TranslatedStream(WIRES[client].hub!.client!, WIRES[host].hub!.upstream!, TERMS, {});
  let text = '';
  new SseFramer(1_000_000).push(Buffer.from(frames), (frame) => {
    text += stream.frame(frame) ?? '';
  });
  expect(stream.mayEndHere).toBe(true);
  return { stream, text: text + stream.closing(BILL) };
}

function buffered(host: HostWire, client: HostWire, body: object) {
  const json = Buffer.from(JSON.stringify(body));
  return translateResponse(json, WIRES[client].hub!.client!, WIRES[host].hub!.upstream!, TERMS, {});
}

const chunk = (delta: object, finish: string | null = null, usage?: object): string =>
  `data: ${JSON.stringify({ id: 'c', created: 1, choices: [{ index: 0, delta, finish_reason: finish }], usage })}\n\n`;
const message = (...events: { readonly type: string; readonly [member: string]: unknown }[]): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

describe('a chat host', () => {
  test('that names a tool call after its first fragment', () => {
    const call = (fragment: object): object => ({ tool_calls: [{ index: 0, ...fragment }] });
    const frames = [
      chunk(call({ id: 'c1', type: 'function', function: { arguments: '' } })),
      chunk(call({ function: { name: 'find' } })),
      chunk(call({ function: { arguments: '{"a":1}' } }), 'tool_calls'),
      'data: [DONE]\n\n',
    ].join('');
    const { text } = streamed('chat', 'messages', frames);
    expect(text).toContain('"content_block":{"type":"tool_use","id":"c1","name":"find"');
    expect(text).toContain('"partial_json":"{\\"a\\":1}"');
  });

  test.each([
    ['model_length', {}, 'max_tokens'],
    ['MAX_TOKENS', {}, 'max_tokens'],
    ['SAFETY', {}, 'refusal'],
    ['stop', { tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }] }, 'tool_use'],
    ['end_turn', {}, 'end_turn'],
  ])('that ends with its own word %s, streamed and buffered', (finish, more, stopReason) => {
    const said = { role: 'assistant', content: 'Hello', ...more };
    const whole = buffered('chat', 'messages', { choices: [{ index: 0, message: said, finish_reason: finish }] });
    expect(JSON.parse(whole.write(BILL).toString())).toMatchObject({ stop_reason: stopReason });
    const { text } = streamed('chat', 'messages', `${chunk(said, finish)}data: [DONE]\n\n`);
    expect(text).toContain(`"stop_reason":"${stopReason}"`);
  });

  test.each(['messages', 'responses'] as const)(
    'that mixes the fragments of two tool calls, for a %s client',
    (client) => {
      const call = (index: number, words: string, head: object = {}): string =>
        chunk({ tool_calls: [{ index, ...head, function: { arguments: words } }] });
      const first = { id: 'c0', type: 'function' };
      const frames = [
        call(0, '', first),
        call(1, '', { ...first, id: 'c1' }),
        call(0, '{"a":'),
        call(1, '{"b":'),
        call(0, '1}'),
      ];
      const { text } = streamed(
        'chat',
        client,
        `${frames.join('')}${call(1, '2}')}${chunk({}, 'tool_calls')}data: [DONE]\n\n`,
      );
      expect(text.indexOf('c0')).toBeLessThan(text.indexOf('c1'));
      const said = [...text.matchAll(/"(?:partial_json|delta)":"((?:[^"\\]|\\.)*)"/g)].map(([, words]) =>
        JSON.parse(`"${words}"`),
      );
      expect(said.join('')).toBe('{"a":1}{"b":2}');
    },
  );

  test('whose tool call never has a name', () => {
    const call = { tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { arguments: '' } }] };
    const { text } = streamed('chat', 'messages', `${chunk(call)}${chunk({}, 'tool_calls')}data: [DONE]\n\n`);
    expect(text).toContain('"content_block":{"type":"tool_use","id":"c1","name":""');
  });

  test('that is cut off has reported its usage so far', () => {
    const usage = { prompt_tokens: 45, completion_tokens: 2, total_tokens: 47 };
    const stream = new TranslatedStream(WIRES.messages.hub!.client!, WIRES.chat.hub!.upstream!, TERMS, {});
    const frames = `${chunk({ content: 'Hel' }, null, usage)}${chunk({ content: 'lo' })}`;
    new SseFramer(1_000_000).push(Buffer.from(frames), (frame) => void stream.frame(frame));
    expect(stream.mayEndHere).toBe(false);
    expect(stream.usage).toMatchObject({ state: 'partial', usage: { freshTokens: 45, outputTokens: 2 } });
  });

  test('that sends an empty chunk after its final usage has still reported it', () => {
    const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
    const frames = `${chunk({ content: 'Hi' })}${chunk({}, 'stop', usage)}${chunk({})}data: [DONE]\n\n`;
    expect(streamed('chat', 'messages', frames).stream.usage.state).toBe('reported');
    const late = `${chunk({ content: 'Hi' })}${chunk({}, 'stop', usage)}${chunk({ content: '!' })}data: [DONE]\n\n`;
    expect(streamed('chat', 'messages', late).stream.usage.state).toBe('partial');
  });

  test.each([
    {
      choices: [
        { message: { content: 'Hal' }, finish_reason: 'error', error: { message: 'Out of memory', code: 502 } },
      ],
    },
    { error: { message: 'Out of memory', code: 502 }, choices: [{ message: { content: '' }, finish_reason: null }] },
  ])('that failed inside a whole response has failed: %j', (body) => {
    expect(() => buffered('chat', 'messages', body)).toThrow(HostResponseBroken);
    try {
      buffered('chat', 'messages', body);
    } catch (error) {
      expect((error as HostResponseBroken).hostError).toMatchObject({ message: 'Out of memory' });
    }
  });
});

describe('a host that cuts a text within a character', () => {
  const halves = ['Hi \ud83d', '\ude00!'] as const;
  const WHOLE = 'Hi \u{1f600}!';
  const responses = (type: string, event: object): string => message({ type: `response.${type}`, ...event });
  const part = { item_id: 'm1', output_index: 0, content_index: 0 };
  /** The text in these pieces, as each kind of host streams it. */
  const hosts: Readonly<Record<HostWire, (pieces: readonly string[]) => string>> = {
    chat: (pieces) => `${pieces.map((content) => chunk({ content })).join('')}${chunk({}, 'stop')}data: [DONE]\n\n`,
    messages: (pieces) =>
      message(
        { type: 'message_start', message: {} },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        ...pieces.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
        { type: 'message_stop' },
      ),
    responses: (pieces) =>
      [
        responses('output_item.added', { output_index: 0, item: { type: 'message', id: 'm1' } }),
        ...pieces.map((delta) => responses('output_text.delta', { ...part, delta })),
        responses('completed', { response: { status: 'completed', output: [] } }),
      ].join(''),
  };
  const pairs = (Object.keys(hosts) as HostWire[]).flatMap((host) =>
    (Object.keys(hosts) as HostWire[]).filter((client) => client !== host).map((client) => [host, client] as const),
  );
  /** The deltas of text that a client gets. */
  const deltas = (text: string): string[] =>
    [...text.matchAll(/^data: (\{.*)$/gm)].flatMap(([, json]) => {
      const { choices, delta } = JSON.parse(json!);
      const words = choices?.[0]?.delta.content ?? delta?.text ?? delta;
      return typeof words === 'string' && words !== '' ? [words] : [];
    });

  test.each(pairs)('from a %s host to a %s client, the first half comes with the second', (host, client) => {
    const { text, stream } = streamed(host, client, hosts[host](halves));
    expect(deltas(text).slice(0, 2)).toEqual(['Hi ', '\u{1f600}!']);
    expect(text).not.toMatch(/\\ud[89a-f]/i);
    expect(stream.relayedBytes).toBe(Buffer.byteLength(WHOLE));
  });

  test.each(pairs)('from a %s host to a %s client, a half without the other is replaced', (host, client) => {
    for (const pieces of [['Hi \ud83d'], ['Hi \ud83d', ' there']]) {
      const { text } = streamed(host, client, hosts[host](pieces));
      expect(deltas(text)[1]).toBe(pieces.length === 1 ? '\ufffd' : '\ufffd there');
      expect(text).not.toMatch(/\\ud[89a-f]/i);
    }
  });
});

/** The stream of a messages host that has only this block. */
function onlyBlock(block: object): ReturnType<typeof message> {
  return message(
    { type: 'message_start', message: {} },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
    { type: 'message_stop' },
  );
}

describe('a tool call without an id gets one', () => {
  const idIn = (text: string): string | undefined => /"tool_calls":\[\{(?:"index":0,)?"id":"([^"]*)"/.exec(text)?.[1];

  test('from a messages host', () => {
    const block = { type: 'tool_use', name: 'find', input: {} };
    expect(idIn(streamed('messages', 'chat', onlyBlock(block)).text)).toMatch(/^toolu_\w{24}$/);
    const whole = buffered('messages', 'chat', { content: [block], stop_reason: 'tool_use' });
    expect(idIn(whole.write(BILL).toString())).toMatch(/^toolu_\w{24}$/);
  });

  test('from a responses host', () => {
    const output = [{ type: 'function_call', name: 'find', arguments: '{}' }];
    const whole = buffered('responses', 'chat', { status: 'completed', output });
    expect(idIn(whole.write(BILL).toString())).toMatch(/^call_\w{24}$/);
  });
});

describe('a tool call of a messages host without arguments', () => {
  const call = (index: number): Parameters<typeof message> => [
    {
      type: 'content_block_start',
      index,
      content_block: { type: 'tool_use', id: `t${index}`, name: 'find', input: {} },
    },
    { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: '' } },
    { type: 'content_block_stop', index },
  ];
  const frames = (stop_reason: string): string =>
    message(
      { type: 'message_start', message: {} },
      ...call(0),
      ...call(1),
      { type: 'message_delta', delta: { stop_reason } },
      { type: 'message_stop' },
    );
  const fragments = (text: string): string[] => [...text.matchAll(/"arguments":"([^"]*)"/g)].map(([, words]) => words!);

  test('has an empty object in a chat stream, before the next call begins', () => {
    expect(fragments(streamed('messages', 'chat', frames('tool_use')).text)).toEqual(['', '{}', '', '{}']);
  });

  test('is not completed if the limit may have cut it off', () => {
    expect(fragments(streamed('messages', 'chat', frames('max_tokens')).text)).toEqual(['', '{}', '']);
  });

  test('and one of a responses host have it in a whole chat response', () => {
    const block = { type: 'tool_use', id: 't1', name: 'find', input: '' };
    const item = { type: 'function_call', call_id: 'c1', name: 'find', arguments: '' };
    const wholes = [
      buffered('messages', 'chat', { content: [block], stop_reason: 'tool_use' }),
      buffered('responses', 'chat', { status: 'completed', output: [item] }),
    ];
    for (const whole of wholes) expect(fragments(whole.write(BILL).toString())).toEqual(['{}']);
  });
});

test('arguments that a responses host sends as an object are kept in a whole response as in a stream', () => {
  const item = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'find', arguments: { a: 1 } };
  const kept = '"arguments":"{\\"a\\":1}"';
  const whole = buffered('responses', 'chat', { status: 'completed', output: [item] });
  expect(whole.write(BILL).toString()).toContain(kept);
  const frames = message(
    { type: 'response.created', response: {} },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '' } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { status: 'completed', output: [item] } },
  );
  expect(streamed('responses', 'chat', frames).text).toContain(kept);
});

test('arguments that a responses host sends as an object reach a client of the same wire, also for its custom tools', () => {
  const custom = { model: 'm', input: 'Hi', tools: [{ type: 'custom', name: 'write' }] };
  const item = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'write', arguments: { input: 'a "b"' } };
  const { relay } = WIRES.responses;
  const body = Buffer.from(JSON.stringify({ id: 'resp_1', status: 'completed', output: [item] }));
  const written = relay
    .spliceResponse(body, { ...RELAY_TERMS, request: custom })
    .write(BILL)
    .toString();
  expect(JSON.parse(written).output[0]).toMatchObject({ type: 'custom_tool_call', input: 'a "b"' });
  const stream = relay.stream!.mend(RELAY_TERMS);
  let text = '';
  new SseFramer(1_000_000).push(relay.stream!.responseAsStream(body)!, (frame) => {
    text += stream.frame(frame) ?? '';
  });
  expect(text).toContain(`"delta":${JSON.stringify(JSON.stringify(item.arguments))}`);
});

test('calls to which a chat host gives one id are as many calls, with an id each', () => {
  const calls = ['{"a":1}', '{"a":2}'].map((args) => ({ id: 'x', function: { name: 'find', arguments: args } }));
  const choices = [{ message: { content: null, tool_calls: calls }, finish_reason: 'tool_calls' }];
  const { output } = JSON.parse(buffered('chat', 'responses', { choices }).write(BILL).toString());
  expect(output.map(({ arguments: args }: { arguments: string }) => args)).toEqual(['{"a":1}', '{"a":2}']);
  expect(new Set(output.map(({ call_id: id }: { call_id: string }) => id)).size).toBe(2);
});

test('arguments that a messages host puts as text into the head of a block are kept', () => {
  const block = { type: 'tool_use', id: 't1', name: 'find', input: '{"a":1}' };
  expect(streamed('messages', 'chat', onlyBlock(block)).text).toContain('"arguments":"{\\"a\\":1}"');
});

describe('without counts of the host, everything that the model wrote is counted in a whole response as in a stream', () => {
  test('the names of tool calls and opaque reasoning, translated', () => {
    const content = [
      { type: 'redacted_thinking', data: 'x'.repeat(400) },
      { type: 'tool_use', id: 't1', name: 'find', input: {} },
    ];
    expect(buffered('messages', 'chat', { content, stop_reason: 'tool_use' }).relayedBytes).toBe(400 + 4 + 2);
  });

  test('the same, and items of other kinds, on the responses wire', () => {
    const output = [
      { type: 'reasoning', summary: [], encrypted_content: 'x'.repeat(400) },
      { type: 'function_call', call_id: 'c1', name: 'find', arguments: '{}' },
      { type: 'image_generation_call', result: 'y'.repeat(5000) },
    ];
    const body = Buffer.from(JSON.stringify({ status: 'completed', output }));
    const { relayedBytes } = WIRES.responses.relay.spliceResponse(body, RELAY_TERMS);
    expect(relayedBytes).toBeGreaterThanOrEqual(400 + 4 + 2 + 4000);
  });
});
