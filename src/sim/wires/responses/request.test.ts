import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Json, SimCaller } from '../../../../test/sim-caller.ts';
import { startSim } from '../../sim.ts';
import type { Sim } from '../../sim-handle.ts';

let sim: Sim;
let caller: SimCaller<{ output: { content: { text: string }[] }[]; usage: { input_tokens: number } }>;

beforeAll(async () => {
  sim = await startSim();
  caller = new SimCaller(sim, '/v1/responses', { model: 'sim-responses', input: 'Hello' });
});
beforeEach(() => sim.reset());
afterAll(() => sim.close());

const CALL = { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' };

function says(role: string, ...content: unknown[]): Json {
  return { input: [{ role, content }] };
}

describe('a malformed request', () => {
  test.each<[string, Json, string, string | null]>([
    ['no model', { model: undefined }, 'model', 'missing_required_parameter'],
    ['no input', { input: undefined }, 'input', 'missing_required_parameter'],
    ['an empty input', { input: [] }, 'input', 'invalid_type'],
    ['an unknown role', says('robot'), 'input[0].role', 'invalid_value'],
    ['an unknown item', { input: [{ type: 'web_search_call' }] }, 'input[0].type', 'invalid_value'],
    ['a chat part', says('user', { type: 'text', text: 'x' }), 'input[0].content[0]', 'invalid_value'],
    [
      'a user’s part by the assistant',
      says('assistant', { type: 'input_text', text: 'x' }),
      'input[0].content[0]',
      'invalid_value',
    ],
    [
      'a chat image',
      says('user', { type: 'input_image', image_url: { url: 'x' } }),
      'input[0].content[0].image_url',
      'invalid_type',
    ],
    ['a limit below 16', { max_output_tokens: 15 }, 'max_output_tokens', 'integer_below_min_value'],
    [
      'a chat tool',
      { tools: [{ type: 'function', function: { name: 'x' } }] },
      'tools[0].name',
      'missing_required_parameter',
    ],
    ['a hosted tool', { tools: [{ type: 'web_search' }] }, 'tools[0].type', 'invalid_value'],
    [
      'a chat format',
      { text: { format: { type: 'json_schema', json_schema: { name: 'x', schema: {} } } } },
      'text.format.name',
      'missing_required_parameter',
    ],
    ['an unknown effort', { reasoning: { effort: 'heroic' } }, 'reasoning.effort', 'invalid_value'],
    ['an earlier response', { previous_response_id: 'resp_1' }, 'previous_response_id', 'previous_response_not_found'],
    ['work in the background', { background: true }, 'background', 'unsupported_value'],
    ['a call without its output', { input: [CALL] }, 'input', 'invalid_value'],
    [
      'an output without its call',
      { input: [{ type: 'function_call_output', call_id: 'c1', output: '' }] },
      'input',
      'invalid_value',
    ],
    [
      'a thought without a summary',
      { input: [{ type: 'reasoning' }, { role: 'assistant', content: 'x' }] },
      'input[0].summary',
      'missing_required_parameter',
    ],
  ])('with %s is refused naming the field', async (_, more, param, code) => {
    const { status, body } = await caller.refusal(more);
    expect(status).toBe(400);
    expect(body).toEqual({ error: { message: expect.any(String), type: 'invalid_request_error', param, code } });
  });

  test('that refers to something stored finds nothing', async () => {
    for (const more of [{ conversation: 'conv_1' }, { input: [{ type: 'item_reference', id: 'msg_1' }] }]) {
      expect((await caller.refusal(more)).status).toBe(404);
    }
  });

  test('over the window is refused by the code for it', async () => {
    const { status, body } = await caller.refusal({ model: 'x-small', input: 'word '.repeat(9000) });
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { code: 'context_length_exceeded', param: 'input' } });
  });
});

describe('input', () => {
  test('may be items without a type, of every role, with parts and a phase', async () => {
    const input = [
      { role: 'developer', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'one' },
          { type: 'input_image', image_url: 'data:image/png;base64,x' },
        ],
      },
      { type: 'message', role: 'assistant', phase: 'commentary', content: [{ type: 'output_text', text: 'two' }] },
      { role: 'user', content: 'three' },
    ];
    const answer = await caller.complete({ input });
    expect(answer.output[0]!.content[0]!.text).toContain('"three"');
    expect(answer.usage.input_tokens).toBe(4 * 4 + 3 + 1 + 85 + 1 + 1);
  });

  test('may hold the outputs of calls as text or parts', async () => {
    for (const output of ['blue', [{ type: 'input_text', text: 'blue' }]]) {
      const answer = await caller.complete({ input: [CALL, { type: 'function_call_output', call_id: 'c1', output }] });
      expect(answer.output[0]!.content[0]!.text).toContain('look said "blue"');
    }
  });
});
