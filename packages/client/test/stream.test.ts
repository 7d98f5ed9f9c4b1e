import { expect, test } from 'vitest';
import { createClient } from '../src/index.ts';

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
