import { expect, test } from 'vitest';
import { type ClientOptions, createClient } from '../src/index.ts';

const TEXT = 'data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}\n\n';

/** A gateway whose streams are this text, and whose receipts cannot be read. */
function clientOf(text: string) {
  const headers = { 'content-type': 'text/event-stream', 'x-gateway-request-id': 'req_1' };
  return createClient({
    baseURL: 'http://gateway.example',
    fetch: async (_input, init) => (init?.method === 'POST' ? new Response(text, { headers }) : Response.error()),
  });
}

async function readToEnd(stream: AsyncIterable<unknown>): Promise<number> {
  let events = 0;
  for await (const _ of stream) events += 1;
  return events;
}

test('a stream that ends without its last event is an error, not a short answer', async () => {
  const stream = clientOf(TEXT).chat.stream({ model: 'm', messages: [] });
  await expect(readToEnd(stream)).rejects.toMatchObject({ code: 'stream_cut', requestId: 'req_1', retryable: false });
});

test('a receipt that cannot be read is pending, and its cost is not 0', async () => {
  const stream = clientOf(`${TEXT}data: [DONE]\n\n`).chat.stream({ model: 'm', messages: [] });
  expect(await readToEnd(stream)).toBe(1);
  expect(await stream.receipt).toMatchObject({ requestId: 'req_1', state: 'pending', costNanousd: null });
});

/** A response whose body does not end before the caller gives up. */
function endless(type: string, text: string, signal: AbortSignal): Response {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      signal.addEventListener('abort', () => controller.error(signal.reason));
    },
  });
  return new Response(body, { headers: { 'content-type': type, 'x-gateway-request-id': 'req_1' } });
}

function endlessClient(type: string, text: string, options: Partial<ClientOptions> = {}) {
  return createClient({
    baseURL: 'http://gateway.example',
    fetch: async (_input, init) => (init?.method === 'POST' ? endless(type, text, init.signal!) : Response.error()),
    ...options,
  });
}

test('a stream that is given up for a reason fails with that reason, and not with a broken connection', async () => {
  const abort = new AbortController();
  const reason = new Error('no longer needed');
  const request = { model: 'm', messages: [] };
  const stream = endlessClient('text/event-stream', TEXT).chat.stream(request, { signal: abort.signal });
  const read = async () => {
    for await (const _ of stream) abort.abort(reason);
  };
  await expect(read()).rejects.toBe(reason);
});

test('an answer that is given up while it arrives fails with the reason, and is not asked for again', async () => {
  const abort = new AbortController();
  const reason = new Error('no longer needed');
  let asked = 0;
  const client = endlessClient('application/json', '{', {
    wait: async () => {},
    fetch: async (_input, init) => {
      asked++;
      setImmediate(() => abort.abort(reason));
      return endless('application/json', '{', init!.signal!);
    },
  });
  await expect(client.chat({ model: 'm', messages: [] }, { signal: abort.signal })).rejects.toBe(reason);
  expect(asked).toBe(1);
});

test('a request that cannot be written as JSON fails the receipt too, so that nobody waits for it forever', async () => {
  const stream = clientOf(TEXT).chat.stream({ model: 'm', messages: [], seed: 1n });
  await expect(readToEnd(stream)).rejects.toThrow('BigInt');
  await expect(stream.receipt).rejects.toThrow('BigInt');
});
