import { describe, expect, test } from 'vitest';
import { parseAmounts } from '../src/json.ts';
import { formatUsd, usd } from '../src/money.ts';
import { identityOf, receiptFromEvent, receiptFromHeaders, receiptFromLedger } from '../src/receipt.ts';
import { lookupFor } from '../src/receipt-lookup.ts';
import { retryingFetch } from '../src/retry.ts';
import { SseParser } from '../src/sse.ts';
import { readStreamEvent } from '../src/stream-events.ts';

describe('usd', () => {
  test.each([
    ['0.05', 50_000_000n],
    ['1', 1_000_000_000n],
    ['0.000000001', 1n],
    ['12345678901.5', 12_345_678_901_500_000_000n],
  ])('%s dollars are exact, both ways', (text, nanousd) => {
    expect(usd(text)).toBe(nanousd);
    expect(formatUsd(nanousd)).toBe(text);
  });

  test.each(['', '1.', '.5', '-1', '1e3', '0.0000000001', '$1', '1,5'])('refuses "%s"', (text) => {
    expect(() => usd(text)).toThrow(TypeError);
  });
});

describe('amounts in JSON', () => {
  test('are numbers: a text of the caller stays a text, whatever its name is', () => {
    const metadata = { budget_nanousd: 'ten', limit_nanousd: '10' };
    expect(parseAmounts(JSON.stringify({ cost_nanousd: 5, metadata }))).toEqual({ cost_nanousd: 5n, metadata });
  });

  test('are exact beyond what a number holds', () => {
    expect(parseAmounts('{"balance_nanousd": 9007199254740993, "a":{"cost_nanousd":null}}')).toEqual({
      balance_nanousd: 9007199254740993n,
      a: { cost_nanousd: null },
    });
  });

  test('are not looked for in texts', () => {
    const text = JSON.stringify({ note: '{"cost_nanousd":5}' });
    expect(parseAmounts(text)).toEqual({ note: '{"cost_nanousd":5}' });
  });
});

describe('a receipt', () => {
  const headers = new Headers({
    'x-gateway-request-id': 'req_1',
    'x-gateway-requested-model': 'a',
    'x-gateway-effective-model': 'b',
    'x-gateway-cost-nanousd': '10',
    'x-gateway-cost-components-nanousd': 'fresh=1,cache_write=2,cache_read=3,output=4',
  });
  const components = { fresh: 1n, cacheWrite: 2n, cacheRead: 3n, output: 4n };

  test('is read from headers', () => {
    expect(receiptFromHeaders(headers)).toEqual({
      requestId: 'req_1',
      requestedModel: 'a',
      effectiveModel: 'b',
      costNanousd: 10n,
      components,
      usage: null,
      priceVersion: null,
      state: 'settled',
    });
  });

  test('is not read from headers without a cost, nor from those of another server', () => {
    const stream = new Headers({ 'x-gateway-request-id': 'req_1' });
    expect(receiptFromHeaders(stream)).toBeNull();
    expect(identityOf(stream)).toMatchObject({ requestId: 'req_1', state: 'pending', costNanousd: null });
    expect(receiptFromHeaders(new Headers({ 'x-gateway-cost-nanousd': '1' }))).toBeNull();
  });

  test('is read from the last event of a messages stream', () => {
    const event = {
      type: 'gateway_receipt',
      cost_nanousd: 10,
      components: { fresh: 1, cache_write: 2, cache_read: 3, output: 4 },
      usage: { input_tokens: 5, output_tokens: 6, cache_read_input_tokens: 7, cache_creation_input_tokens: 8 },
    };
    expect(receiptFromEvent(identityOf(headers)!, event)).toMatchObject({
      requestId: 'req_1',
      costNanousd: 10n,
      components,
      usage: { freshTokens: 5, outputTokens: 6, cacheReadTokens: 7, cacheWriteTokens: 8 },
    });
    expect(receiptFromEvent(identityOf(headers)!, { type: 'message_stop' })).toBeNull();
  });

  test('of the ledger is pending while the call runs, and has its hold', () => {
    const body = { id: 'req_1', cost_nanousd: null, held_nanousd: 50n };
    expect(receiptFromLedger(body)).toMatchObject({ state: 'pending', costNanousd: null, heldNanousd: 50n });
  });

  test('is JSON with texts for its amounts', () => {
    expect(JSON.parse(JSON.stringify(receiptFromHeaders(headers)))).toMatchObject({
      costNanousd: '10',
      components: { fresh: '1', output: '4' },
      usage: null,
    });
  });
});

describe('server-sent events', () => {
  const text =
    ': ping\r\n\r\nevent: a\r\ndata: {"x":\r\ndata: "ü"}\r\n\r\ndata:2\n\nid: 3\n\ndata\r\rdata: never ended';
  const events = [
    { event: 'a', data: '{"x":\n"ü"}' },
    { event: 'message', data: '2' },
    { event: 'message', data: '' },
  ];

  test.each([1, 2, 3, 7, 1000])('are the same in pieces of %i bytes', (size) => {
    const bytes = new TextEncoder().encode(text);
    const parser = new SseParser();
    const found = [];
    for (let at = 0; at < bytes.length; at += size) found.push(...parser.push(bytes.subarray(at, at + size)));
    expect(found).toEqual(events);
  });
});

