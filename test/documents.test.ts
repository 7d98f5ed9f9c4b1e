import Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';

/** Documents inside requests, on every pair of wires. */

let harness: Harness;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  harness = await startHarness();
  openai = harness.openai('unused', { maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: harness.url, apiKey: 'unused', maxRetries: 0 });
});
beforeEach(() => harness.sim.reset());
afterAll(async () => {
  await harness.expectCleanBooks();
  await harness.stop();
});

const BASE64 = Buffer.from('%PDF-1.7 a page').toString('base64');
const DATA = `data:application/pdf;base64,${BASE64}`;

const CHAT_PART = { type: 'file' as const, file: { filename: 'tides.pdf', file_data: DATA } };
const RESPONSES_PART = { type: 'input_file' as const, filename: 'tides.pdf', file_data: DATA };
const MESSAGES_BLOCK = {
  type: 'document' as const,
  source: { type: 'base64' as const, media_type: 'application/pdf' as const, data: BASE64 },
  title: 'tides.pdf',
};

/** How the document must reach a host of each wire. */
const SENT = { 'sim-gpt': CHAT_PART, 'sim-responses': RESPONSES_PART, 'sim-claude': MESSAGES_BLOCK } as const;
type Model = keyof typeof SENT;
const MODELS = Object.keys(SENT) as Model[];

/** The last part that the host got. */
function partSent(): unknown {
  const body = JSON.parse(harness.sim.calls.at(-1)!.body) as {
    messages?: { content: unknown[] }[];
    input?: { content: unknown[] }[];
  };
  return (body.messages ?? body.input)!.at(-1)!.content.at(-1);
}

function chat(model: string, part: unknown, text = 'What is this?') {
  return { model, messages: [{ role: 'user', content: [{ type: 'text', text }, part] }] };
}

function responses(model: string, part: unknown) {
  return { model, input: [{ role: 'user', content: [{ type: 'input_text', text: 'What is this?' }, part] }] };
}

function messages(part: unknown, model = 'sim-claude') {
  return { ...chat(model, part), max_tokens: 100 };
}

async function errorOf(
  path: string,
  body: unknown,
): Promise<{ status: number; code: string; param: string; message: string }> {
  const answer = await harness.post(body, {}, path);
  const { error } = (await answer.json()) as { error: { code: string; param: string; message: string } };
  return { status: answer.status, ...error };
}

describe.each(MODELS)('a document reaches the host of %s', (model) => {
  test('from the chat wire', async () => {
    const body = chat(model, CHAT_PART) as OpenAI.ChatCompletionCreateParamsNonStreaming;
    const answer = await openai.chat.completions.create(body);
    expect(answer.choices[0]!.message.content).toContain('simulated');
    expect(partSent()).toEqual(SENT[model]);
  });

  test('from the responses wire', async () => {
    const body = responses(model, RESPONSES_PART) as OpenAI.Responses.ResponseCreateParamsNonStreaming;
    expect((await openai.responses.create(body)).output_text).toContain('simulated');
    expect(partSent()).toEqual(SENT[model]);
  });
});

test('a document of the messages wire, and one in a tool result, reach a host of that wire as they are', async () => {
  await anthropic.messages.create(messages(MESSAGES_BLOCK) as Anthropic.MessageCreateParamsNonStreaming);
  expect(partSent()).toEqual(MESSAGES_BLOCK);
  const call = { type: 'tool_use', id: 'toolu_1', name: 'open', input: {} };
  const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: [MESSAGES_BLOCK] };
  const turns = [
    { role: 'user', content: 'Open it.' },
    { role: 'assistant', content: [call] },
    { role: 'user', content: [result] },
  ];
  const tools = [{ name: 'open', input_schema: { type: 'object' } }];
  const answer = await harness.post(
    { model: 'sim-claude', max_tokens: 50, messages: turns, tools },
    {},
    '/v1/messages',
  );
  expect(answer.status).toBe(200);
  expect(partSent()).toEqual(result);
});

