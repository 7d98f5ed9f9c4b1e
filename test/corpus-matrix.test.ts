import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';
import { type AnyRecording, allRecordings, parsed, type Said } from './wire-recordings.ts';

/** Every recording as the host, with every client wire that may reach it: the text, tool calls, reasoning and counts must be the same. */

const { recordings, hasCorpus } = allRecordings();
const ODD_PIECE = 61;

const HOST_WIRES = ['chat', 'messages', 'responses'] as const;

/** One model per host wire, with every capability, so that each client may ask for it. */
const MODELS = HOST_WIRES.map((wire) => ({
  id: `any-${wire}`,
  caps: ['chat', 'messages', 'tools', 'images', 'reasoning', 'structured_outputs', 'prompt_caching'],
  context_window: 1_000_000,
  max_output_tokens: 100_000,
  price: {
    input: 1_000_000_000,
    output: 1_000_000_000,
    cache_read: 1_000_000_000,
    cache_write: 1_000_000_000,
    cache_write_1h: null,
  },
  hosts: [{ host: 'sim', model: `any-${wire}`, wire }],
}));

interface Reading {
  readonly said: Said;
  readonly requestId: string;
}

type Client = (harness: Harness, model: string, stream: boolean) => Promise<Reading>;

interface Heard {
  headers: Headers;
}

/** A fetch that remembers the headers of the last response. */
function listening(heard: Heard): typeof fetch {
  return async (...request) => {
    const response = await fetch(...request);
    heard.headers = response.headers;
    return response;
  };
}

function openai({ url }: Harness, heard: Heard): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: 'x', maxRetries: 0, fetch: listening(heard) });
}

const idOf = ({ headers }: Heard): string => headers.get('x-gateway-request-id')!;
type Loose = Record<string, unknown>;

const chat: Client = async (harness, model, stream) => {
  const heard: Heard = { headers: new Headers() };
  const client = openai(harness, heard);
  const ask = { model, max_tokens: 4000, messages: [{ role: 'user' as const, content: 'Hello' }] };
  let reasoning = '';
  const answer = stream ? client.chat.completions.stream(ask) : null;
  if (answer !== null) {
    for await (const chunk of answer) reasoning += ((chunk.choices[0]?.delta ?? {}) as Loose).reasoning ?? '';
  }
  const whole = answer === null ? await client.chat.completions.create(ask) : await answer.finalChatCompletion();
  const message = whole.choices[0]!.message;
  if (answer === null) reasoning = String((message as unknown as Loose).reasoning ?? '');
  const calls = (message.tool_calls ?? []).map((call) => {
    const called = (call as { function: { name: string; arguments: string } }).function;
    return [called.name, parsed(called.arguments)] as const;
  });
  return { said: { text: message.content ?? '', reasoning, calls }, requestId: idOf(heard) };
};

const responses: Client = async (harness, model, stream) => {
  const heard: Heard = { headers: new Headers() };
  const client = openai(harness, heard);
  const ask = { model, input: 'Hello', store: false };
  const answer = stream ? client.responses.stream(ask) : null;
  if (answer !== null) for await (const _event of answer);
  const whole = answer === null ? await client.responses.create(ask) : await answer.finalResponse();
  const reasoning = whole.output.map((item) =>
    item.type === 'reasoning' ? item.summary.map(({ text }) => text).join('') : '',
  );
  const calls = whole.output.flatMap((item) =>
    item.type === 'function_call' ? [[item.name, parsed(item.arguments)] as const] : [],
  );
  return { said: { text: whole.output_text, reasoning: reasoning.join(''), calls }, requestId: idOf(heard) };
};

const messages: Client = async (harness, model, stream) => {
  const heard: Heard = { headers: new Headers() };
  const client = new Anthropic({ baseURL: harness.url, apiKey: 'x', maxRetries: 0, fetch: listening(heard) });
  const ask = { model, max_tokens: 4000, messages: [{ role: 'user' as const, content: 'Hello' }] };
  const whole = stream ? await client.messages.stream(ask).finalMessage() : await client.messages.create(ask);
  const texts = whole.content.map((block) => (block.type === 'text' ? block.text : ''));
  const thoughts = whole.content.map((block) => (block.type === 'thinking' ? block.thinking : ''));
  const calls = whole.content.flatMap((block) =>
    block.type === 'tool_use' ? [[block.name, block.input] as const] : [],
  );
  return { said: { text: texts.join(''), reasoning: thoughts.join(''), calls }, requestId: idOf(heard) };
};