describe('an event of a stream', () => {
  test.each([
    ['opening', { choices: [{ delta: { role: 'assistant', content: '' }, finish_reason: null }] }],
    ['opening', { choices: [], usage: null }],
    ['opening', { type: 'message_start' }],
    ['opening', { type: 'content_block_start', content_block: { type: 'text', text: '' } }],
    ['opening', { type: 'response.created', response: { error: null } }],
    ['content', { choices: [{ delta: { content: 'x' } }] }],
    ['content', { choices: [{ delta: { reasoning: 'x' } }] }],
    ['content', { choices: [{ delta: { tool_calls: [{}] } }] }],
    ['content', { choices: [{ text: 'x' }] }],
    ['content', { choices: [{ delta: {}, finish_reason: 'stop' }] }],
    ['content', { type: 'content_block_delta' }],
    ['content', { type: 'response.output_text.delta' }],
    ['end', { type: 'message_stop' }],
    ['end', { type: 'response.completed' }],
    ['error', { type: 'error', error: { type: 'overloaded_error' } }],
    ['error', { type: 'response.failed', response: { error: { code: 'host_failed' } } }],
    ['error', { error: { message: 'x' } }],
  ])('means %s: %j', (meaning, body) => {
    expect(readStreamEvent({ event: 'message', data: JSON.stringify(body) }).meaning).toBe(meaning);
  });

  test('is the end if it is [DONE], and says nothing if it is not JSON', () => {
    expect(readStreamEvent({ event: 'message', data: '[DONE]' }).meaning).toBe('end');
    expect(readStreamEvent({ event: 'message', data: 'x' })).toEqual({ meaning: 'opening', body: null });
  });
});

describe('the address of receipts', () => {
  test.each([
    ['http://a/v1/chat/completions', 'http://a'],
    ['http://a/chat/completions', 'http://a'],
    ['http://a/messages', 'http://a'],
    ['http://a/api/v1/chat/completions', 'http://a'],
    ['http://a/openai/v1/responses', 'http://a'],
    ['http://a/openai/deployments/m/chat/completions?api-version=1', 'http://a'],
    ['http://a/api/gateway/v1/messages', 'http://a/api/gateway'],
  ])('of %s is under %s', (url, root) => {
    const headers = { 'x-api-key': 'k', 'content-type': 'application/json' };
    expect(lookupFor(fetch, url, { headers })).toMatchObject({ root, headers: { 'x-api-key': 'k' } });
  });
});

describe('retries', () => {
  function scripted(...statuses: readonly (number | ResponseInit)[]) {
    const left = [...statuses];
    const waits: number[] = [];
    const send = retryingFetch(
      async () => {
        const next = left.shift()!;
        return new Response('', typeof next === 'number' ? { status: next } : next);
      },
      { wait: async (ms) => void waits.push(ms) },
    );
    return { send, waits, left };
  }

  test('come twice at most, later each time and never at the same moment', async () => {
    const { send, waits } = scripted(500, 500, 500);
    expect((await send('http://a')).status).toBe(500);
    expect(waits).toHaveLength(2);
    expect(waits[0]).toBeGreaterThanOrEqual(250);
    expect(waits[0]).toBeLessThanOrEqual(500);
    expect(waits[1]).toBeGreaterThanOrEqual(500);
    expect(waits[1]).toBeLessThanOrEqual(1000);
  });

  test('wait for what Retry-After says, but not for longer than a minute', async () => {
    const { send, waits, left } = scripted(
      { status: 429, headers: { 'retry-after': '3' } },
      { status: 429, headers: { 'retry-after': '61' } },
      200,
    );
    expect((await send('http://a')).status).toBe(429);
    expect(waits).toEqual([3000]);
    expect(left).toHaveLength(1);
  });

  test('come also if the body of the failed response breaks off', async () => {
    const cut = new ReadableStream({ start: (controller) => controller.error(new TypeError('terminated')) });
    const responses = [new Response(cut, { status: 503 }), new Response('', { status: 200 })];
    const send = retryingFetch(async () => responses.shift()!, { wait: async () => {} });
    expect((await send('http://a')).status).toBe(200);
  });

  test('send a Request with its body again', async () => {
    const bodies: string[] = [];
    const send = retryingFetch(
      async (input, init) => {
        bodies.push(await new Request(input, init).text());
        return new Response('', { status: bodies.length === 1 ? 503 : 200 });
      },
      { wait: async () => {} },
    );
    expect((await send(new Request('http://a', { method: 'POST', body: '{}' }))).status).toBe(200);
    expect(bodies).toEqual(['{}', '{}']);
  });

  test('do not come after a refusal, nor if the response says so', async () => {
    const { send, left } = scripted(400, { status: 500, headers: { 'x-should-retry': 'false' } }, 200);
    expect((await send('http://a')).status).toBe(400);
    expect((await send('http://a')).status).toBe(500);
    expect(left).toEqual([200]);
  });

  test('do not come after an abort', async () => {
    let calls = 0;
    const send = retryingFetch(async () => {
      calls += 1;
      throw new DOMException('stop', 'AbortError');
    });
    await expect(send('http://a')).rejects.toThrow('stop');
    expect(calls).toBe(1);
  });
});
