import { expect, test } from 'vitest';
import { WIRES } from '../src/wires/registry.ts';
import { jsonText } from './chat-wire.ts';

/** Clients of aggregators mark what a host should cache in several places of a chat request. */

const MARK = { cache_control: { type: 'ephemeral', ttl: '1h' } };
const TERMS = {
  hostModel: 'm',
  stream: false,
  outputLimit: 9,
  outputLimitField: 'max_tokens',
  reasoningEffort: null,
  thinking: null,
} as const;

function written(fields: object, wire: 'messages' | 'responses' = 'messages') {
  const text = jsonText({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...fields });
  const request = WIRES.chat.hub!.client!.readRequest(text, WIRES.chat.client.peek(text, {}));
  return JSON.parse(WIRES[wire].hub!.upstream!.writeRequest(request, TERMS).toString());
}

test('the mark of a whole request reaches a messages host, and is no reason to refuse others', () => {
  expect(written(MARK)).toMatchObject(MARK);
  expect(written({})).not.toHaveProperty('cache_control');
  expect(written(MARK, 'responses')).not.toHaveProperty('cache_control');
});

test('the mark of a message is on its last block', () => {
  const call = { id: 'c1', type: 'function', function: { name: 'tide', arguments: '{}' } };
  const { system, messages } = written({
    messages: [
      { role: 'system', content: 'Be brief.', ...MARK },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
        ...MARK,
      },
      { role: 'assistant', content: 'c', reasoning: 'hm', tool_calls: [call], ...MARK },
      { role: 'tool', tool_call_id: 'c1', content: 'high', ...MARK },
    ],
  });
  expect(system).toEqual([{ type: 'text', text: 'Be brief.', ...MARK }]);
  expect(messages).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b', ...MARK },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'c' },
        { type: 'tool_use', id: 'c1', name: 'tide', input: {}, ...MARK },
      ],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'c1', ...MARK, content: [{ type: 'text', text: 'high' }] }],
    },
  ]);
});

test('a mark of the last block itself comes before that of its message', () => {
  const content = [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '5m' } }];
  expect(written({ messages: [{ role: 'user', content, ...MARK }] }).messages[0].content).toEqual(content);
});

test('the mark of a tool may be inside its function', () => {
  const described = { name: 'tide', parameters: { type: 'object' } };
  for (const tool of [{ function: described, ...MARK }, { function: { ...described, ...MARK } }]) {
    expect(written({ tools: [{ type: 'function', ...tool }] }).tools).toMatchObject([{ name: 'tide', ...MARK }]);
  }
});

test('a mark may have the name that the other vendor gave it', () => {
  const content = [{ type: 'text', text: 'a', prompt_cache_breakpoint: {} }];
  expect(written({ messages: [{ role: 'user', content }] }).messages[0].content).toEqual([
    { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } },
  ]);
});