const CLIENTS: Readonly<Record<string, Client>> = { chat, responses, messages };

if (!hasCorpus)
  test.skip('recorded hosts: ../shared/corpus is not here, so only the project’s own recordings are read', () => {});

const usageRules = [...new Set(recordings.map((recording) => recording.quirks.readUsage))];

/** Same-wire chat streams are the only ones here that the frame memory touches. */
const RUNS = usageRules.flatMap((readUsage) => [
  { readUsage, frameMemory: true, clients: Object.keys(CLIENTS), modes: ['stream', 'buffered'] },
  { readUsage, frameMemory: false, clients: ['chat'], modes: ['stream'] },
]);

describe.each(RUNS)('hosts that count by $readUsage, frame memory $frameMemory', (run) => {
  const { readUsage, frameMemory, clients, modes } = run;
  let harness: Harness;

  beforeAll(async () => {
    harness = await startHarness({
      row: { quirks: readUsage === undefined ? {} : { readUsage } },
      config: { models: MODELS as never, frameMemory },
    });
  });

  afterAll(async () => {
    await harness.expectCleanBooks();
    await harness.stop();
  });

  const served = recordings.filter(
    ({ quirks: { readUsage: rule }, answers, mode }) => rule === readUsage && answers === 1 && modes.includes(mode),
  );
  describe.each(clients)('and a client of %s', (client) => {
    test.each(served.map((recording) => [`${recording.wire} ${recording.id}`, recording] as const))(
      '%s',
      async (_id, recording) => {
        serve(harness, recording);
        const reading = CLIENTS[client]!(harness, `any-${recording.wire}`, recording.mode === 'stream');
        if (recording.breaksOff) {
          const error: unknown = await reading.catch((thrown: unknown) => thrown);
          expect(error).toBeInstanceOf(Error);
          expect(typeof (error as { status?: number }).status === 'number', 'as an HTTP error').toBe(!says(recording));
          await harness.settled();
          return;
        }
        const { said, requestId } = await reading;
        expect(said.text).toBe(textFor(client, recording));
        expect(said.calls).toEqual(callsFor(client, recording));
        if (carriesReasoning(client, recording)) expect(said.reasoning).toBe(recording.said.reasoning);
        if (recording.usage !== null) expect(await usageOf(harness, requestId)).toEqual(recording.usage);
      },
    );
  });
});

/** Whether any content came: before that, an error is an HTTP error on every wire; after it, an error inside the stream. */
function says({ said: { text, refusal = '', reasoning, calls } }: AnyRecording): boolean {
  return text + refusal + reasoning !== '' || calls.length > 0;
}

/** The messages wire has no separate member for a refusal: it is part of the text. */
function textFor(client: string, { said }: AnyRecording): string {
  return client === 'messages' ? said.text + (said.refusal ?? '') : said.text;
}

/** Arguments that a limit cut off are not valid JSON, and this vendor's SDK completes them. */
function callsFor(client: string, { said }: AnyRecording): unknown {
  if (client !== 'messages') return said.calls;
  return said.calls.map(([name, args]) => [name, typeof args === 'string' ? expect.anything() : args]);
}

/**
 * A complete reasoning item has text and encrypted content; on its own wire the summary and the raw reasoning are
 * separate, and only the summary is read here.
 */
function carriesReasoning(client: string, { wire }: AnyRecording): boolean {
  return !(client === 'responses' && wire === 'responses');
}

function serve({ sim }: Harness, { mode, body }: AnyRecording): void {
  const contentType = mode === 'stream' ? 'text/event-stream; charset=utf-8' : 'application/json';
  sim.script({ raw: { contentType, base64: body.toString('base64') }, splitBytes: ODD_PIECE }, { times: 1 });
}

async function usageOf(harness: Harness, requestId: string): Promise<unknown> {
  await harness.settled();
  const receipt = (await (await harness.get(`/v1/receipts/${requestId}`)).json()) as { usage: unknown };
  return receipt.usage;
}
