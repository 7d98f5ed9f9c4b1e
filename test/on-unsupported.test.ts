import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadSimulatedFile } from '../src/catalog/load.ts';
import { type Harness, type PublicReceipt, startHarness } from './harness.ts';
import { MESSAGES } from './wire-cases.ts';

/** Callers may ask that fields which cannot be translated are dropped, and learn what was dropped. */

type Fields = Readonly<Record<string, unknown>>;

const DROP = { 'x-gateway-on-unsupported': 'drop' };

const CHAT = { path: '/v1/chat/completions', limit: 'max_tokens', body: { messages: MESSAGES } };
const RESPONSES = { path: '/v1/responses', limit: 'max_output_tokens', body: { input: 'Hello' } };
const COMPLETIONS = { path: '/v1/completions', limit: 'max_tokens', body: { prompt: 'Hello' } };
const AS_MESSAGES = { path: '/v1/messages', limit: 'max_tokens', body: { messages: MESSAGES, max_tokens: 50 } };
type Caller = typeof CHAT | typeof RESPONSES | typeof COMPLETIONS | typeof AS_MESSAGES;

/** The fields that the wire of the model's host lacks, in the order in which the response names them. */
const PAIRS: readonly [string, Caller, string, Fields, string][] = [
  ['chat to messages', CHAT, 'sim-claude', { logit_bias: { 1: 2 }, seed: 7 }, 'logit_bias=dropped,seed=dropped'],
  ['chat to responses', CHAT, 'sim-responses', { seed: 7, top_k: 5 }, 'top_k=dropped,seed=dropped'],
  ['responses to chat', RESPONSES, 'sim-gpt', { top_logprobs: 3 }, 'top_logprobs=dropped'],
  ['responses to messages', RESPONSES, 'sim-claude', { text: { verbosity: 'low' } }, 'text.verbosity=dropped'],
  ['completions to chat', COMPLETIONS, 'sim-gpt', { logprobs: 2, echo: true }, 'logprobs=dropped,echo=dropped'],
  ['completions to messages', COMPLETIONS, 'sim-claude', { presence_penalty: 1 }, 'presence_penalty=dropped'],
  ['completions to responses', COMPLETIONS, 'sim-responses', { frequency_penalty: 1 }, 'frequency_penalty=dropped'],
];

const SAME_WIRE: readonly [string, Caller, string][] = [
  ['chat', CHAT, 'sim-gpt'],
  ['responses', RESPONSES, 'sim-responses'],
  ['messages', AS_MESSAGES, 'sim-claude'],
];

const ROWS = loadSimulatedFile().models;

/** The same model without reasoning. */
function withoutThought(id: string): (typeof ROWS)[number] {
  const { thinking: _, reasoning_efforts: __, caps = [], ...row } = ROWS.find((one) => one.id === id)!;
  return { ...row, id: id.replace('sim', 'plain'), caps: [...caps.filter((cap) => cap !== 'reasoning'), 'messages'] };
}

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness({
    config: { models: [...ROWS, withoutThought('sim-claude'), withoutThought('sim-gpt')] },
  });
});
afterAll(async () => {
  await harness.settled();
  await harness.expectCleanBooks();
  await harness.stop();
});

interface Answer {
  readonly status: number;
  readonly adjusted: string | null;
  readonly text: string;
  readonly headers: Headers;
}

async function send({ path }: Caller, body: Fields, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await harness.post(body, headers, path);
  const text = await response.text();
  return {
    status: response.status,
    adjusted: response.headers.get('x-gateway-adjusted'),
    text,
    headers: response.headers,
  };
}

function receiptOf({ headers }: Answer): Promise<PublicReceipt> {
  return harness.receipt(headers.get('x-gateway-request-id')!);
}

function refusalOf({ status, text }: Answer): [number, string, string] {
  const { error } = JSON.parse(text) as { error: { code: string; param: string } };
  return [status, error.code, error.param];
}

