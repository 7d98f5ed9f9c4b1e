import { describe, expect, test } from 'vitest';
import type { CanonicalEvent, CanonicalResponse } from '../src/canonical/events.ts';
import type { HubRequestTerms, WriteTerms } from '../src/wires/hub.ts';
import { WIRES } from '../src/wires/registry.ts';
import { ASK, BILL, chunksIn, deltasIn, jsonText, RELAY_TERMS, refusalBy } from './chat-wire.ts';

/** How a request of the chat wire reaches a host of another wire. */

type Fields = Record<string, unknown>;

const HOST: HubRequestTerms = {
  hostModel: 'host-model',
  stream: false,
  outputLimit: 100,
  outputLimitField: 'max_tokens',
  reasoningEffort: null,
  thinking: null,
};

function sentTo(wire: 'chat' | 'messages' | 'responses', more: Fields): Fields {
  const text = jsonText({ ...ASK, ...more });
  const { client, hub } = WIRES.chat;
  const request = hub!.client!.readRequest(text, client.peek(text, {}));
  return JSON.parse(WIRES[wire].hub!.upstream!.writeRequest(request, HOST).toString()) as Fields;
}

const refused = (more: Fields): unknown[] => {
  const { code, param } = refusalBy(() => sentTo('messages', more));
  return [code, param];
};

test('the roles system and developer are both instructions', () => {
  const messages = [
    { role: 'developer', content: 'Be brief.' },
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'Hello' },
  ];
  expect(sentTo('messages', { messages }).system).toEqual([
    { type: 'text', text: 'Be brief.' },
    { type: 'text', text: 'Be kind.' },
  ]);
  const [first] = sentTo('chat', { messages }).messages as Fields[];
  expect(first).toEqual({ role: 'system', content: 'Be brief.' });
});

test.each([
  [[{ role: 'system', content: 'Say hello.' }]],
  [
    [
      { role: 'developer', content: 'Say hello.' },
      { role: 'user', content: '' },
    ],
  ],
])('instructions alone are a prompt for hosts that need a turn or an item: %j', (messages) => {
  const turn = { role: 'user', content: [{ type: 'text', text: 'Say hello.' }] };
  expect(sentTo('messages', { messages })).toMatchObject({ messages: [turn] });
  expect(sentTo('messages', { messages })).not.toHaveProperty('system');
  expect(sentTo('responses', { messages })).toMatchObject({ input: [{ role: 'system', content: 'Say hello.' }] });
  expect(sentTo('responses', { messages })).not.toHaveProperty('instructions');
});

test.each([
  ['in an object', (url: string) => ({ url, detail: 'low' })],
  ['alone', (url: string) => url],
])('an image by data URL or by address, %s, reaches a messages host in its own format', (_where, written) => {
  const image = (url: string) => ({ type: 'image_url', image_url: written(url) });
  const content = [image('data:image/png;base64,iVBO'), image('https://a.example/b.png'), { type: 'text', text: 'x' }];
  const [message] = sentTo('messages', { messages: [{ role: 'user', content }] }).messages as Fields[];
  expect(message!.content).toEqual([
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } },
    { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } },
    { type: 'text', text: 'x' },
  ]);
});

describe('a tool turn', () => {
  const called = {
    role: 'assistant',
    content: null,
    reasoning_content: 'Two lanes.',
    tool_calls: [
      { id: 'c1', type: 'function', function: { name: 'open', arguments: '{"lane":1}' } },
      { id: 'c2', type: 'function', function: { name: 'close', arguments: '' } },
    ],
  };
  const results = [
    { role: 'tool', tool_call_id: 'c1', content: 'done' },
    { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'done too' }] },
  ];
  const messages = [...ASK.messages, called, ...results];

  test('gives arguments as an object, also none, and results as a string or as parts', () => {
    const [, turn, answers] = sentTo('messages', { messages }).messages as { content: Fields[] }[];
    expect(turn!.content).toEqual([
      { type: 'tool_use', id: 'c1', name: 'open', input: { lane: 1 } },
      { type: 'tool_use', id: 'c2', name: 'close', input: {} },
    ]);
    expect(answers!.content).toMatchObject([
      { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'done' }] },
      { type: 'tool_result', tool_use_id: 'c2', content: [{ type: 'text', text: 'done too' }] },
    ]);
  });

  test('sends the reasoning back to a host of this wire', () => {
    const [, turn] = sentTo('chat', { messages }).messages as Fields[];
    expect(turn).toMatchObject({ content: null, reasoning_content: 'Two lanes.' });
  });

  test('has its results right after its calls, where something else was between them', () => {
    const note = { role: 'system', content: 'Hurry.' };
    const question = { role: 'user', content: 'And now?' };
    const mixed = [...ASK.messages, called, note, results[0]!, question, note, results[1]!];
    const sent = sentTo('chat', { messages: mixed }).messages as Fields[];
    const roles = sent.slice(ASK.messages.length).map(({ role }) => role);
    expect(roles).toEqual(['assistant', 'tool', 'tool', 'system', 'user', 'system']);
  });

  test('sends all reasoning of a turn back, if the model reasoned more than once in it', () => {
    const thought = (text: string) => ({ type: 'reasoning', summary: [{ type: 'summary_text', text }] });
    const call = { type: 'function_call', call_id: 'c1', name: 'open', arguments: '{}' };
    const text = jsonText({ model: 'm', input: [thought('One.'), thought(' Two.'), call] });
    const { client, hub } = WIRES.responses;
    const request = hub!.client!.readRequest(text, client.peek(text, {}));
    const [turn] = JSON.parse(WIRES.chat.hub!.upstream!.writeRequest(request, HOST).toString()).messages as Fields[];
    expect(turn).toMatchObject({ reasoning_content: 'One. Two.', tool_calls: [{ id: 'c1' }] });
  });
});

