import type OpenAI from 'openai';
import { APIError } from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerFaults, streamFaults } from './chat-conformity.ts';
import {
  corpusRecordings,
  expectedUsage,
  ownRecordings,
  type Recording,
  type Told,
  toldBy,
} from './chat-recordings.ts';
import { expectSame } from './expect-same.ts';
import { type Harness, startHarness } from './harness.ts';
import { callRaw, eventsOf } from './raw-client.ts';

/** Every recording is served by the simulated host, byte for byte, and read by the official SDK through the gateway. */

const ASK = { model: 'sim-gpt', messages: [{ role: 'user' as const, content: 'What does the context cost?' }] };
const PROMPT_BYTES = Buffer.byteLength(ASK.messages[0]!.content);
/** Odd pieces, so that events, line ends and characters of several bytes are cut; small ones for short streams only. */
const PIECES = [64, 7, 1];
/** For streams that are read a second time. */
const FEW_PIECES = [7];
const SMALL_PIECES_BYTES_MAX = 8_000;

const corpus = corpusRecordings();
const own = ownRecordings();

if (corpus === null) {
  test.skip('recorded hosts: ../shared/corpus is not here, so only the project’s own recordings are read', () => {});
}
describe('the project’s own recordings', () => readAll(own, true, PIECES));
describe.skipIf(corpus === null)('recorded hosts', () => readAll(corpus ?? [], true, PIECES));
describe('with frame_memory off, recorded streams', () => {
  readAll(
    [...own, ...(corpus ?? [])].filter(({ mode }) => mode === 'stream'),
    false,
    FEW_PIECES,
  );
});

function readAll(recordings: readonly Recording[], frameMemory: boolean, pieces: readonly number[]): void {
  const usageRules = [...new Set(recordings.map(({ quirks }) => quirks.readUsage))];
  for (const readUsage of usageRules) {
    describe(readUsage === undefined ? 'hosts that count as the wire does' : `hosts that count by ${readUsage}`, () => {
      let harness: Harness;
      beforeAll(async () => {
        harness = await startHarness({
          row: { quirks: readUsage === undefined ? {} : { readUsage } },
          config: { frameMemory },
        });
      });
      afterAll(async () => {
        await harness.expectCleanBooks();
        await harness.stop();
      });
      for (const recording of recordings.filter(({ quirks }) => quirks.readUsage === readUsage)) {
        test(`${recording.id}: ${recording.covers}`, () => check(recording, harness, pieces));
      }
    });
  }
}

function check(recording: Recording, harness: Harness, pieces: readonly number[]): Promise<void> {
  if (recording.status !== 200) return checkRefused(recording, harness);
  if (recording.mode === 'buffered') return checkBuffered(recording, harness);
  return recording.error === null ? checkStream(recording, harness, pieces) : checkBrokenStream(recording, harness);
}

/** The SDK, and the headers of the answer it read last. */
function clientOf(harness: Harness): { client: OpenAI; requestId: () => string } {
  let headers = new Headers();
  const client = harness.openai('unused', {
    maxRetries: 0,
    fetch: async (...request: Parameters<typeof fetch>) => {
      const response = await fetch(...request);
      headers = response.headers;
      return response;
    },
  });
  return { client, requestId: () => headers.get('x-gateway-request-id')! };
}

function serve({ sim }: Harness, { mode, body, status }: Recording, piece: number | null): void {
  const split = piece === null ? {} : { splitBytes: piece };
  const contentType = mode === 'stream' ? 'text/event-stream; charset=utf-8' : 'application/json';
  const failure = status >= 300 ? { status, errorBody: body.toString('utf8') } : null;
  sim.script(failure ?? { raw: { contentType, base64: body.toString('base64') }, ...split }, { times: 1 });
}

interface Settled {
  readonly usage: Record<string, number>;
  readonly usage_source: string;
  readonly ended: string;
  readonly cost_nanousd: number;
}

async function receiptOf(harness: Harness, requestId: string): Promise<Settled> {
  const response = await harness.get(`/v1/receipts/${requestId}`);
  expect(response.status).toBe(200);
  return (await response.json()) as Settled;
}

async function checkStream(recording: Recording, harness: Harness, sizes: readonly number[]): Promise<void> {
  const pieces = sizes.filter((piece) => piece >= 7 || recording.body.length <= SMALL_PIECES_BYTES_MAX);
  for (const piece of [null, ...pieces]) {
    for (const read of [readIterator, readHelper]) {
      const wantsUsage = read === readIterator ? piece !== 7 : piece === 7;
      await checkOneStream(recording, harness, { piece, wantsUsage, read });
    }
  }
  await checkFrames(recording, harness);
}

interface Reading {
  readonly piece: number | null;
  readonly wantsUsage: boolean;
  readonly read: (client: OpenAI, ask: StreamAsk) => Promise<ReadStream>;
}

