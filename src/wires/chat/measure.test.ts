import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ASK, jsonText } from '../../../test/chat-wire.ts';
import { peek, texts } from './peek.ts';

const sizeOf = (more: object) => peek(jsonText({ ...ASK, ...more })).size;
const weigh = (message: object) => sizeOf({ messages: [{ role: 'assistant', ...message }] });

describe('the weight of a prompt', () => {
  test('is in bytes, not characters', () => {
    expect(weigh({ content: 'Brücke 橋 🛂' }).textBytes).toBe(Buffer.byteLength('Brücke 橋 🛂'));
  });

  test.each([
    [{ content: null }, 0],
    [{ content: 'four' }, 4],
    [
      {
        content: [
          { type: 'text', text: 'four' },
          { type: 'refusal', refusal: 'no' },
        ],
      },
      6,
    ],
    [{ name: 'ada' }, 3],
    [{ refusal: 'no' }, 2],
    [{ reasoning: 'hm', reasoning_content: 'hm' }, 4],
    [{ role: 'tool', tool_call_id: 'call_1' }, 6],
    [{ role: 'user', wish: 'unknown members weigh too' }, 25],
    [{ annotations: [] }, 2],
    [{ content: [{ type: 'text', text: 'four', hidden: 'five5', cache_control: { type: 'ephemeral' } }] }, 9],
    [{ content: [{ type: 'image_url', image_url: { url: 'https://x', detail: 'low', hidden: 'five5' } }] }, 5],
    [{ content: [{ type: 'image_url', image_url: { url: 'https://x' }, text: 'four' }] }, 4],
    [{ prefix: true, weight: 7 }, 0],
  ])('of %j is %d bytes of text', (message, bytes) => {
    expect(weigh(message)).toMatchObject({ textBytes: bytes, toolBytes: 0, messages: 1 });
  });

  test('counts tool calls apart, since hosts escape them again', () => {
    const call = { id: 'c1', type: 'function', function: { name: 'open', arguments: '{"lane":1}' } };
    const custom = { id: 'c2', type: 'custom', custom: { name: 'say', input: 'hi' } };
    expect(weigh({ tool_calls: [call, custom] })).toMatchObject({ textBytes: 4, toolBytes: 4 + 10 + 3 + 2 });
    expect(weigh({ function_call: { name: 'open', arguments: '{}' } }).toolBytes).toBe(6);
    const extended = { ...call, hidden: 'five5', function: { ...call.function, also: 'four' } };
    expect(weigh({ tool_calls: [extended] })).toMatchObject({ textBytes: 2 + 5 + 4, toolBytes: 4 + 10 });
    const both = { ...custom, function: { name: 'second' } };
    expect(weigh({ tool_calls: [both] }).textBytes).toBe(2 + JSON.stringify(both.function).length);
  });

  test('counts schemas as they stand in the body, spaces and all', () => {
    const tools = '[ {"type":"function", "function":{"name":"open"}} ]';
    const body = `{"model":"bridge","messages":[{"role":"user","content":""}],"tools": ${tools},"tool_choice":"auto"}`;
    expect(peek(jsonText(body)).size).toMatchObject({ toolBytes: tools.length + '"auto"'.length, tools: 1 });
    const format = { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } };
    expect(sizeOf({ response_format: format })).toMatchObject({ toolBytes: JSON.stringify(format).length, tools: 1 });
    expect(sizeOf({ response_format: { type: 'text' } }).tools).toBe(0);
  });

  test('counts parts and tool calls, which hosts put markers around', () => {
    const part = { type: 'text', text: 'a' };
    const call = { id: 'c', type: 'function', function: { name: 'n', arguments: '{}' } };
    expect(weigh({ content: [part, part], tool_calls: [call, call] }).parts).toBe(4);
    expect(weigh({ function_call: { name: 'n', arguments: '{}' } }).parts).toBe(1);
    expect(weigh({ content: 'a' }).parts).toBeUndefined();
  });

  test('counts images, not their bytes', () => {
    const url = `data:image/png;base64,${'A'.repeat(10_000)}`;
    const content = [{ type: 'image_url', image_url: { url } }];
    expect(sizeOf({ messages: [{ role: 'user', content }] })).toMatchObject({ images: 1, textBytes: 0, toolBytes: 0 });
  });

  test('counts what a host may put into the prompt though we know nothing of it', () => {
    expect(sizeOf({ documents: [{ text: 'four' }] }).textBytes).toBe(5 + '[{"text":"four"}]'.length);
    expect(sizeOf({ guidance: 'four', top_k: 40 }).textBytes).toBe(5 + 4);
  });
});

