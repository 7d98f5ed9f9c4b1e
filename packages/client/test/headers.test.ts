import { expect, test } from 'vitest';
import { type ClientOptions, createClient } from '../src/index.ts';

function clientOf(options: Partial<ClientOptions>) {
  const sent: Headers[] = [];
  const client = createClient({
    baseURL: 'http://gateway.example',
    ...options,
    fetch: async (_input, init) => {
      sent.push(new Headers(init?.headers));
      return Response.json({}, { headers: { 'x-gateway-request-id': 'req_1', 'x-gateway-cost-nanousd': '1' } });
    },
  });
  return { client, sent };
}

const REQUEST = { model: 'm', messages: [] };

test("a caller's header replaces the client's own in any spelling, so that two calls with one key are charged once", async () => {
  const { client, sent } = clientOf({ apiKey: 'k', maxCost: 9n });
  const headers = {
    'Idempotency-Key': 'order-1',
    Authorization: 'Bearer other',
    'Content-Type': 'application/json; charset=utf-8',
    'X-Gateway-Max-Cost-Nanousd': '5',
  };
  await client.chat(REQUEST, { headers });
  for (const [name, value] of Object.entries(headers)) expect(sent[0]!.get(name), name).toBe(value);
});

test('a header of one call replaces that of the client in any spelling', async () => {
  const { client, sent } = clientOf({ headers: { 'X-Team': 'a', 'x-tier': 'low' } });
  await client.chat(REQUEST, { headers: { 'x-team': 'b', 'X-Tier': 'high' } });
  expect([sent[0]!.get('x-team'), sent[0]!.get('x-tier')]).toEqual(['b', 'high']);
});

test("a caller's fetch may spread the headers to add one", async () => {
  const seen: object[] = [];
  const client = createClient({
    baseURL: 'http://gateway.example',
    apiKey: 'k',
    maxCost: 9n,
    fetch: async (_input, init) => {
      seen.push({ ...init?.headers, 'x-trace': '1' });
      return Response.json({}, { headers: { 'x-gateway-request-id': 'req_1', 'x-gateway-cost-nanousd': '1' } });
    },
  });
  await client.chat(REQUEST);
  expect(seen).toMatchObject([{ authorization: 'Bearer k', 'x-gateway-max-cost-nanousd': '9', 'x-trace': '1' }]);
});

test('an API key that no header can have is an error of the client, with a code', async () => {
  const client = createClient({ baseURL: 'http://127.0.0.1:9', apiKey: 'k\u2013x', retries: 0 });
  await expect(client.chat(REQUEST)).rejects.toMatchObject({ name: 'TollgateError' });
});