async function checkOneStream(recording: Recording, harness: Harness, reading: Reading): Promise<void> {
  const { client, requestId } = clientOf(harness);
  serve(harness, recording, reading.piece);
  const { told, usage } = await reading.read(client, streamAsk(recording, reading.wantsUsage));
  expect(told).toEqual(toldBy(recording));
  const receipt = await receiptOf(harness, requestId());
  expect(receipt.ended).toBe('complete');
  expectMetered(receipt, recording, told);
  expect(usage === null).toBe(!reading.wantsUsage);
  if (usage !== null) expectBilled(usage, receipt.usage);
}

function expectMetered(receipt: Settled, recording: Recording, told: readonly Told[]): void {
  expect(receipt.usage_source).toBe(recording.usageSource);
  if (recording.usageSource === 'reported') expect(receipt.usage).toEqual(expectedUsage(recording));
  else expect(receipt.usage).toEqual(estimatedUsage(recording, told));
}

/** Output tokens are estimated from bytes, and so are prompt tokens unless the host counted them. */
function estimatedUsage(recording: Recording, told: readonly Told[]): Record<string, number> {
  const words = told.map(({ text, reasoning, refusal, calls }) => text + reasoning + refusal + calls.flat().join(''));
  const output = Math.ceil(Buffer.byteLength(words.join('')) / 4);
  const partial = expectedUsage(recording);
  const fresh = recording.usage === null ? Math.ceil(PROMPT_BYTES / 4) : partial.fresh_tokens!;
  return { ...partial, fresh_tokens: fresh, output_tokens: Math.max(output, partial.output_tokens!) };
}

/** The usage that a client got, priced from the catalog, must equal what it was billed. */
function expectBilled(usage: OpenAI.CompletionUsage, billed: Record<string, number>): void {
  const prompt = billed.fresh_tokens! + billed.cache_read_tokens! + billed.cache_write_tokens!;
  expect(usage.prompt_tokens).toBe(prompt);
  expect(usage.completion_tokens).toBe(billed.output_tokens);
  expect(usage.total_tokens).toBe(prompt + billed.output_tokens!);
  expect(usage.prompt_tokens_details?.cached_tokens ?? 0).toBe(billed.cache_read_tokens);
  expect(usage.completion_tokens_details?.reasoning_tokens ?? 0).toBe(billed.reasoning_tokens);
}

type StreamAsk = OpenAI.ChatCompletionCreateParamsStreaming;

function streamAsk({ answers }: Recording, wantsUsage: boolean): StreamAsk {
  return {
    ...ASK,
    stream: true,
    ...(answers > 1 && { n: answers }),
    ...(wantsUsage && { stream_options: { include_usage: true } }),
  };
}

interface ReadStream {
  readonly told: readonly Told[];
  readonly usage: OpenAI.CompletionUsage | null;
}

interface Delta extends OpenAI.ChatCompletionChunk.Choice.Delta {
  readonly reasoning?: string | null;
  readonly reasoning_content?: string | null;
}

/** Folds chunks as a plain client does. */
class Fold {
  readonly told: Told[] = [];
  usage: OpenAI.CompletionUsage | null = null;

  add(chunk: OpenAI.ChatCompletionChunk): void {
    this.usage = chunk.usage ?? this.usage;
    for (const { index, delta, finish_reason } of chunk.choices) {
      this.told[index] ??= { text: '', reasoning: '', refusal: '', calls: [], finish: null };
      const told = this.told[index];
      const { content, refusal, reasoning, reasoning_content } = delta as Delta;
      expectSame(reasoning ?? '', reasoning_content ?? '');
      told.text += content ?? '';
      told.refusal += refusal ?? '';
      told.reasoning += reasoning ?? '';
      for (const call of delta.tool_calls ?? []) {
        told.calls[call.index] ??= ['', ''];
        const known = told.calls[call.index]!;
        known[0] += call.function?.name ?? '';
        known[1] += call.function?.arguments ?? '';
      }
      told.finish = finish_reason ?? told.finish;
    }
  }
}

async function readIterator(client: OpenAI, ask: StreamAsk): Promise<ReadStream> {
  const fold = new Fold();
  for await (const chunk of await client.chat.completions.create(ask)) fold.add(chunk);
  return fold;
}

/** The helper checks more than the iterator; its result must match its chunks. */
async function readHelper(client: OpenAI, ask: StreamAsk): Promise<ReadStream> {
  const fold = new Fold();
  const stream = client.chat.completions.stream(ask).on('chunk', (chunk) => fold.add(chunk));
  const folded = await stream.finalChatCompletion();
  folded.choices.forEach(({ message, finish_reason }, index) => {
    const { text, refusal, calls, finish } = fold.told[index]!;
    expect(message.content ?? '').toBe(text);
    expect(message.refusal ?? '').toBe(refusal);
    expect((message.tool_calls ?? []).map(nameAndArguments)).toEqual(calls);
    expect(finish_reason).toBe(finish);
  });
  return fold;
}

function nameAndArguments(call: OpenAI.ChatCompletionMessageToolCall): [string, string] {
  return call.type === 'function' ? [call.function.name, call.function.arguments] : ['', ''];
}

