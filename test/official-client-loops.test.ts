import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { loadSimulatedFile } from '../src/catalog/load.ts';
import { type Harness, startHarness } from './harness.ts';

/** What agents do most, with the vendors' own clients, on hosts of every wire, streamed and buffered. */

let harness: Harness;
let openai: OpenAI;
let anthropic: Anthropic;
/** What the last response to the chat or responses client says was left out. */
let adjusted: string | null = null;

/** All models may be called on the messages wire. */
const MODELS = loadSimulatedFile().models.map((row) => ({ ...row, caps: [...(row.caps ?? []), 'messages' as const] }));

beforeAll(async () => {
  harness = await startHarness({ config: { models: MODELS } });
  openai = harness.openai('unused', { fetch: fetchWithNote });
  anthropic = new Anthropic({ baseURL: harness.url, apiKey: 'not needed' });
});
afterAll(async () => {
  await harness.settled();
  await harness.expectCleanBooks();
  await harness.stop();
});

async function fetchWithNote(url: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  adjusted = response.headers.get('x-gateway-adjusted');
  return response;
}

const PROMPT = 'Call weather and call clock.';
const NAMES = ['weather', 'clock'];
const IMAGE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const IMAGE_URL = `data:image/png;base64,${IMAGE}`;
const place = { type: 'string' as const };
const parameters = { type: 'object' as const, properties: { place }, required: ['place'] };
const LONG = 'Tell me a long story about the sea and the people who live on it.';
const LIMIT = 16;

interface Loop {
  /** The names of the tools that the first response calls, and why it ended. */
  readonly calls: readonly string[];
  readonly ended: string | null | undefined;
  readonly text: string;
}

function chat(body: Omit<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming, 'stream'>, stream: boolean) {
  return stream
    ? openai.chat.completions.stream(body).finalChatCompletion()
    : openai.chat.completions.create({ ...body, stream: false });
}

async function chatLoop(model: string, stream: boolean): Promise<Loop> {
  const tools = NAMES.map((name) => ({ type: 'function' as const, function: { name, parameters } }));
  const ask = { model, tools, reasoning_effort: 'low' as const, max_completion_tokens: 8000 };
  const user = { role: 'user' as const, content: PROMPT };
  const { message, finish_reason: ended } = (await chat({ ...ask, messages: [user] }, stream)).choices[0]!;
  const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function');
  const results = calls.map(({ id, function: { name } }) => ({
    role: 'tool' as const,
    tool_call_id: id,
    // The vendor's types allow text only, but clients send images too.
    content: [
      { type: 'text' as const, text: `${name} is fine` },
      { type: 'image_url', image_url: { url: IMAGE_URL } } as unknown as OpenAI.Chat.ChatCompletionContentPartText,
    ],
  }));
  const second = await chat({ ...ask, messages: [user, message, ...results] }, stream);
  return { calls: calls.map((call) => call.function.name), ended, text: second.choices[0]!.message.content ?? '' };
}

function respond(body: OpenAI.Responses.ResponseCreateParamsNonStreaming, stream: boolean) {
  return stream ? openai.responses.stream({ ...body, stream: true }).finalResponse() : openai.responses.create(body);
}

async function responsesLoop(model: string, stream: boolean): Promise<Loop> {
  const tools = NAMES.map((name) => ({ type: 'function' as const, name, parameters, strict: false }));
  const include: OpenAI.Responses.ResponseIncludable[] = ['reasoning.encrypted_content'];
  const reasoning = { effort: 'low' as const };
  const ask = { model, tools, include, reasoning, store: false, max_output_tokens: 8000 };
  const user = { role: 'user' as const, content: PROMPT };
  const first = await respond({ ...ask, input: [user] }, stream);
  const output: readonly OpenAI.Responses.ResponseOutputItem[] = first.output;
  const calls = output.filter((item) => item.type === 'function_call');
  const results = calls.map(({ call_id, name }) => ({
    type: 'function_call_output' as const,
    call_id,
    output: [
      { type: 'input_text' as const, text: `${name} is fine` },
      { type: 'input_image' as const, image_url: IMAGE_URL, detail: 'auto' as const },
    ],
  }));
  const earlier = first.output as OpenAI.Responses.ResponseInputItem[];
  const second = await respond({ ...ask, input: [user, ...earlier, ...results] }, stream);
  return { calls: calls.map(({ name }) => name), ended: first.status, text: second.output_text };
}

function send(body: Anthropic.MessageCreateParamsNonStreaming, stream: boolean): Promise<Anthropic.Message> {
  return stream ? anthropic.messages.stream(body).finalMessage() : anthropic.messages.create(body);
}

function textOf({ content }: Anthropic.Message): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

async function messagesLoop(model: string, stream: boolean): Promise<Loop> {
  const tools = NAMES.map((name) => ({ name, input_schema: parameters }));
  const thinking = { type: 'enabled' as const, budget_tokens: 1024 };
  const ask = { model, tools, thinking, max_tokens: 8000 };
  const user = { role: 'user' as const, content: PROMPT };
  const first = await send({ ...ask, messages: [user] }, stream);
  const calls = first.content.filter((block) => block.type === 'tool_use');
  const content = calls.map(({ id, name }) => ({
    type: 'tool_result' as const,
    tool_use_id: id,
    content: [
      { type: 'text' as const, text: `${name} is fine` },
      { type: 'image' as const, source: { type: 'base64' as const, media_type: 'image/png' as const, data: IMAGE } },
    ],
  }));
  const assistant = { role: 'assistant' as const, content: first.content as Anthropic.ContentBlockParam[] };
  const second = await send({ ...ask, messages: [user, assistant, { role: 'user', content }] }, stream);
  return { calls: calls.map(({ name }) => name), ended: first.stop_reason, text: textOf(second) };
}

