import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callRaw } from '../../../../test/raw-client.ts';
import { type Json, SimCaller } from '../../../../test/sim-caller.ts';
import { parseJson } from '../../../json/json.ts';
import { startSim } from '../../sim.ts';
import type { Sim } from '../../sim-handle.ts';

const ASK = { model: 'sim-claude', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] };
const OLD = { 'anthropic-version': '2023-06-01' };
const NEW = { 'anthropic-version': '2026-10-21' };

let sim: Sim;
let caller: SimCaller<Json>;

beforeAll(async () => {
  sim = await startSim();
  caller = new SimCaller(sim, '/v1/messages', ASK);
});
beforeEach(() => sim.reset());
afterAll(() => sim.close());

function userSays(...content: unknown[]): Json {
  return { messages: [{ role: 'user', content }] };
}

describe('a malformed request', () => {
  test.each<[string, Json, string]>([
    ['no model', { model: undefined }, 'model: Field required'],
    ['no limit', { max_tokens: undefined }, 'max_tokens: Field required'],
    ['a limit of zero', { max_tokens: 0 }, 'max_tokens: Input should be greater'],
    ['no messages', { messages: undefined }, 'messages: Field required'],
    ['empty messages', { messages: [] }, 'messages: at least one message'],
    ['an unknown role', { messages: [{ role: 'tool', content: 'x' }] }, 'messages.0.role'],
    ['an assistant first', { messages: [{ role: 'assistant', content: 'x' }] }, 'messages: first message must use'],
    ['an empty text', userSays({ type: 'text', text: '' }), 'messages: text content blocks must be non-empty'],
    ['white space alone', userSays({ type: 'text', text: ' \n' }), 'messages: text content blocks must contain non-wh'],
    ['an unknown block', userSays({ type: 'video' }), "messages.0.content.0: Input tag 'video'"],
    ['an image of nothing', userSays({ type: 'image', source: {} }), 'messages.0.content.0.image.source'],
    ['a call by the user', userSays({ type: 'tool_use', id: 'a', name: 'b', input: {} }), '`tool_use` blocks can only'],
    ['an empty system', { system: [{ type: 'text', text: '' }] }, 'system: text content blocks'],
    [
      'a tool of another type',
      { tools: [{ type: 'web_search_20250305', name: 'x' }] },
      "tools.0: Input tag 'web_search",
    ],
    ['a tool without schema', { tools: [{ name: 'x' }] }, 'tools.0.custom.input_schema: Field required'],
    ['a choice of no tools', { tool_choice: { type: 'any' } }, 'tool_choice'],
    ['a blank stop', { stop_sequences: [' \n'] }, 'stop_sequences: each stop sequence'],
    ['a stream in words', { stream: 'yes' }, 'stream: Input should be a valid boolean'],
    ['a format of another kind', { output_config: { format: { type: 'yaml' } } }, 'output_config.format'],
    ['an unknown cache', userSays({ type: 'text', text: 'x', cache_control: { type: 'x' } }), 'cache_control.type'],
  ])('with %s is refused in the vendor’s shape', async (_, more, message) => {
    const { status, body } = await caller.refusal(more, OLD);
    expect(status).toBe(400);
    expect(body).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.stringContaining(message) },
      request_id: expect.stringMatching(/^req_/),
    });
  });

  test('that is not a JSON object, or asks for an unknown fault, is refused in that shape too', async () => {
    for (const body of ['[]', '{', { ...ASK, sim: { dealyMs: 1 } }]) {
      const answer = await callRaw(`${sim.url}/v1/messages`, body, { headers: OLD });
      expect(answer.status).toBe(400);
      expect(parseJson(answer.text)).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
    }
  });
});

describe('versions', () => {
  test('one of the two must be named', async () => {
    expect((await caller.refusal({})).body).toMatchObject({
      error: { message: 'anthropic-version: header is required' },
    });
    expect((await caller.refusal({}, { 'anthropic-version': '2024-01-01' })).status).toBe(400);
    for (const headers of [OLD, NEW]) expect((await caller.send({}, headers)).status).toBe(200);
  });

  test.each<[string, Json]>([
    ['sampling', { temperature: 1 }],
    ['citations of the user', userSays({ type: 'text', text: 'x', citations: [{}] })],
    [
      'documents of the assistant',
      {
        messages: [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: [{ type: 'document', source: { type: 'text', data: 'x' } }] },
          { role: 'user', content: 'y' },
        ],
      },
    ],
  ])('the newer forbids what the older allows: %s', async (_, more) => {
    expect((await caller.send(more, OLD)).status).toBe(200);
    expect((await caller.send(more, NEW)).status).toBe(400);
  });

  test('the newer allows system messages among the others', async () => {
    const more = { messages: [...ASK.messages, { role: 'system', content: 'Be brief.' }] };
    expect((await caller.send(more, NEW)).status).toBe(200);
    expect((await caller.refusal(more, OLD)).body).toMatchObject({
      error: { message: expect.stringContaining('Unexpected role "system"') },
    });
  });
});

describe('tools', () => {
  const tools = ['one', 'two', 'three'].map((name) => ({ name, input_schema: { type: 'object' } }));

  async function called(tool_choice?: Json, content = 'Hello'): Promise<unknown[]> {
    const answer = await new SimCaller<{ content: Json[] }>(sim, '/v1/messages', ASK, OLD).complete({
      tools,
      tool_choice,
      messages: [{ role: 'user', content }],
    });
    return answer.content.filter((block) => block.type === 'tool_use').map((block) => block.name);
  }

  test('are chosen as asked', async () => {
    expect(await called()).toEqual([]);
    expect(await called(undefined, 'Call one and use two.')).toEqual(['one', 'two']);
    const single = { type: 'auto', disable_parallel_tool_use: true };
    expect(await called(single, 'Call one and use two.')).toEqual(['one']);
    expect(await called({ type: 'any' })).toEqual(['one', 'two']);
    expect(await called({ type: 'tool', name: 'three' })).toEqual(['three']);
    expect(await called({ type: 'none' })).toEqual([]);
  });
});