async function checkFrames(recording: Recording, harness: Harness): Promise<void> {
  for (const wantsUsage of [true, false]) {
    serve(harness, recording, null);
    const answer = await callRaw(`${harness.url}/v1/chat/completions`, streamAsk(recording, wantsUsage));
    const terms = { model: ASK.model, wantsUsage, ended: 'complete' } as const;
    expect(streamFaults(eventsOf(answer.text), terms)).toEqual([]);
    expect(answer.text).not.toMatch(/^:|\r|^event:|"cost/m);
  }
}

async function checkBrokenStream(recording: Recording, harness: Harness): Promise<void> {
  for (const piece of [null, 64, 7]) {
    const { client, requestId } = clientOf(harness);
    serve(harness, recording, piece);
    const fold = new Fold();
    const reading = (async () => {
      for await (const chunk of await client.chat.completions.create(streamAsk(recording, true))) fold.add(chunk);
    })();
    const error = await reading.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ type: 'upstream_error', ...recording.error });
    const told = toldBy(recording);
    if (!saysAnything(told)) {
      await expectNothingCharged(fold, harness, requestId());
      continue;
    }
    expect(fold.told.map(({ text, reasoning }) => text + reasoning)).toEqual(
      told.map(({ text, reasoning }) => text + reasoning),
    );
    const receipt = await receiptOf(harness, requestId());
    expect(receipt.ended).toBe('upstream_error');
    expectMetered(receipt, recording, told);
  }
  await checkHelperFails(recording, harness);
}

function saysAnything(told: readonly Told[]): boolean {
  return told.some(({ text, reasoning, refusal, calls }) => text + reasoning + refusal !== '' || calls.length > 0);
}

/** An error before any content is an HTTP error. */
async function expectNothingCharged(fold: Fold, harness: Harness, requestId: string): Promise<void> {
  expect(fold.told).toEqual([]);
  const receipt = await receiptOf(harness, requestId);
  expect(receipt).toMatchObject({ ended: 'failed', cost_nanousd: 0 });
}

async function checkHelperFails(recording: Recording, harness: Harness): Promise<void> {
  const { client } = clientOf(harness);
  serve(harness, recording, 64);
  const stream = client.chat.completions.stream(streamAsk(recording, true));
  await expect(stream.finalChatCompletion()).rejects.toBeInstanceOf(APIError);
}

interface BilledUsage extends OpenAI.CompletionUsage {
  readonly cost?: number;
  readonly cost_nanousd?: number;
}

async function checkBuffered(recording: Recording, harness: Harness): Promise<void> {
  for (const piece of [null, 64, 7, 1]) {
    const { client, requestId } = clientOf(harness);
    serve(harness, recording, piece);
    const answer = await client.chat.completions.create(ASK);
    const told = answer.choices.map(toldByMessage);
    expect(told).toEqual(toldBy(recording));
    expect(answer).toMatchObject({ model: ASK.model, object: 'chat.completion' });
    expect(Object.keys(answer)).not.toContain('x_groq');
    const receipt = await receiptOf(harness, requestId());
    expectMetered(receipt, recording, told);
    const usage = answer.usage as BilledUsage;
    expectBilled(usage, receipt.usage);
    expect(usage.cost_nanousd).toBe(receipt.cost_nanousd);
    expect(usage.cost).toBe(receipt.cost_nanousd / 1e9);
    expect(answerFaults(answer as object)).toEqual([]);
  }
  await checkAsOneChunk(recording, harness);
}

/** A host that cannot stream answers a stream with its whole answer. */
async function checkAsOneChunk(recording: Recording, harness: Harness): Promise<void> {
  const { client } = clientOf(harness);
  for (const read of [readIterator, readHelper]) {
    serve(harness, recording, 64);
    const { told } = await read(client, streamAsk(recording, true));
    expect(told).toEqual(toldBy(recording));
  }
}

function toldByMessage({ message, finish_reason }: OpenAI.ChatCompletion.Choice): Told {
  const { reasoning, reasoning_content } = message as { reasoning?: string; reasoning_content?: string };
  expect(reasoning).toBe(reasoning_content);
  for (const call of message.tool_calls ?? []) expect(call.id).not.toBe('');
  return {
    text: message.content ?? '',
    reasoning: reasoning ?? '',
    refusal: message.refusal ?? '',
    calls: (message.tool_calls ?? []).map(nameAndArguments),
    finish: finish_reason,
  };
}

/** Before the first byte an error is an HTTP error, for streams too; none of it names the host or its account. */
async function checkRefused(recording: Recording, harness: Harness): Promise<void> {
  for (const stream of [false, true]) {
    const { client, requestId } = clientOf(harness);
    serve(harness, recording, null);
    const error = await client.chat.completions.create({ ...ASK, stream }).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ ...recording.error });
    expect((error as APIError).message).not.toMatch(/api key|subscription|org_|user_|provider/i);
    const response = await harness.get(`/v1/receipts/${requestId()}`);
    if (response.status === 200) expect(((await response.json()) as Settled).cost_nanousd).toBe(0);
  }
}