describe.each(PAIRS)('%s', (_, caller, model, fields, adjusted) => {
  const asking = { model, ...caller.body, ...fields };

  test('refuses the first field by default', async () => {
    const [first] = adjusted.split('=', 1);
    expect(refusalOf(await send(caller, asking))).toEqual([400, 'unsupported_parameter', first]);
    expect(refusalOf(await send(caller, asking, { 'x-gateway-on-unsupported': 'refuse' }))[0]).toBe(400);
  });

  test.each([false, true])('drops the fields and names them, in the receipt too, streamed: %s', async (stream) => {
    const answer = await send(caller, { ...asking, stream }, DROP);
    expect(answer).toMatchObject({ status: 200, adjusted });
    expect((await receiptOf(answer)).adjusted).toBe(adjusted);
  });

  test('names nothing if nothing is unsupported', async () => {
    const answer = await send(caller, { model, ...caller.body }, DROP);
    expect(answer).toMatchObject({ status: 200, adjusted: null });
    expect((await receiptOf(answer)).adjusted).toBeNull();
  });

  test('lowers an output limit to the maximum of the model', async () => {
    const over = { ...asking, [caller.limit]: 20_000 };
    expect((await send(caller, over, DROP)).adjusted).toBe(`${adjusted},${caller.limit}=16384`);
  });
});

describe.each(SAME_WIRE)('%s on the same wire', (_, caller, model) => {
  const over = { model, ...caller.body, [caller.limit]: 20_000 };

  test('refuses an output limit above the maximum of the model by default', async () => {
    expect(refusalOf(await send(caller, over))).toEqual([400, 'invalid_value', caller.limit]);
  });

  test.each([false, true])('lowers it and says so, streamed: %s', async (stream) => {
    const answer = await send(caller, { ...over, stream }, DROP);
    expect(answer).toMatchObject({ status: 200, adjusted: `${caller.limit}=16384` });
  });

  test('keeps every field, so that nothing is named', async () => {
    const body = { model, ...caller.body, a_field_of_the_vendor: 1 };
    expect(await send(caller, body, DROP)).toMatchObject({ status: 200, adjusted: null });
  });
});

describe('decisions to systemone', () => {
  const DECISIONS = { ...RESPONSES, path: '/v1/decisions' };
  const questions = [{ type: 'predicate', name: 'sure', instructions: 'Is it?' }];
  const asking = { model: 'sim-decide', input: 'Hello', questions };

  test('refuses a field that it lacks by default, and drops and names it', async () => {
    const body = { ...asking, note: 'short' };
    expect(refusalOf(await send(DECISIONS, body))).toEqual([400, 'unsupported_parameter', 'note']);
    const answer = await send(DECISIONS, body, DROP);
    expect(answer).toMatchObject({ status: 200, adjusted: 'note=dropped' });
    expect((await receiptOf(answer)).adjusted).toBe('note=dropped');
    expect(JSON.parse(harness.sim.calls.at(-1)!.body)).not.toHaveProperty('note');
  });

  test('leaves out settings of a cache and names them, without being asked', async () => {
    const body = { ...asking, prompt_cache_options: { mode: 'explicit' } };
    expect(await send(DECISIONS, body)).toMatchObject({ status: 200, adjusted: 'prompt_cache_options=dropped' });
  });

  test.each(['state', 'max_tokens'])('refuses `%s` in any case', async (name) => {
    expect(refusalOf(await send(DECISIONS, { ...asking, [name]: 5 }, DROP))).toEqual([
      400,
      'unsupported_parameter',
      name,
    ]);
  });
});

