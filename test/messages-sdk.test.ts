import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic, {
  APIError,
  AuthenticationError,
  ConflictError,
  InternalServerError,
  NotFoundError,
  OverloadedError,
  PermissionDeniedError,
  RateLimitError,
  UnprocessableEntityError,
} from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GatewayError } from '../src/canonical/errors.ts';
import { inOrder } from '../src/canonical/event-order.ts';
import { ResponseFold, unfold } from '../src/canonical/fold.ts';
import { SseFramer } from '../src/kit/sse.ts';
import { countTokens } from '../src/wires/messages/count-tokens.ts';
import { messages } from '../src/wires/messages/index.ts';
import {
  allRecordings,
  expectedUsage,
  type Recording,
  type Told,
  toldBy,
  toldByMessage,
} from './messages-recordings.ts';
import { billOf, feed, relayWhole, TERMS, WRITE_TERMS } from './messages-relay.ts';
import { textOf } from './messages-request.ts';

/** The vendor's own SDK, unmodified, reads what the wire's relays and writers give it. */

interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer | string;
}

let server: Server;
let client: Anthropic;
let answer: Answer;
let request: { url: string; headers: IncomingMessage['headers']; body: string } | null = null;

beforeAll(async () => {
  server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      request = { url: incoming.url!, headers: incoming.headers, body: Buffer.concat(chunks).toString() };
      reply(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  client = new Anthropic({ apiKey: 'tg_live_test', baseURL: `http://127.0.0.1:${port}`, maxRetries: 0 });
});

afterAll(() => new Promise((resolve) => server.close(resolve)));

/** In pieces, so that events and characters are cut too. */
function reply(response: ServerResponse): void {
  response.writeHead(answer.status, { 'content-type': answer.contentType, 'request-id': TERMS.requestId });
  const bytes = Buffer.from(answer.body as string);
  for (let at = 0; at < bytes.length; at += 97) response.write(bytes.subarray(at, at + 97));
  response.end();
}

function serveStream(body: string): void {
  answer = { status: 200, contentType: 'text/event-stream; charset=utf-8', body };
}

const ASK = { model: TERMS.catalogModel, max_tokens: 64, messages: [{ role: 'user' as const, content: 'When?' }] };

const { recordings, hasCorpus } = allRecordings();
const streams = recordings.filter(({ mode, status, error }) => mode === 'stream' && status === 200 && error === null);
const RECEIPT = { type: 'gateway_receipt', request_id: TERMS.requestId, model: TERMS.catalogModel };

test.skipIf(hasCorpus)(
  'recorded hosts: ../shared/corpus is not here, so only the project’s own recordings are read',
  () => {},
);

/** What a caller of this wire gets from a host of the same wire, and from one of another. */
const PATHS: Readonly<Record<string, (recording: Recording) => string>> = {
  mended: ({ body }) => relayWhole(messages.relay.stream!.mend(TERMS), body, 64),
  translated: (recording) => translate(recording),
};

function translate(recording: Recording): string {
  const fold = new ResponseFold();
  const reader = messages.hub!.upstream!.readStream({}, inOrder(fold.event));
  const framer = new SseFramer(1_000_000);
  framer.push(recording.body, (frame) => reader.frame(frame));
  reader.end();
  const writer = messages.hub!.client!.writeStream(WRITE_TERMS);
  let text = '';
  unfold(fold.answer()!, (event) => {
    text += writer.event(event);
  });
  return text + writer.closing(billOf(expectedUsage(recording)));
}

/** The SDK completes JSON that was cut off; its result is not compared. */
function comparable({ blocks, ...told }: Told): Told {
  const plain = blocks.map((block) =>
    block.kind === 'call' && typeof block.args === 'string' ? { ...block, args: 'cut off' } : block,
  );
  return { ...told, blocks: plain };
}

function expectSame(message: Anthropic.Message, recording: Recording): void {
  const expected = comparable(toldBy('stream', recording.body));
  const isCut = expected.blocks.some((block) => block.kind === 'call' && block.args === 'cut off');
  const told = toldByMessage(message as unknown as Record<string, unknown>);
  const blocks = isCut
    ? told.blocks.map((block) => (block.kind === 'call' ? { ...block, args: 'cut off' } : block))
    : told.blocks;
  expect({ ...told, blocks }).toEqual(expected);
  const usage = expectedUsage(recording);
  expect(message.usage).toMatchObject({
    input_tokens: usage.freshTokens,
    output_tokens: usage.outputTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens + usage.cacheWrite1hTokens,
  });
  expect(message).toMatchObject({ model: TERMS.catalogModel, role: 'assistant', container: null, diagnostics: null });
}

describe.each(Object.keys(PATHS))('%s', (path) => {
  test.each(streams.map((recording) => [recording.id, recording] as const))(
    '%s: the iterator',
    async (_id, recording) => {
      serveStream(PATHS[path]!(recording));
      const types: string[] = [];
      let last: unknown = null;
      for await (const event of await client.messages.create({ ...ASK, stream: true })) {
        types.push(event.type);
        last = event;
      }
      expect(types[0]).toBe('message_start');
      expect(types.slice(-3)).toEqual(['message_delta', 'message_stop', 'gateway_receipt']);
      expect(last).toMatchObject(RECEIPT);
    },
  );

  test.each(streams.map((recording) => [recording.id, recording] as const))(
    '%s: the stream helper',
    async (_id, recording) => {
      serveStream(PATHS[path]!(recording));
      const stream = client.messages.stream(ASK);
      const receipts: unknown[] = [];
      stream.on('streamEvent', (event) => {
        if ((event.type as string) === 'gateway_receipt') receipts.push(event);
      });
      expectSame(await stream.finalMessage(), recording);
      await stream.done();
      expect(receipts).toEqual([expect.objectContaining(RECEIPT)]);
      expect(stream.request_id).toBe(TERMS.requestId);
    },
  );
});

test('what the SDK sends is understood', async () => {
  serveStream(PATHS.mended!(streams[0]!));
  await client.messages.stream(ASK).done();
  const peek = messages.client.peek(textOf(request!.body), request!.headers);
  expect(request!.url).toBe('/v1/messages');
  expect(peek).toMatchObject({
    model: TERMS.catalogModel,
    stream: true,
    hostHeaders: { 'anthropic-version': '2026-10-21' },
  });
});

describe.each(
  recordings.filter(({ mode, status }) => mode === 'buffered' && status === 200).map((one) => [one.id, one] as const),
)('%s', (_id, recording) => {
  test('is a message to the SDK, with its cost', async () => {
    const usage = expectedUsage(recording);
    const body = messages.relay.spliceResponse(recording.body, TERMS).write(billOf(usage));
    answer = { status: 200, contentType: 'application/json', body };
    const message = await client.messages.create(ASK);
    expect(message).toMatchObject({
      model: TERMS.catalogModel,
      role: 'assistant',
      usage: { cost: 1.5, cost_nanousd: Number(2n ** 60n + 8n) },
    });
    expect(message.content.length).toBeGreaterThan(0);
  });
});

describe('errors', () => {
  function refuseWith(error: GatewayError): void {
    const { status, body } = messages.client.writeError(error, TERMS.requestId);
    answer = { status, contentType: 'application/json', body };
  }

  test('are typed as the vendor’s own', async () => {
    refuseWith(new GatewayError('overloaded', { message: 'Every host is busy.' }));
    const error = await client.messages.create(ASK).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(OverloadedError);
    expect(error).toMatchObject({ status: 529, type: 'overloaded_error', requestID: TERMS.requestId });
    expect((error as Error).message).toContain('Every host is busy.');
  });

  test.each([
    ['invalid_api_key', 401, AuthenticationError, 'invalid_request_error'],
    ['insufficient_allowance', 402, APIError, 'insufficient_allowance'],
    ['key_spend_cap_exceeded', 402, APIError, 'key_spend_cap_exceeded'],
    ['permission_denied', 403, PermissionDeniedError, 'permission_error'],
    ['model_not_found', 404, NotFoundError, 'invalid_request_error'],
    ['idempotency_in_progress', 409, ConflictError, 'conflict_error'],
    ['host_context_length_exceeded', 422, UnprocessableEntityError, 'upstream_error'],
    ['rate_limit_exceeded', 429, RateLimitError, 'rate_limit_error'],
    ['host_failed', 502, InternalServerError, 'api_error'],
  ] as const)('%s is the SDK’s exception for %i', async (name, status, exception, type) => {
    refuseWith(new GatewayError(name, { message: 'Why.' }));
    const error = await client.messages.create(ASK).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(exception);
    expect(error).toMatchObject({ status, type });
  });

  test('keep our code and the field at fault', async () => {
    refuseWith(new GatewayError('cost_ceiling_exceeded', { message: 'Too expensive.', param: 'max_tokens' }));
    const error = await client.messages.create(ASK).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({
      status: 402,
      type: 'cost_ceiling_exceeded',
      error: { error: { code: 'cost_ceiling_exceeded', param: 'max_tokens' } },
    });
  });

  test('inside a stream end it, for the iterator and the helper', async () => {
    const broken = recordings.find(({ id }) => id === 'error-mid-stream')!;
    const words = feed(messages.relay.stream!.mend(TERMS), broken.body, 64);
    serveStream(
      words +
        messages.client.writeStreamError(new GatewayError('overloaded', { message: 'Broken off.' }), TERMS.requestId),
    );
    const texts: string[] = [];
    const stream = client.messages.stream(ASK).on('text', (text) => texts.push(text));
    const error = await stream.finalMessage().catch((caught: unknown) => caught);
    expect(error).toMatchObject({ type: 'overloaded_error' });
    expect(texts).toEqual(['The ferry ']);
    const iterate = async () => {
      for await (const _ of await client.messages.create({ ...ASK, stream: true }));
    };
    await expect(iterate()).rejects.toMatchObject({ type: 'overloaded_error' });
  });
});

test('a count of tokens, both ways', async () => {
  answer = { status: 200, contentType: 'application/json', body: countTokens.writeCount(17) };
  const { model, messages: prompt } = ASK;
  expect(await client.messages.countTokens({ model, messages: prompt })).toEqual({ input_tokens: 17 });
  expect(request!.url).toBe(`/v1${countTokens.path}`);
  expect(countTokens.peek(textOf(request!.body), request!.headers)).toMatchObject({ model });
});

test('the SDK ignores a keep-alive', async () => {
  serveStream(messages.client.keepAlive + PATHS.mended!(streams[0]!));
  expectSame(await client.messages.stream(ASK).finalMessage(), streams[0]!);
});
