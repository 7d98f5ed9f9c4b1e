import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { SIMULATED } from '../scripts/catalog/simulated.ts';
import type { HostWire } from '../src/canonical/wire-names.ts';
import type { ModelRow } from '../src/catalog/schema.ts';
import { windowOf } from '../src/sim/prompt.ts';
import { type Harness, startHarness } from './harness.ts';

/** Prompts that are too long for their model, on every wire: by our own count, and by the host's answer. */

const WINDOW = 50;
const PRICE = { input: 1_000_000_000, output: 2_000_000_000 };

/** Models whose prompts we can count ourselves. */
function counted(id: string, caps: ModelRow['caps'], host: string, wire: HostWire): ModelRow {
  const limits = { context_window: WINDOW, max_output_tokens: 20, tokenizer: 'o200k_base' as const };
  const embedding = wire === 'embeddings' ? { embedding: { dimensions: 256, matryoshka: true } } : {};
  return { id, caps: caps!, ...limits, ...embedding, price: PRICE, hosts: [{ host: 'sim', model: host, wire }] };
}

const MODELS: ModelRow[] = [
  counted('short-chat', ['chat'], 'sim-gpt', 'chat'),
  counted('short-messages', ['chat', 'messages'], 'sim-claude', 'messages'),
  counted('short-responses', ['chat'], 'sim-responses', 'responses'),
  counted('short-completions', ['completions'], 'sim-gpt', 'completions'),
  counted('short-embeddings', ['embeddings'], 'sim-embed', 'embeddings'),
  { ...counted('wide-chat', ['chat'], 'sim-gpt', 'chat'), context_window: 60_000 },
];

interface Ask {
  readonly path: string;
  readonly model: string;
  /** The field of the prompt. */
  readonly param: string;
  readonly streams: boolean;
  body(prompt: string): object;
}

const messages = (content: string) => [{ role: 'user', content }];

const ASKS: Readonly<Record<string, Ask>> = {
  chat: {
    path: '/v1/chat/completions',
    model: 'short-chat',
    param: 'messages',
    streams: true,
    body: (text) => ({ messages: messages(text), max_tokens: 16 }),
  },
  'chat to messages': {
    path: '/v1/chat/completions',
    model: 'short-messages',
    param: 'messages',
    streams: true,
    body: (text) => ({ messages: messages(text), max_tokens: 16 }),
  },
  'chat to responses': {
    path: '/v1/chat/completions',
    model: 'short-responses',
    param: 'messages',
    streams: true,
    body: (text) => ({ messages: messages(text), max_tokens: 16 }),
  },
  messages: {
    path: '/v1/messages',
    model: 'short-messages',
    param: 'messages',
    streams: true,
    body: (text) => ({ messages: messages(text), max_tokens: 16 }),
  },
  responses: {
    path: '/v1/responses',
    model: 'short-responses',
    param: 'input',
    streams: true,
    body: (text) => ({ input: text, max_output_tokens: 16 }),
  },
  'responses to chat': {
    path: '/v1/responses',
    model: 'short-chat',
    param: 'input',
    streams: true,
    body: (text) => ({ input: text, max_output_tokens: 16 }),
  },
  completions: {
    path: '/v1/completions',
    model: 'short-completions',
    param: 'prompt',
    streams: true,
    body: (text) => ({ prompt: text, max_tokens: 16 }),
  },
  'completions to chat': {
    path: '/v1/completions',
    model: 'short-chat',
    param: 'prompt',
    streams: true,
    body: (text) => ({ prompt: text, max_tokens: 16 }),
  },
  embeddings: {
    path: '/v1/embeddings',
    model: 'short-embeddings',
    param: 'input',
    streams: false,
    body: (text) => ({ input: text }),
  },
};