test('one stop or several are stop sequences', () => {
  expect(sentTo('messages', { stop: 'END' }).stop_sequences).toEqual(['END']);
  expect(sentTo('messages', { stop: ['a', 'b'] }).stop_sequences).toEqual(['a', 'b']);
});

test('how long a cache should last is passed on to the wire that has the same field, and is a hint for the others', () => {
  const retention = { prompt_cache_retention: '24h' };
  expect(sentTo('responses', retention)).toMatchObject(retention);
  expect(sentTo('messages', retention)).not.toHaveProperty('prompt_cache_retention');
  expect(sentTo('messages', { prompt_cache_options: { mode: 'explicit' } })).toHaveProperty('messages');
});

test.each<[Fields, string]>([
  [{ n: 2 }, 'n'],
  [{ logprobs: true }, 'logprobs'],
  [{ top_logprobs: 3 }, 'top_logprobs'],
  [{ logit_bias: { 1: 2 } }, 'logit_bias'],
  [{ functions: [{ name: 'f' }] }, 'functions'],
  [{ messages: [{ role: 'assistant', function_call: { name: 'f', arguments: '' } }] }, 'messages[0].function_call'],
  [{ vendor_extra: 1 }, 'vendor_extra'],
])('%j, which the host’s wire cannot express, is refused by name', (more, param) => {
  expect(refused(more)).toEqual(['unsupported_parameter', param]);
});

describe('an answer of another wire', () => {
  const TERMS: WriteTerms = { ...RELAY_TERMS, outputLimit: 100 };
  const client = WIRES.chat.hub!.client!;
  const finish = { kind: 'finish', reason: 'stop', raw: null, stopSequence: null } as const;

  function messageOf(...blocks: CanonicalResponse['blocks'][number][]): Fields {
    const answer = { id: null, createdS: null, blocks, finish, usage: { state: 'missing' } } as const;
    const { choices } = JSON.parse(client.writeResponse(answer, BILL, TERMS).toString()) as {
      choices: { message: Fields }[];
    };
    return choices[0]!.message;
  }

  test('has null for content where it only calls tools or refuses, and always says whether it refuses', () => {
    const call = { head: { kind: 'tool-call', id: 'c', name: 'open' }, text: '{}', opaque: null } as const;
    expect(messageOf(call)).toMatchObject({ content: null, refusal: null, tool_calls: [{ id: 'c' }] });
    expect(messageOf({ head: { kind: 'refusal' }, text: 'No.', opaque: null })).toMatchObject({
      content: null,
      refusal: 'No.',
    });
  });

  test('streams a refusal in its own member and ends in a stop', () => {
    const writer = client.writeStream(TERMS);
    const events: CanonicalEvent[] = [
      { kind: 'start', id: null, createdS: 1 },
      { kind: 'block-start', block: { kind: 'refusal' } },
      { kind: 'block-delta', text: 'No.' },
      { kind: 'block-end', opaque: null },
      finish,
    ];
    const text = events.map((event) => writer.event(event)).join('') + writer.closing(BILL);
    expect(deltasIn(text).slice(1)).toEqual([{ refusal: 'No.' }, {}]);
    expect(chunksIn(text).at(-2)).toMatchObject({ choices: [{ finish_reason: 'stop' }] });
  });
});
