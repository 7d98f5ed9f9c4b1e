import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Json, SimCaller } from '../../../../test/sim-caller.ts';
import { parseJson } from '../../../json/json.ts';
import { startSim } from '../../sim.ts';
import type { Sim } from '../../sim-handle.ts';
import { countTokens } from '../../tokens.ts';

interface Completion {
  choices: {
    text: string;
    index: number;
    finish_reason: string;
    logprobs: {
      tokens: string[];
      token_logprobs: (number | null)[];
      text_offset: number[];
      top_logprobs: object[] | null;
    };
  }[];
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
}

const PROMPT = 'Once upon a time';
const ASK = { model: 'sim-text', prompt: PROMPT };

let sim: Sim;
let client: OpenAI;
let caller: SimCaller<Completion>;

beforeAll(async () => {
  sim = await startSim();
  client = new OpenAI({ baseURL: `${sim.url}/v1`, apiKey: 'k', maxRetries: 0 });
  caller = new SimCaller(sim, '/v1/completions', ASK);
});
beforeEach(() => sim.reset());
afterAll(() => sim.close());

async function chunksOf(more: Json): Promise<Completion[]> {
  const events = await caller.stream(more);
  expect(events.pop()!.data).toBe('[DONE]');
  return events.map((event) => parseJson(event.data) as Completion);
}

describe('a completion', () => {
  test('has the vendor’s members, and 16 tokens unless told otherwise', async () => {
    const completion = await client.completions.create(ASK);
    expect(completion).toEqual({
      id: expect.stringMatching(/^cmpl-/),
      object: 'text_completion',
      created: expect.any(Number),
      model: 'sim-text',
      choices: [{ text: expect.any(String), index: 0, logprobs: null, finish_reason: 'length' }],
      usage: { prompt_tokens: 4, completion_tokens: 16, total_tokens: 20 },
    });
    const whole = await client.completions.create({ ...ASK, max_tokens: 500 });
    expect(whole.choices[0]!.finish_reason).toBe('stop');
    expect(whole.usage!.completion_tokens).toBe(countTokens(whole.choices[0]!.text));
  });

  test('streams the same text through the SDK', async () => {
    const whole = await client.completions.create({ ...ASK, max_tokens: 30 });
    let text = '';
    for await (const chunk of await client.completions.create({ ...ASK, max_tokens: 30, stream: true })) {
      text += chunk.choices[0]!.text;
    }
    expect(text).toBe(whole.choices[0]!.text);
  });

  test.each<[string, unknown, number, number]>([
    ['text', 'one two', 1, 2],
    ['texts', ['one', 'two three'], 2, 3],
    ['tokens', [11, 12, 13], 1, 3],
    ['lists of tokens', [[11, 12], [13]], 2, 3],
  ])('takes %s as prompt', async (_, prompt, prompts, promptTokens) => {
    const answer = await caller.complete({ prompt, n: 2 });
    expect(answer.choices.map((choice) => choice.index)).toEqual(
      Array.from({ length: prompts * 2 }, (_, index) => index),
    );
    expect(answer.usage).toMatchObject({ prompt_tokens: promptTokens, completion_tokens: prompts * 2 * 16 });
  });

  test('gives all answers to the first prompt, then to the second', async () => {
    const { choices } = await caller.complete({ prompt: ['aa', 'bb'], n: 2, max_tokens: 60 });
    expect(choices.map((choice) => /"(aa|bb)"/.exec(choice.text)![1])).toEqual(['aa', 'aa', 'bb', 'bb']);
  });

  test('bills answers that best_of wrote and did not show', async () => {
    const answer = await caller.complete({ best_of: 4, n: 1 });
    expect(answer.choices).toHaveLength(1);
    expect(answer.usage.completion_tokens).toBe(64);
  });

  test('echoes the prompt, reads a suffix, and stops where told', async () => {
    const plain = await caller.complete();
    const echoed = await caller.complete({ echo: true });
    expect(echoed.choices[0]!.text).toBe(PROMPT + plain.choices[0]!.text);
    expect(echoed.usage).toEqual(plain.usage);
    expect((await caller.complete({ suffix: ' the end' })).usage.prompt_tokens).toBe(6);
    expect((await caller.complete({ max_tokens: 0, echo: true })).choices[0]!.text).toBe(PROMPT);
    expect((await caller.complete({ stop: ' answer' })).choices[0]).toMatchObject({
      text: 'This is a simulated',
      finish_reason: 'stop',
    });
  });

  test('names log probabilities in the older shape', async () => {
    const { logprobs, text } = (await caller.complete({ logprobs: 2, max_tokens: 3 })).choices[0]!;
    expect(logprobs.tokens.join('')).toBe(text);
    expect(logprobs.text_offset[0]).toBe(PROMPT.length);
    expect(logprobs.top_logprobs!.map((top) => Object.keys(top).length)).toEqual([2, 2, 2]);
    const echoed = (await caller.complete({ logprobs: 0, max_tokens: 3, echo: true })).choices[0]!.logprobs;
    expect(echoed).toMatchObject({ tokens: expect.arrayContaining(['Once']), top_logprobs: null });
    expect([echoed.token_logprobs[0], echoed.text_offset[0]]).toEqual([null, 0]);
  });
});

describe('a stream', () => {
  test('has one object throughout, a finish once per choice, usage if asked', async () => {
    const chunks = await chunksOf({ prompt: ['a', 'b'], stream_options: { include_usage: true } });
    const last = chunks.pop()!;
    expect(last).toMatchObject({ choices: [], usage: { prompt_tokens: 2, completion_tokens: 32 } });
    expect(chunks.every((chunk) => chunk.usage === null)).toBe(true);
    for (const index of [0, 1]) {
      const own = chunks.flatMap((chunk) => chunk.choices.filter((choice) => choice.index === index));
      expect(own.map((choice) => choice.finish_reason).filter((finish) => finish !== null)).toEqual(['length']);
      expect(own.at(-1)!.finish_reason).toBe('length');
    }
  });

  test('echoes first, and continues the offsets of log probabilities', async () => {
    const chunks = await chunksOf({ echo: true, logprobs: 1, max_tokens: 8 });
    const whole = await caller.complete({ echo: true, logprobs: 1, max_tokens: 8 });
    expect(chunks[0]!.choices[0]!.text).toBe(PROMPT);
    expect(chunks.map((chunk) => chunk.choices[0]!.text).join('')).toBe(whole.choices[0]!.text);
    const offsets = chunks.flatMap((chunk) => chunk.choices[0]!.logprobs.text_offset);
    expect(offsets).toEqual(whole.choices[0]!.logprobs.text_offset);
  });
});

test.each<[string, Json, string]>([
  ['no model', { model: undefined }, 'model'],
  ['an empty list', { prompt: [] }, 'prompt'],
  ['mixed prompts', { prompt: ['a', 1] }, 'prompt'],
  ['best_of below n', { n: 3, best_of: 2 }, 'best_of'],
  ['best_of in a stream', { best_of: 2, stream: true }, 'best_of'],
  ['too many logprobs', { logprobs: 6 }, 'logprobs'],
  ['a prompt over the window', { model: 'x-small', prompt: 'a '.repeat(9000) }, 'prompt'],
])('a request with %s is refused naming the field', async (_, more, param) => {
  const { status, body } = await caller.refusal(more);
  expect(status).toBe(400);
  expect(body).toMatchObject({ error: { type: 'invalid_request_error', param } });
});
