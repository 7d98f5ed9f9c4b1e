import { readFileSync } from 'node:fs';
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';

/** A host whose content filter withheld the answer sends a finish reason and nothing else: an answer on every wire. */

const fixture = (name: string): string =>
  readFileSync(new URL(`../fixtures/wires/chat/${name}`, import.meta.url)).toString('base64');
const MESSAGES = [{ role: 'user' as const, content: 'hello' }];

/** What the official SDK of each wire reads as content and as the reason. */
const CLIENTS: Readonly<Record<string, (harness: Harness, stream: boolean) => Promise<unknown>>> = {
  chat: async ({ openai }, stream) => {
    const { completions } = openai('unused', { maxRetries: 0 }).chat;
    const ask = { model: 'sim-gpt', messages: MESSAGES };
    const answer = stream ? await completions.stream(ask).finalChatCompletion() : await completions.create(ask);
    const [choice] = answer.choices;
    return [choice!.message.content, choice!.finish_reason];
  },
  responses: async ({ openai }, stream) => {
    const { responses } = openai('unused', { maxRetries: 0 });
    const ask = { model: 'sim-gpt', input: 'hello' };
    const answer = stream ? await responses.stream(ask).finalResponse() : await responses.create(ask);
    return [answer.output_text || null, answer.incomplete_details?.reason];
  },
  messages: async ({ url }, stream) => {
    const { messages } = new Anthropic({ baseURL: url, apiKey: 'x', maxRetries: 0 });
    const ask = { model: 'filtered-messages', max_tokens: 16, messages: MESSAGES };
    const answer = stream ? await messages.stream(ask).finalMessage() : await messages.create(ask);
    return [answer.content[0] ?? null, answer.stop_reason];
  },
};

const REASONS: Readonly<Record<string, string>> = { messages: 'refusal' };

/** The messages wire serves models of its vendor only, whatever wire their hosts speak. */
const MODEL = {
  id: 'filtered-messages',
  caps: ['chat', 'messages'],
  context_window: 1000,
  max_output_tokens: 100,
  price: { input: 1_000_000_000, output: 1_000_000_000 },
  hosts: [{ host: 'sim', model: 'sim-gpt', wire: 'chat' }],
};

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ config: { models: [MODEL] as never } });
});
afterAll(async () => {
  await harness.expectCleanBooks();
  await harness.stop();
});

describe.each(Object.entries(CLIENTS))('a client of %s', (wire, read) => {
  test.each([
    ['buffered', 'application/json', 'filtered-without-message.json', false],
    ['streamed', 'text/event-stream', 'filtered-without-delta.sse', true],
    ['streamed, from a host that does not stream', 'application/json', 'filtered-without-message.json', true],
  ])('%s, %s: is an answer without content, billed by the host’s count', async (_how, contentType, file, stream) => {
    harness.sim.script({ raw: { contentType, base64: fixture(file) } }, { times: 1 });
    expect(await read(harness, stream)).toEqual([null, REASONS[wire] ?? 'content_filter']);
    await harness.settled();
    const receipt = (await harness.newestReceipt())!;
    expect(receipt).toMatchObject({
      ended: 'complete',
      usageSource: 'reported',
      usage: { freshTokens: 31, outputTokens: 0 },
    });
    expect(receipt.costNanousd).toBeGreaterThan(0n);
  });
});