describe('refused in any case', () => {
  test.each<[Fields, string]>([
    [{ provider: { order: ['x'] } }, 'provider'],
    [{ models: ['sim-gpt', 'sim-claude'] }, 'models'],
    [{ transforms: ['middle-out'] }, 'transforms'],
    [{ moderation: { on: true } }, 'moderation'],
    [{ web_search_options: {} }, 'web_search_options'],
    [{ plugins: [{ id: 'web' }] }, 'plugins'],
    [{ store: true }, 'store'],
    [{ prediction: { type: 'content', content: 'x' } }, 'prediction'],
    [{ service_tier: 'priority' }, 'service_tier'],
    [{ tools: [{ type: 'web_search' }] }, 'tools[0].type'],
  ])('%j', async (fields, param) => {
    const answer = await send(CHAT, { model: 'sim-claude', ...CHAT.body, ...fields }, DROP);
    expect(refusalOf(answer)).toEqual([400, 'unsupported_feature', param]);
  });

  test.each<[string, Fields, string]>([
    ['sim-responses', { stop: ['END'] }, 'stop'],
    ['sim-claude', { n: 2 }, 'n'],
    ['sim-claude', { thinking: { type: 'between_tools', budget_tokens: 2000 } }, 'thinking'],
    ['sim-claude', { thinking_budget: 2000 }, 'thinking_budget'],
    ['sim-claude', { system: 'Be brief.' }, 'system'],
    ['sim-claude', { functions: [{ name: 'f' }] }, 'functions'],
  ])('%s: %j limits the call or is part of its prompt', async (model, fields, param) => {
    const answer = await send(CHAT, { model, ...CHAT.body, ...fields }, DROP);
    expect(refusalOf(answer)).toEqual([400, 'unsupported_parameter', param]);
  });
});

test('the name of a message is dropped and named without being asked', async () => {
  const messages = [...MESSAGES, { role: 'assistant', content: 'Hi' }, { role: 'user', name: 'ada', content: 'Go' }];
  expect(await send(CHAT, { model: 'sim-claude', messages })).toMatchObject({
    status: 200,
    adjusted: 'messages.2.name=dropped',
  });
  expect(await send(CHAT, { model: 'sim-gpt', messages })).toMatchObject({ status: 200, adjusted: null });
});

test('thinking switched off in the words of the messages wire is sent as an effort to other hosts', async () => {
  const body = { model: 'sim-responses', ...CHAT.body, thinking: { type: 'disabled' } };
  expect((await send(CHAT, body)).status).toBe(200);
  expect(JSON.parse(harness.sim.calls.at(-1)!.body)).toMatchObject({ reasoning: { effort: 'none' } });
});

test.each([{ type: 'enabled' }, { type: 'adaptive' }])(
  '%j is dropped where the model cannot reason',
  async (thinking) => {
    const body = { ...CHAT.body, model: 'plain-claude', thinking };
    expect(refusalOf(await send(CHAT, body))).toEqual([400, 'missing_capability', 'thinking']);
    expect(await send(CHAT, body, DROP)).toMatchObject({ status: 200, adjusted: 'thinking=dropped' });
    const limited = { ...body, max_tokens: 4000, thinking: { ...thinking, budget_tokens: 2000 } };
    expect(refusalOf(await send(CHAT, limited, DROP))).toEqual([400, 'missing_capability', 'thinking']);
  },
);

test('an effort of the messages wire does not need a model that reasons, and is named', async () => {
  const body = { ...AS_MESSAGES.body, model: 'plain-gpt', output_config: { effort: 'high' } };
  expect(await send(AS_MESSAGES, body)).toMatchObject({ status: 200, adjusted: 'output_config.effort=dropped' });
});

test('thinking without a budget is dropped where the output limit leaves no room for it', async () => {
  const body = { ...CHAT.body, model: 'sim-claude', max_tokens: 1000, thinking: { type: 'enabled' } };
  expect(refusalOf(await send(CHAT, body))).toEqual([400, 'invalid_value', 'max_tokens']);
  expect(await send(CHAT, body, DROP)).toMatchObject({ status: 200, adjusted: 'thinking=dropped' });
  expect(JSON.parse(harness.sim.calls.at(-1)!.body)).not.toHaveProperty('thinking');
});

test('many dropped fields are counted, and their names are fit for a header', async () => {
  const odd = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`f,${at}=\u00e9${'x'.repeat(80)}`, 1]));
  const { adjusted } = await send(CHAT, { model: 'sim-claude', ...CHAT.body, ...odd, max_tokens: 20_000 }, DROP);
  const entries = adjusted!.split(',');
  expect(entries).toHaveLength(21);
  expect(entries.slice(-2)).toEqual(['max_tokens=16384', '+11']);
  for (const entry of entries.slice(0, 19)) expect(entry).toMatch(/^[A-Za-z0-9_.]{64}=dropped$/);
});

