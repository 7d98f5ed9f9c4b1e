import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type ChatUsage,
  countsOf,
  countsOfMessage,
  countsOfResponse,
  type MessagesUsage,
  priceCounts,
  type ResponsesUsage,
  type TokenCounts,
} from './catalog-price.ts';
import { type Harness, simHost, startHarness } from './harness.ts';

/** A caller who prices the usage of an answer from the public catalog gets the receipt's cost, to the nanodollar. */

const MODEL = 'sim-claude';
/** Every bucket that has a price of its own, in numbers that do not divide evenly. */
const HOST_USAGE = {
  input_tokens: 11,
  cache_read_input_tokens: 103,
  cache_creation_input_tokens: 1207,
  cache_creation: { ephemeral_5m_input_tokens: 206, ephemeral_1h_input_tokens: 1001 },
  output_tokens: 7,
};
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: MODEL,
  content: [{ type: 'text', text: 'Hello.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: HOST_USAGE,
};
const FRAMES = [
  {
    type: 'message_start',
    message: { ...MESSAGE, content: [], stop_reason: null, usage: { ...HOST_USAGE, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 7 } },
  { type: 'message_stop' },
];

let host: Server;
let harness: Harness;

beforeAll(async () => {
  host = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const streams = (JSON.parse(body) as { stream?: boolean }).stream === true;
    response.setHeader('content-type', streams ? 'text/event-stream' : 'application/json');
    const frames = FRAMES.map((frame) => `event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`);
    response.end(streams ? frames.join('') : JSON.stringify(MESSAGE));
  });
  host.listen(0, '127.0.0.1');
  await once(host, 'listening');
  const url = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  harness = await startHarness({ hosts: () => [simHost({ url })] });
});
afterAll(async () => {
  await harness.stop();
  host.closeAllConnections();
  host.close();
});

interface Wire {
  readonly path: string;
  readonly body: object;
  readonly counts: (usage: unknown) => TokenCounts;
}

/** As long as the host's counts say, because a charge is never more than the hold, which is computed from the request. */
const PROMPT = 'word '.repeat(2_000);
const MESSAGES = [{ role: 'user', content: PROMPT }];
const WIRES: Readonly<Record<string, Wire>> = {
  chat: {
    path: '/v1/chat/completions',
    body: { messages: MESSAGES, stream_options: { include_usage: true } },
    counts: (usage) => countsOf(usage as ChatUsage),
  },
  completions: {
    path: '/v1/completions',
    body: { prompt: PROMPT, stream_options: { include_usage: true } },
    counts: (usage) => countsOf(usage as ChatUsage),
  },
  responses: {
    path: '/v1/responses',
    body: { input: PROMPT },
    counts: (usage) => countsOfResponse(usage as ResponsesUsage),
  },
  messages: {
    path: '/v1/messages',
    body: { max_tokens: 50, messages: MESSAGES },
    counts: (usage) => countsOfMessage(usage as MessagesUsage),
  },
};

/** The last usage object of a stream. */
function lastUsage(stream: string): unknown {
  const frames = stream.split('\n').filter((line) => line.startsWith('data: {'));
  const usages = frames.map((line) => {
    const frame = JSON.parse(line.slice(6)) as { type?: string; usage?: unknown; response?: { usage?: unknown } };
    return frame.type === 'gateway_receipt' ? null : (frame.usage ?? frame.response?.usage ?? null);
  });
  return usages.findLast((usage) => usage !== null);
}

describe.each(Object.entries(WIRES))('usage on the wire %s', (_, { path, body, counts }) => {
  test.each([
    ['streamed', true],
    ['buffered', false],
  ])('%s, priced from the catalog, is the cost on the receipt', async (_name, stream) => {
    const { stream_options, ...plain } = body as { stream_options?: object };
    const response = await harness.post({ model: MODEL, ...(stream ? body : plain), stream }, {}, path);
    expect(response.status).toBe(200);
    const text = await response.text();
    await harness.settled();
    const usage = stream ? lastUsage(text) : (JSON.parse(text) as { usage: unknown }).usage;
    expect(counts(usage)).toEqual({ fresh: 11, cacheRead: 103, cacheWrite: 1207, cacheWrite1h: 1001, output: 7 });
    const receipt = await harness.receipt(response.headers.get('x-gateway-request-id')!);
    const { pricing } = await harness.catalogEntry(MODEL);
    expect(pricing.cache_write_1h).not.toBe(pricing.cache_write);
    expect(priceCounts(pricing, counts(usage)).total).toBe(BigInt(receipt.cost_nanousd!));
  });
});