describe('the hold', () => {
  async function inputHold(path: string, body: object): Promise<number> {
    const answer = await harness.post({ path, body }, {}, '/v1/quote');
    const quote = (await answer.json()) as { components: { input: number } };
    return quote.components.input;
  }

  /** A prompt that fills the window, at the input rate that then applies. */
  async function windowCost(model: string): Promise<number> {
    const entry = (await (await harness.get(`/v1/models/${model}`)).json()) as {
      context_window: number;
      pricing: { input: number; tiers?: { input: number }[] };
    };
    return (entry.context_window * (entry.pricing.tiers?.at(-1)?.input ?? entry.pricing.input)) / 1_000_000;
  }

  test('of a document is that of the whole context window, since only the host can count its pages', async () => {
    const whole = await windowCost('sim-gpt');
    expect(await inputHold('/v1/chat/completions', chat('sim-gpt', CHAT_PART))).toBeGreaterThanOrEqual(whole);
    expect(await inputHold('/v1/responses', responses('sim-gpt', RESPONSES_PART))).toBeGreaterThanOrEqual(whole);
    const cited = {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'x' },
      citations: { enabled: true },
    };
    const claude = await inputHold('/v1/messages', messages(MESSAGES_BLOCK));
    expect(claude).toBeGreaterThanOrEqual(await windowCost('sim-claude'));
    expect(await inputHold('/v1/messages', messages(cited))).toBe(claude);
  });

  test('of a document of text is that of its text', async () => {
    const source = { type: 'text', media_type: 'text/plain', data: 'The tide turns at nine.' };
    const asText = await inputHold('/v1/messages', messages({ type: 'text', text: source.data }));
    const asDocument = await inputHold('/v1/messages', messages({ type: 'document', source, title: '' }));
    expect(asDocument).toBe(asText);
    const block = { type: 'text', text: source.data };
    const inBlocks = (content: readonly object[]) =>
      messages({ type: 'document', source: { type: 'content', content } });
    const oneBlock = await inputHold('/v1/messages', inBlocks([block]));
    const twoBlocks = await inputHold('/v1/messages', inBlocks([block, { type: 'text', text: '' }]));
    // A block of a document is a part too, and hosts may mark where parts begin and end.
    expect(oneBlock - asText).toBe(twoBlocks - oneBlock);
    expect(oneBlock).toBeGreaterThan(asText);
  });
});

describe('a document is refused by the name of its part', () => {
  test.each([
    ['/v1/chat/completions', chat('sim-gpt-mini', CHAT_PART), 'messages[0].content[1].file'],
    ['/v1/responses', responses('sim-gpt-mini', RESPONSES_PART), 'input[0].content[1]'],
  ])('by a model that takes none, at %s', async (path, body, param) => {
    expect(await errorOf(path, body)).toMatchObject({ status: 400, code: 'missing_capability', param });
    expect(harness.sim.calls).toHaveLength(0);
  });

  test.each([
    [
      '/v1/chat/completions',
      chat('sim-gpt', { type: 'file', file: { file_id: 'file_1' } }),
      'messages[0].content[1].file.file_id',
    ],
    ['/v1/responses', responses('sim-gpt', { type: 'input_file', file_id: 'file_1' }), 'input[0].content[1].file_id'],
    [
      '/v1/responses',
      responses('sim-gpt', { type: 'input_file', file_url: 'https://a.example/b.pdf' }),
      'input[0].content[1].file_url',
    ],
    [
      '/v1/messages',
      messages({ type: 'document', source: { type: 'url', url: 'https://a.example/b.pdf' } }),
      'messages[0].content[1].source',
    ],
    [
      '/v1/messages',
      messages({ type: 'document', source: { type: 'file', file_id: 'file_1' } }),
      'messages[0].content[1].source',
    ],
  ])('by id or address, at %s', async (path, body, param) => {
    const error = await errorOf(path, body);
    expect(error).toMatchObject({ status: 400, code: 'unsupported_feature', param });
    expect(error.message).toContain('send the document itself');
  });

  test('in the result of a tool, on a host that takes text only there', async () => {
    const input = [
      { type: 'function_call', call_id: 'c1', name: 'open', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: [RESPONSES_PART] },
    ];
    const error = await errorOf('/v1/responses', { model: 'sim-gpt', input });
    expect([error.status, error.code]).toEqual([400, 'unsupported_parameter']);
  });
});

test('the catalog says which models take documents', async () => {
  const { data } = (await (await harness.get('/v1/models')).json()) as {
    data: { id: string; caps: string[]; architecture: { input_modalities: string[] } }[];
  };
  const taking = data.filter(({ caps }) => caps.includes('documents'));
  expect(taking.map(({ id }) => id).toSorted()).toEqual(['sim-claude', 'sim-gpt', 'sim-responses']);
  for (const { architecture } of taking) expect(architecture.input_modalities).toEqual(['text', 'image', 'file']);
});