const LOOPS = [
  ['chat', chatLoop, 'tool_calls'],
  ['responses', responsesLoop, 'completed'],
  ['messages', messagesLoop, 'tool_use'],
] as const;

/** Where the host's own seal of its reasoning is in a request to it; a chat host has none. */
const SEALS: Readonly<Record<string, RegExp | null>> = {
  'sim-gpt': null,
  'sim-claude': /"thinking":"[^"]+","signature":"[^"]{40,}"/,
  'sim-responses': /"encrypted_content":"[^"]{40,}"/,
};

describe.each([
  ['streamed', true],
  ['buffered', false],
] as const)('%s', (_way, stream) => {
  describe.each(Object.keys(SEALS))('on the host of %s', (model) => {
    test.each(LOOPS)(
      '%s: parallel calls, results with images, and reasoning go back to the host',
      async (caller, loop, end) => {
        const { calls, ended, text } = await loop(model, stream);
        expect([calls, ended]).toEqual([NAMES, end]);
        const sent = harness.sim.calls.at(-1)!.body;
        expect(sent.split(IMAGE)).toHaveLength(1 + NAMES.length);
        for (const name of NAMES) expect(sent).toContain(`${name} is fine`);
        expect(text).toContain('simulated');
        // The stream helper of this client keeps only the last delta of members that it does not know.
        const losesText = caller === 'chat' && stream && model === 'sim-claude';
        const seal = SEALS[model]!;
        if (seal !== null && !losesText) expect(sent).toMatch(seal);
        if (!losesText) return;
        expect(sent).not.toContain('"thinking"');
        expect(adjusted?.split(',')).toContain('reasoning_details=dropped');
      },
    );

    test("the tool runner of the messages client goes on without the vendor's threads", async () => {
      const run = vi.fn(() => 'sunny');
      const weather = betaTool({ name: 'weather', description: 'Weather', inputSchema: parameters, run });
      const user = { role: 'user' as const, content: 'Call weather.' };
      const ask = { model, max_tokens: 500, tools: [weather], messages: [user] };
      const runner = stream
        ? anthropic.beta.messages.toolRunner({ ...ask, stream: true })
        : anthropic.beta.messages.toolRunner(ask);
      const { content, stop_reason: ended } = await runner.runUntilDone();
      expect(run).toHaveBeenCalledTimes(1);
      expect([ended, content]).toEqual(['end_turn', [expect.objectContaining({ type: 'text' })]]);
      const sent = harness.sim.calls.at(-1)!.body;
      expect(sent).toContain('Call weather.');
      expect(sent).toContain('sunny');
    });

    test('an output limit is the reason why each client says that a response ended', async () => {
      const user = [{ role: 'user' as const, content: LONG }];
      const message = await send({ model, max_tokens: LIMIT, messages: user }, stream);
      expect([message.stop_reason, textOf(message)]).toEqual(['max_tokens', expect.stringContaining('This is a')]);
      const response = await respond({ model, max_output_tokens: LIMIT, input: LONG }, stream);
      expect([response.status, response.incomplete_details?.reason]).toEqual(['incomplete', 'max_output_tokens']);
      const completion = await openai.chat.completions.create({ model, max_completion_tokens: LIMIT, messages: user });
      expect(completion.choices[0]!.finish_reason).toBe('length');
    });

    test('a stop sequence ends the response, or is refused by its name', async () => {
      const messages = [{ role: 'user' as const, content: 'Hi' }];
      const ask = () => chat({ model, messages, stop: ['simulated'] }, stream);
      const say = () => send({ model, messages, max_tokens: 500, stop_sequences: ['simulated'] }, stream);
      if (model === 'sim-responses') {
        await expect(ask()).rejects.toMatchObject({ status: 400, param: 'stop' });
        await expect(say()).rejects.toMatchObject({ status: 400, message: expect.stringContaining('stop_sequences') });
        return;
      }
      expect((await ask()).choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'This is a ' } });
      expect(textOf(await say())).toBe('This is a ');
    });

    test('a JSON schema reaches the host, and the response obeys it', async () => {
      const properties = { city: { type: 'string' }, count: { type: 'integer' } };
      const schema = { type: 'object', properties, required: ['city', 'count'], additionalProperties: false };
      const messages = [{ role: 'user' as const, content: 'Hi' }];
      const format = { type: 'json_schema' as const, name: 'place', schema, strict: true };
      const json = { name: 'place', schema, strict: true };
      const answers = [
        (await chat({ model, messages, response_format: { type: 'json_schema', json_schema: json } }, stream))
          .choices[0]!.message.content ?? '',
        (await respond({ model, input: 'Hi', text: { format } }, stream)).output_text,
        textOf(
          await send(
            { model, messages, max_tokens: 500, output_config: { format: { type: 'json_schema', schema } } },
            stream,
          ),
        ),
      ];
      for (const answer of answers) expect(JSON.parse(answer)).toEqual({ city: 'sample', count: 1 });
      for (const { body } of harness.sim.calls.slice(-3)) expect(body).toContain('"city":{"type":"string"}');
    });
  });
});