test('a reasoning budget that does not fit below the maximum is refused, not changed', async () => {
  const thinking = { type: 'enabled', budget_tokens: 17_000 };
  const answer = await send(
    AS_MESSAGES,
    { ...AS_MESSAGES.body, model: 'sim-claude', max_tokens: 20_000, thinking },
    DROP,
  );
  expect(refusalOf(answer)).toEqual([400, 'invalid_value', 'max_tokens']);
});

test('so it is in a field of another wire, without advice to raise the output limit', async () => {
  for (const model of ['sim-claude', 'sim-responses']) {
    const thinking = { type: 'enabled', budget_tokens: 5_000_000 };
    const answer = await send(CHAT, { ...CHAT.body, model, max_tokens: 10_000_000, thinking }, DROP);
    expect(refusalOf(answer)).toEqual([400, 'invalid_value', 'max_tokens']);
    expect(answer.text).toContain(`but ${model} writes at most 16384 tokens.`);
  }
});

test.each(['', 'yes', 'Drop', 'drop, drop'])('a header of %j is refused by its name', async (value) => {
  const answer = await send(CHAT, { model: 'sim-gpt', ...CHAT.body }, { 'x-gateway-on-unsupported': value });
  expect(refusalOf(answer)).toEqual([400, 'invalid_header', 'x-gateway-on-unsupported']);
});

describe('the default of a key', () => {
  const body = { model: 'sim-claude', ...CHAT.body, seed: 7 };

  test('drops without a header, and a header overrides it', async () => {
    const { secret } = await harness.mint({ onUnsupported: 'drop' });
    const authorization = `Bearer ${secret}`;
    const answer = await send(CHAT, body, { authorization });
    expect(answer).toMatchObject({ status: 200, adjusted: 'seed=dropped' });
    const refused = await send(CHAT, body, { authorization, 'x-gateway-on-unsupported': 'refuse' });
    expect(refusalOf(refused)).toEqual([400, 'unsupported_parameter', 'seed']);
  });

  test('is to refuse', async () => {
    const { secret } = await harness.mint();
    expect((await send(CHAT, body, { authorization: `Bearer ${secret}` })).status).toBe(400);
  });
});

test('the error of a host that failed names what was dropped, and so does the receipt', async () => {
  harness.sim.script({ status: 500 }, { times: 1 });
  const answer = await send(CHAT, { model: 'sim-claude', ...CHAT.body, seed: 7 }, DROP);
  expect(answer).toMatchObject({ status: 502, adjusted: 'seed=dropped' });
  expect((await receiptOf(answer)).adjusted).toBe('seed=dropped');
});

test('a repeated request gets the same header', async () => {
  const body = { model: 'sim-claude', ...CHAT.body, seed: 7 };
  const first = await send(CHAT, body, { ...DROP, 'idempotency-key': 'k-1' });
  const again = await send(CHAT, body, { ...DROP, 'idempotency-key': 'k-1' });
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect([first.adjusted, again.adjusted]).toEqual(['seed=dropped', 'seed=dropped']);
});

test('a quote says what would be adjusted', async () => {
  const body = { model: 'sim-claude', ...CHAT.body, seed: 7, max_tokens: 20_000 };
  const response = await harness.post({ path: CHAT.path, body }, DROP, '/v1/quote');
  expect(response.headers.get('x-gateway-adjusted')).toBe('seed=dropped,max_tokens=16384');
});

test('a model that carries every field is chosen before one that does not', async () => {
  const cheapest = await send(RESPONSES, { model: 'auto', ...RESPONSES.body }, DROP);
  expect(cheapest.headers.get('x-gateway-effective-model')).toBe('sim-gpt-mini');
  const carrying = await send(RESPONSES, { model: 'auto', ...RESPONSES.body, top_logprobs: 3 }, DROP);
  expect(carrying.headers.get('x-gateway-effective-model')).toBe('sim-responses');
  expect(carrying.adjusted).toBeNull();
});
