import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { FallbackError, fallback, type Member, usd } from '../src/index.ts';
import { type Behaviour, FakeGateway } from './fake-gateway.ts';

/** Chains whose calls are made by an SDK that retries by itself. */

let gateway: FakeGateway;
beforeAll(async () => {
  gateway = await FakeGateway.start();
});
afterAll(() => gateway.stop());

const MODELS = ['first', 'second'];
const options = { budget: usd('0.10'), wait: async () => {} };
const messages = [{ role: 'user' as const, content: 'Hi' }];

function openai({ fetch }: Member): OpenAI {
  return new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'k', fetch });
}

const whole = (member: Member) => openai(member).chat.completions.create({ model: member.model, messages });

function failFirst(failure: Behaviour): void {
  gateway.play(({ model }) => (model === 'first' ? failure : { kind: 'answer', cost: 1000n }));
}

const modelsAsked = () => gateway.requests.map(({ model }) => model);

test.each<Behaviour>([
  { kind: 'status', status: 503 },
  { kind: 'status', status: 429 },
  { kind: 'reset', cost: 5n },
  { kind: 'cut', cost: 6n },
])('the SDK does not retry a member that another follows: $kind', async (failure) => {
  failFirst(failure);
  const answer = await fallback(MODELS, whole, options);
  expect(answer.data.choices[0]!.message.content).toBe('Hello');
  expect(modelsAsked()).toEqual(['first', 'second']);
  expect(answer.spent).toBe(gateway.charged);
});

test('a stream that fails before its first content moves on, and is read as usual', async () => {
  failFirst({ kind: 'error event', cost: 7n });
  const streamed = (member: Member) =>
    openai(member).chat.completions.create({ model: member.model, messages, stream: true });
  const answer = await fallback(MODELS, streamed, options);
  let text = '';
  for await (const { choices } of answer.data) text += choices[0]?.delta.content ?? '';
  expect(text).toBe('Hello');
  expect(modelsAsked()).toEqual(['first', 'second']);
  expect(answer.spent).toBe(gateway.charged);
});

test('a refusal stops the chain', async () => {
  failFirst({ kind: 'status', status: 402, code: 'insufficient_quota', final: true });
  await expect(fallback(MODELS, whole, options)).rejects.toThrow(FallbackError);
  expect(modelsAsked()).toEqual(['first']);
});

test('the SDK may retry the last member, and its retries have the same key', async () => {
  let asked = 0;
  gateway.play(() => (asked++ === 0 ? { kind: 'status', status: 500 } : { kind: 'answer', cost: 1n }));
  const answer = await fallback(['only'], whole, options);
  expect(gateway.requests).toHaveLength(2);
  expect(new Set(gateway.requests.map(({ key }) => key)).size).toBe(1);
  expect(answer.spent).toBe(1n);
});

test('a chain that is given up aborts the request of the SDK, which has a signal of its own', async () => {
  const abort = new AbortController();
  const signals: AbortSignal[] = [];
  const fetch = (_input: unknown, init?: RequestInit) => {
    signals.push(init!.signal!);
    return new Promise<Response>((_, reject) => {
      init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason));
      abort.abort();
    });
  };
  const call = (member: Member) =>
    new OpenAI({ baseURL: gateway.url, apiKey: 'k', fetch: member.fetch, maxRetries: 0 }).chat.completions.create({
      model: member.model,
      messages,
    });
  const made = fallback(MODELS, call, { ...options, fetch, signal: abort.signal });
  await expect(made).rejects.toMatchObject({ name: 'AbortError' });
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});

test.each([
  ['no signal', 0, () => null],
  ['the signal of its chain', 0, (ofChain: AbortSignal) => ofChain],
  ['a signal of its own', 1, () => new AbortController().signal],
])('a request with %s that fails makes %i signals of both', async (_what, made, signalFor) => {
  const { signal } = new AbortController();
  const any = vi.spyOn(AbortSignal, 'any');
  const fetch = () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
  const call = async (member: Member) => {
    const response = await member.fetch(gateway.url, { method: 'POST', body: '{}', signal: signalFor(signal) });
    throw new Error(`status ${response.status}`);
  };
  const failed = await fallback(MODELS, call, { ...options, fetch, signal }).catch((error: unknown) => error);
  const { length } = any.mock.calls;
  any.mockRestore();
  expect(failed).toMatchObject({ name: 'FallbackError', attempts: { length: MODELS.length } });
  expect(length).toBe(made * MODELS.length);
});

test('a Request that is given up is aborted', async () => {
  const abort = new AbortController();
  const fetch = (_input: unknown, init?: RequestInit) =>
    new Promise<Response>((_, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal!.reason));
      abort.abort();
      if (init?.signal?.aborted !== true) reject(new Error('not aborted'));
    });
  const request = () => new Request(gateway.url, { method: 'POST', body: '{}', signal: abort.signal });
  const made = fallback(MODELS, (member) => member.fetch(request()), { ...options, fetch });
  await expect(made).rejects.toMatchObject({ name: 'AbortError' });
});
