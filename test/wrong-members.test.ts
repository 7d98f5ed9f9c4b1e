import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';

/** Members of the wrong type, deep inside a request that is translated: without a check their text would be sent, or a 500. */

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.stop());

const WRONG = [5, null, [], { toString: 1 }];
const MESSAGES = [{ role: 'user', content: 'Hello' }];
const NAMED = { type: 'function', name: 'tide', parameters: { type: 'object', properties: {} } };

test.each<[param: string, path: string, make: (value: unknown) => object]>([
  [
    'tool_choice.function.name',
    '/v1/chat/completions',
    (name) => ({
      messages: MESSAGES,
      tools: [{ type: 'function', function: { name: 'tide' } }],
      tool_choice: { type: 'function', function: { name } },
    }),
  ],
  [
    'tool_choice.name',
    '/v1/responses',
    (name) => ({ input: 'Hello', tools: [NAMED], tool_choice: { type: 'function', name } }),
  ],
  [
    'tool_choice.tools[0].name',
    '/v1/responses',
    (name) => ({
      input: 'Hello',
      tools: [NAMED],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name }] },
    }),
  ],
  ...['syntax', 'definition'].map((member): [string, string, (value: unknown) => object] => [
    `tools[0].format.${member}`,
    '/v1/responses',
    (value) => ({
      input: 'Hello',
      tools: [
        {
          type: 'custom',
          name: 'sum',
          format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"', [member]: value },
        },
      ],
    }),
  ]),
])('%s of another type is refused by name', async (param, path, make) => {
  for (const value of WRONG) {
    const response = await harness.post({ model: 'sim-claude', ...make(value) }, {}, path);
    const { error } = (await response.json()) as { error?: { code: string; param: string } };
    expect([response.status, error?.code, error?.param]).toEqual([400, 'invalid_value', param]);
  }
});