const DECISIONS: Readonly<Record<string, Ask>> = {
  systemone: {
    path: '/v1/systemone',
    model: 'sim-decide',
    param: 'state',
    streams: false,
    body: (text) => ({ state: text, questions: { sure: { type: 'noul' } } }),
  },
  decisions: {
    path: '/v1/decisions',
    model: 'sim-decide',
    param: 'input',
    streams: false,
    body: (text) => ({ input: text, questions: [{ type: 'predicate', name: 'sure', instructions: 'Is it?' }] }),
  },
};

/** How hosts report it; each words its counts differently. */
const HOST_WORDS: readonly (readonly [status: number, error: object])[] = [
  [
    400,
    {
      message: "This model's maximum context length is 50 tokens. However, your messages resulted in 77 tokens.",
      code: 'context_length_exceeded',
    },
  ],
  [400, { message: 'prompt is too long: 77 tokens > 50 maximum', type: 'invalid_request_error' }],
  [
    400,
    {
      message: 'The input token count (77) exceeds the maximum number of tokens allowed (50).',
      status: 'INVALID_ARGUMENT',
    },
  ],
  [413, { message: 'maximum context length is 50 tokens, however you requested 77 tokens', param: 'prompt' }],
  [
    422,
    {
      message: 'Your input exceeds the context window of this model: 77 of 50.',
      code: 'context_length_exceeded',
      param: 'input',
    },
  ],
  [400, { message: 'Too long for the context window: 77 of 50.', code: 'context_length_exceeded', param: 'state' }],
];

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness({ config: { models: MODELS } });
});
afterEach(async () => {
  harness.sim.reset();
  await harness.settled();
  await harness.expectCleanBooks();
});
afterAll(() => harness.stop());

async function send(ask: Ask, prompt: string, stream: boolean): Promise<Response> {
  return harness.post({ model: ask.model, ...ask.body(prompt), ...(stream ? { stream } : {}) }, {}, ask.path);
}

async function errorOf(response: Response, path: string): Promise<Record<string, unknown>> {
  const body = (await response.json()) as { type?: string; error: Record<string, unknown> };
  if (path.endsWith('/messages')) expect(body.type).toBe('error');
  return body.error;
}

const both = (ask: Ask): boolean[] => (ask.streams ? [false, true] : [false]);

describe.each(Object.entries(ASKS))('%s', (_, ask) => {
  test('a prompt over the window by our own exact count is a 400 that names both, before any host or hold', async () => {
    for (const stream of both(ask)) {
      const response = await send(ask, 'toll gate '.repeat(40), stream);
      expect(response.status).toBe(400);
      const error = await errorOf(response, ask.path);
      expect(error).toMatchObject({
        type: 'invalid_request_error',
        code: 'context_length_exceeded',
        param: ask.param,
      });
      expect(error.message).toMatch(/maximum context length of short-\w+ is 50 tokens.* at least 8\d tokens/);
      expect(response.headers.get('x-gateway-cost-nanousd')).toBe('0');
      expect(response.headers.get('x-should-retry')).toBe('false');
      expect(harness.sim.received()).toBe(0);
    }
  });

  test('more bytes than tokens of the window are no reason', async () => {
    const response = await send(ask, 'responsibilities internationalization '.repeat(2), false);
    expect([response.status, response.status === 200 ? '' : await response.text()]).toEqual([200, '']);
  });
});

/** Models whose tokenizers nobody knows, in the catalog of the simulator. */
const UNCOUNTED: Readonly<Record<string, Ask>> = {
  chat: { ...ASKS.chat!, model: 'sim-gpt-mini' },
  messages: { ...ASKS.messages!, model: 'sim-claude' },
  responses: { ...ASKS.responses!, model: 'sim-responses' },
};

const FAR_OVER = { ...ASKS, ...UNCOUNTED, ...DECISIONS };

