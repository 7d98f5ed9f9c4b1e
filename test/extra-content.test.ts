import { describe, expect, test } from 'vitest';
import { SseFramer } from '../src/kit/sse.ts';
import { LIMITS } from '../src/limits.ts';
import { WIRES } from '../src/wires/registry.ts';
import type { StreamRelay } from '../src/wires/wire.ts';
import { chunk, delta, RELAY_TERMS } from './chat-wire.ts';

/** All content that a host sends counts as relayed, even in members that a wire does not know. */

type Event = Record<string, unknown>;

function relayedBy(wire: 'chat' | 'completions' | 'messages' | 'responses', events: readonly Event[]): StreamRelay {
  const relay = WIRES[wire].relay.stream!.mend(RELAY_TERMS);
  const framer = new SseFramer(LIMITS.sseFrameBytesMax);
  const named = (event: Event) => (typeof event.type === 'string' ? `event: ${event.type}\n` : '');
  const text = events.map((event) => `${named(event)}data: ${JSON.stringify(event)}\n\n`).join('');
  framer.push(
    Buffer.from(text),
    (frame) => void relay.frame(frame),
    (bytes, from) => relay.repeated?.(bytes, from)?.end ?? from,
  );
  return relay;
}

const URL = 'data:image/png;base64,AAAA';
const LONG = 'x'.repeat(LIMITS.frameMetadataBytesMax + 10);

describe('chat', () => {
  const opening = chunk([delta({ role: 'assistant', content: '' })]);
  const bytesOf = (...events: Event[]) => relayedBy('chat', [opening, ...events]).relayedBytes;

  test.each<[string, Event, number]>([
    ['images', chunk([delta({ images: [{ type: 'image_url', image_url: { url: URL } }] })]), URL.length + 9],
    ['annotations', chunk([delta({ annotations: [{ type: 'url_citation', url: 'abc' }] })]), 15],
    ['an unknown member', chunk([delta({ plan: 'abc' })]), 3],
    ['encrypted reasoning', chunk([delta({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'abc' }] })]), 22],
    ['reasoning that also has details', chunk([delta({ reasoning: 'abc', reasoning_details: [{ text: 'abc' }] })]), 3],
    ['log probabilities without words', chunk([{ ...delta({}), logprobs: { content: [{ token: 'abc' }] } }]), 3],
    [
      'log probabilities beside words',
      chunk([{ ...delta({ content: 'abc' }), logprobs: { content: [{ token: 'abc' }] } }]),
      3,
    ],
    ['a short fingerprint', chunk([delta({})], { system_fingerprint: 'fp_1', service_tier: 'default' }), 0],
    ['a fingerprint that is a text', chunk([delta({})], { system_fingerprint: LONG }), 10],
    ['an unknown text beside the choices', chunk([delta({})], { story: LONG }), 10],
    ['an unknown text in the choice', chunk([{ ...delta({}), story: LONG }]), 10],
    ['numbers', chunk([delta({ token_ids: [1, 2, 3] })]), 0],
    ['padding', chunk([delta({})], { obfuscation: LONG }), 0],
  ])('%s', (_what, event, bytes) => {
    expect(bytesOf(event)).toBe(bytes);
  });

  test('an opening without content counts as none', () => {
    expect(bytesOf()).toBe(0);
  });

  test('counts every frame, even if it repeats an earlier one', () => {
    const event = chunk([delta({ content: 'abc', plan: 'de' })]);
    expect(bytesOf(event, event, event)).toBe(15);
  });

  test('does not take the final usage for an early one because of an annotation', () => {
    const stop = chunk([delta({ content: 'abc' }, 'stop')]);
    const usage = chunk([], { usage: { prompt_tokens: 1, completion_tokens: 1 } });
    const late = chunk([delta({ annotations: [{ url: 'abc' }] })]);
    expect(relayedBy('chat', [opening, stop, usage, late]).usage.state).toBe('reported');
  });

  test('counts a buffered message the same way', () => {
    const message = { role: 'assistant', content: 'ab', images: [{ url: 'cde' }] };
    const body = {
      id: 'a',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
    };
    const answer = WIRES.chat.relay.spliceResponse(Buffer.from(JSON.stringify(body)), RELAY_TERMS);
    expect(answer.relayedBytes).toBe(5);
  });
});

test.each<[string, Event, number]>([
  ['words', { index: 0, text: 'abc' }, 3],
  ['reasoning', { index: 0, text: '', reasoning: 'abc', reasoning_content: 'abc' }, 3],
  ['log probabilities without words', { index: 0, text: '', logprobs: { tokens: ['abc'] } }, 3],
  ['log probabilities beside words', { index: 0, text: 'abc', logprobs: { tokens: ['abc'] } }, 3],
  ['an unknown text', { index: 0, text: '', story: LONG }, 10],
])('completions: %s', (_what, choice, bytes) => {
  const event = {
    id: 'c',
    object: 'text_completion',
    created: 1,
    model: 'm',
    choices: [{ finish_reason: null, ...choice }],
  };
  expect(relayedBy('completions', [event, event]).relayedBytes).toBe(2 * bytes);
});

describe('messages', () => {
  const start = {
    type: 'message_start',
    message: { id: 'msg_1', role: 'assistant', content: [], usage: { input_tokens: 1 } },
  };
  const block = (content_block: Event) => ({ type: 'content_block_start', index: 0, content_block });
  const text = block({ type: 'text', text: '' });
  const change = (made: Event) => ({ type: 'content_block_delta', index: 0, delta: made });
  const stop = { type: 'content_block_stop', index: 0 };
  const sign = change({ type: 'signature_delta', signature: 'abcdef' });

  test.each<[string, Event[], number]>([
    ['a citation', [text, change({ type: 'citations_delta', citation: { cited_text: 'abc' } })], 3],
    ['redacted thinking', [block({ type: 'redacted_thinking', data: 'abc' })], 3],
    ['a result of a server tool', [block({ type: 'web_search_tool_result', content: [{ url: 'abc' }] })], 3],
    ['an unknown event', [text, { type: 'story', text: LONG }], 10 + 'story'.length],
    ['an unknown text beside the delta', [text, { ...change({ type: 'text_delta', text: 'a' }), story: LONG }], 11],
    [
      'a signature after its text',
      [block({ type: 'thinking' }), change({ type: 'thinking_delta', thinking: 'a' }), sign, stop],
      1,
    ],
    ['a signature without text', [block({ type: 'thinking' }), sign, stop], 6],
  ])('%s', (_what, events, bytes) => {
    expect(relayedBy('messages', [start, ...events]).relayedBytes).toBe(bytes);
  });
});

test.each<[string, Event[], number]>([
  [
    'an annotation',
    [{ type: 'response.output_text.annotation.added', item_id: 'i', output_index: 0, annotation: { url: 'abc' } }],
    3,
  ],
  [
    'an item of an unknown kind',
    [{ type: 'response.output_item.done', output_index: 1, item: { type: 'image', result: LONG } }],
    25,
  ],
])('responses: %s', (_what, events, bytes) => {
  const begun = [
    { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { type: 'message', id: 'i', role: 'assistant', content: [] },
    },
    ...(bytes === 25
      ? [{ type: 'response.output_item.added', output_index: 1, item: { type: 'image', id: 'j' } }]
      : []),
  ];
  expect(relayedBy('responses', [...begun, ...events]).relayedBytes).toBe(bytes);
});
