import { describe, expect, test } from 'vitest';
import { chatWire } from './chat-wire.ts';
import { messagesWire } from './messages-wire.ts';
import { responsesWire } from './responses-wire.ts';
import type { Entry, Terms } from './wire.ts';
import { parseTools } from './wires.ts';

const terms: Terms = {
  ...{ model: 'm', system: 'Be brief.', maxTokens: 50, temperature: 0 },
  tools: [{ name: 'clock', parameters: { type: 'object' } }],
};
const entries: readonly Entry[] = [
  { role: 'user', text: 'What is this?', images: ['data:image/png;base64,AAAA'] },
  { role: 'assistant', text: '', toolCalls: [{ id: 'call_1', name: 'clock', input: '{"zone":"UTC"}' }] },
  { role: 'tool', callIds: ['call_1'], text: '12:00' },
];

describe('a conversation with an image, a tool call and its result', () => {
  test('is written for chat completions', () => {
    expect(chatWire.body(terms, entries)).toMatchObject({
      max_completion_tokens: 50,
      temperature: 0,
      tools: [{ type: 'function', function: { name: 'clock' } }],
      messages: [
        { role: 'system', content: 'Be brief.' },
        { content: [{ type: 'text' }, { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] },
        { content: null, tool_calls: [{ id: 'call_1', function: { name: 'clock' } }] },
        { role: 'tool', tool_call_id: 'call_1', content: '12:00' },
      ],
    });
  });

  test('is written for messages', () => {
    expect(messagesWire.body(terms, entries)).toMatchObject({
      system: 'Be brief.',
      max_tokens: 50,
      tools: [{ name: 'clock', input_schema: { type: 'object' } }],
      messages: [
        { content: [{ source: { media_type: 'image/png', data: 'AAAA' } }, { type: 'text' }] },
        { content: [{ type: 'tool_use', id: 'call_1', input: { zone: 'UTC' } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: '12:00' }] },
      ],
    });
  });

  test('is written for responses', () => {
    expect(responsesWire.body(terms, entries)).toMatchObject({
      instructions: 'Be brief.',
      max_output_tokens: 50,
      tools: [{ type: 'function', name: 'clock' }],
      input: [
        { content: [{ type: 'input_text' }, { type: 'input_image', image_url: 'data:image/png;base64,AAAA' }] },
        { type: 'function_call', call_id: 'call_1', arguments: '{"zone":"UTC"}' },
        { type: 'function_call_output', call_id: 'call_1', output: '12:00' },
      ],
    });
  });
});

test('reads texts, tool calls and errors of each stream', () => {
  expect(chatWire.read({ choices: [{ delta: { content: 'a', reasoning_content: 'b' } }] })).toEqual([
    { type: 'reasoning', text: 'b' },
    { type: 'text', text: 'a' },
  ]);
  expect(messagesWire.read({ type: 'content_block_delta', index: 1, delta: { partial_json: '{' } })).toEqual([
    { type: 'tool', input: '{' },
  ]);
  expect(responsesWire.read({ type: 'response.failed', response: { error: { message: 'full' } } })).toEqual([
    { type: 'error', message: 'full' },
  ]);
});

test('shows a refusal of the model as its answer', () => {
  const refused = [{ type: 'text', text: 'No.' }];
  expect(chatWire.read({ choices: [{ delta: { content: null, refusal: 'No.' } }] })).toEqual(refused);
  expect(responsesWire.read({ type: 'response.refusal.delta', delta: 'No.' })).toEqual(refused);
});

test.each([chatWire, messagesWire, responsesWire])(
  'sends an image without a text as the image alone: $name',
  (wire) => {
    const image: Entry = { role: 'user', text: '', images: ['data:image/png;base64,AAAA'] };
    const { messages, input } = wire.body(terms, [image]) as Record<string, { content: unknown }[]>;
    expect((messages ?? input)!.at(-1)!.content).toEqual([
      expect.objectContaining({ type: expect.stringContaining('image') }),
    ]);
  },
);

test('takes tools in the format of either vendor, and says what is missing', () => {
  expect(parseTools('[{"type":"function","function":{"name":"a","parameters":{}}}]')).toEqual([
    { name: 'a', parameters: {} },
  ]);
  expect(parseTools('{"name":"b","input_schema":{"type":"object"}}')).toEqual([
    { name: 'b', parameters: { type: 'object' } },
  ]);
  expect(parseTools('{')).toBe('This is not valid JSON.');
  expect(parseTools('[{}]')).toContain('needs a “name”');
});