describe.each(Object.entries(FAR_OVER))('%s', (_, ask) => {
  test('a prompt far over the window is a 400 that says at least how long it is, before any host or hold', async () => {
    const prompt = 'every barge on the long canal waits for its turn at the gate '.repeat(
      ask.model.startsWith('sim-') ? 32_000 : 200,
    );
    for (const stream of both(ask)) {
      const response = await send(ask, prompt, stream);
      expect(response.status).toBe(400);
      const error = await errorOf(response, ask.path);
      expect(error).toMatchObject({ type: 'invalid_request_error', code: 'context_length_exceeded', param: ask.param });
      expect(error.message).toMatch(/maximum context length .* is (50|128000) tokens.* at least \d+ tokens/);
      expect(harness.sim.received()).toBe(0);
    }
  });
});

test('a structured state far over the window is refused like a text', async () => {
  const state = { log: Array.from({ length: 40_000 }, (_, at) => ({ line: `barge ${at} waits at the gate` })) };
  const response = await harness.post(
    { model: 'sim-decide', ...DECISIONS.systemone!.body(''), state },
    {},
    '/v1/systemone',
  );
  expect(response.status).toBe(400);
  const error = await errorOf(response, '/v1/systemone');
  expect(error).toMatchObject({ code: 'context_length_exceeded', param: 'state' });
  expect(harness.sim.received()).toBe(0);
});

test.each([ASKS.completions!, ASKS.embeddings!])('token ids over the window are refused on $path', async (ask) => {
  const tokens = (count: number) => ({ model: ask.model, [ask.param]: Array.from({ length: count }, () => 7) });
  expect((await harness.post(tokens(WINDOW), {}, ask.path)).status).toBe(200);
  harness.sim.reset();
  const response = await harness.post(tokens(WINDOW + 1), {}, ask.path);
  expect(response.status).toBe(400);
  const error = await errorOf(response, ask.path);
  expect(error).toMatchObject({ code: 'context_length_exceeded', param: ask.param });
  expect(error.message).toContain('at least 51 tokens');
  expect(harness.sim.received()).toBe(0);
});

test('text without spaces, far over the window, is refused by the count of its beginning', async () => {
  const prompt = '水門橋渡船'.repeat(500_000);
  const response = await harness.post({ model: 'wide-chat', messages: messages(prompt), max_tokens: 16 });
  expect(response.status).toBe(400);
  const error = await errorOf(response, '/v1/chat/completions');
  expect(error.code).toBe('context_length_exceeded');
  expect(harness.sim.received()).toBe(0);
});

test('the simulator has the windows of the catalog', () => {
  expect(SIMULATED.map(({ id }) => [id, windowOf(id)])).toEqual(
    SIMULATED.map(({ id, context_window: window }) => [id, window]),
  );
});

describe.each(Object.entries({ ...ASKS, ...DECISIONS }))('%s', (_, ask) => {
  test.each(HOST_WORDS)(
    'a host that says so (%i %j) is a 422 that names the counts and costs nothing',
    async (status, error) => {
      for (const stream of both(ask)) {
        harness.sim.script({ status, errorBody: { error } }, { times: 1 });
        const response = await send(ask, 'hello', stream);
        expect(response.status).toBe(422);
        const seen = await errorOf(response, ask.path);
        expect(seen.code).toBe('context_length_exceeded');
        expect(seen.type).toBe('upstream_error');
        expect(seen.message).toMatch(/77.*50|50.*77/);
        expect(response.headers.get('x-gateway-cost-nanousd')).toBe('0');
        expect(response.headers.get('x-should-retry')).toBe('false');
        expect(await harness.newestReceipt()).toMatchObject({ httpStatus: 422, costNanousd: 0n });
      }
    },
  );
});

test.each(Object.values(DECISIONS))(
  'a typed-decision host that gives only the type of the error is a 422 too, in words of ours, on $path',
  async (ask) => {
    const response = await send(ask, 'x '.repeat(130_000), false);
    expect(response.status).toBe(422);
    expect(await errorOf(response, ask.path)).toMatchObject({
      type: 'upstream_error',
      code: 'context_length_exceeded',
      message: expect.stringMatching(/exceeds the maximum context length of/),
    });
    expect(response.headers.get('x-gateway-cost-nanousd')).toBe('0');
    expect(harness.sim.received()).toBe(1);
  },
);
