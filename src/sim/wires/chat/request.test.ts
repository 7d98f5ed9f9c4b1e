import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callRaw } from '../../../../test/raw-client.ts';
import { SimChat } from '../../../../test/sim-chat.ts';
import { startSim } from '../../sim.ts';
import type { Sim } from '../../sim-handle.ts';

let sim: Sim;
let chat: SimChat;

beforeAll(async () => {
  sim = await startSim();
  chat = new SimChat(sim);
});
beforeEach(() => sim.reset());
afterAll(() => sim.close());

describe('a malformed request', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['no model', { model: undefined }, 'model'],
    ['no messages', { messages: undefined }, 'messages'],
    ['empty messages', { messages: [] }, 'messages'],
    ['an unknown role', { messages: [{ role: 'robot', content: '' }] }, 'messages[0].role'],
    ['a number for content', { messages: [{ role: 'user', content: 5 }] }, 'messages[0].content'],
    ['an unknown part', { messages: [{ role: 'user', content: [{ type: 'video' }] }] }, 'messages[0].content[0]'],
    ['a limit of zero', { max_tokens: 0 }, 'max_tokens'],
    ['a limit in words', { max_tokens: 'ten' }, 'max_tokens'],
    ['n of zero', { n: 0 }, 'n'],
    ['five stops', { stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop'],
    ['an unknown effort', { reasoning_effort: 'heroic' }, 'reasoning_effort'],
    ['stream options without a stream', { stream_options: { include_usage: true } }, 'stream_options'],
    ['a tool of another type', { tools: [{ type: 'web_search' }] }, 'tools[0]'],
    ['a format of another type', { response_format: { type: 'yaml' } }, 'response_format'],
  ])('with %s is refused naming the field', async (_, more, param) => {
    const { status, error } = await chat.refusal(more);
    expect(status).toBe(400);
    expect(error).toMatchObject({ type: 'invalid_request_error', param });
  });

  test('that is not a JSON object is refused', async () => {
    for (const body of ['{', '[]', 'null', '']) {
      expect((await callRaw(`${sim.url}/v1/chat/completions`, body)).status).toBe(400);
    }
  });
});