/** Messages of every kind, and all the text in them. */
const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const part = fc.oneof(
  text.map((said) => ({ part: { type: 'text', text: said }, texts: [said] })),
  text.map((said) => ({ part: { type: 'refusal', refusal: said }, texts: [said] })),
  fc.constant({ part: { type: 'image_url', image_url: { url: 'https://images.example/1' } }, texts: [] as string[] }),
);
const message = fc
  .record({
    content: fc.oneof(
      text.map((said) => ({ content: said as unknown, texts: [said] })),
      fc.array(part, { maxLength: 4 }).map((parts) => ({
        content: parts.map((one) => one.part) as unknown,
        texts: parts.flatMap((one) => one.texts),
      })),
    ),
    members: fc.dictionary(fc.constantFrom('name', 'refusal', 'reasoning', 'tool_call_id', 'hint'), text),
  })
  .map(({ content, members }) => ({
    message: { role: 'user', content: content.content, ...members },
    texts: [...content.texts, ...Object.values(members)],
  }));

test('text bytes are the UTF-8 bytes of all text, and the texts to count are the same ones', () => {
  fc.assert(
    fc.property(fc.array(message, { minLength: 1, maxLength: 5 }), (messages) => {
      const body = { model: 'bridge', messages: messages.map((one) => one.message) };
      const all = messages.flatMap((one) => one.texts).join('');
      expect(peek(jsonText(body)).size.textBytes).toBe(Buffer.byteLength(all));
      const counted = texts(jsonText(body)).texts;
      expect([...counted].sort().join('\n')).toBe(
        messages
          .flatMap((one) => one.texts)
          .sort()
          .join('\n'),
      );
    }),
    { numRuns: 300 },
  );
});

test('the texts to count are all that weighs as text', () => {
  const body = { ...ASK, messages: [{ role: 'user', content: 'a', trail: { deep: 'b' } }], documents: ['c'] };
  const counted = texts(jsonText(body));
  expect(Buffer.byteLength(counted.texts.join(''))).toBe(peek(jsonText(body)).size.textBytes);
});

test('the tool texts to count are all that weighs as tools', () => {
  const calls = [{ id: 'c', type: 'function', function: { name: 'tide', arguments: '{"at":"Łódź"}' } }];
  const body = {
    ...ASK,
    messages: [{ role: 'assistant', content: null, tool_calls: calls }],
    tools: [{ type: 'function', function: { name: 'tide', parameters: { description: 'Wasserstände' } } }],
    response_format: { type: 'json_object' },
  };
  const { toolTexts } = texts(jsonText(body));
  expect(Buffer.byteLength(toolTexts.join(''))).toBe(peek(jsonText(body)).size.toolBytes);
});

test.each<[string, object, number | undefined]>([
  ['plain text', { content: 'Zwölf' }, undefined],
  ['a ligature of 33 bytes', { content: '\ufdfa' }, 33 - 3],
  ['fullwidth letters, which become shorter', { content: 'ＡＢＣ' }, undefined],
  [
    'the arguments of a call',
    { content: null, tool_calls: [{ function: { name: 'a', arguments: '\ufdfa' } }] },
    33 - 6 * 3,
  ],
])('weighs %s by its NFKC form if that is longer', (_, more, extra) => {
  const body = { ...ASK, messages: [{ role: 'assistant', ...more }] };
  expect(peek(jsonText(body)).size.normalizedExtraBytes).toBe(extra);
});
