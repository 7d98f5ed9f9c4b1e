import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { SimScript } from '../src/sim/sim.ts';
import { type Harness, simHost, startHarness } from './harness.ts';
import { callRaw } from './raw-client.ts';
import { TRANSPORTS } from './transports.ts';

/** Whatever a host answers, a caller gets a valid response or an error of ours, and the receipt agrees. */

const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }] };

const raw = (body: string | Buffer, contentType = 'application/json'): SimScript => ({
  raw: { contentType, base64: Buffer.from(body).toString('base64') },
});

const CHOICES = '"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]';
const USAGE = '"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6}';
const ANSWER = `{"id":"a","object":"chat.completion","created":1,"model":"m",${CHOICES},${USAGE}}`;

const ANSWERS: readonly [string, SimScript, 200 | 502][] = [
  ['a plain one', raw(ANSWER), 200],
  ['one with white space around', raw(`\n\n ${ANSWER} \n`), 200],
  ['two models', raw(ANSWER.replace('"model":"m"', '"model":"m","model":"n"')), 200],
  ['two usages', raw(ANSWER.replace(USAGE, `${USAGE},${USAGE}`)), 200],
  ['a model in an escaped spelling', raw(ANSWER.replace('"model"', '"mod\\u0065l"')), 200],
  ['two models, one of them escaped', raw(ANSWER.replace('"model":"m"', '"model":"m","mod\\u0065l":"n"')), 200],
  ['no model, no usage', raw(`{${CHOICES}}`), 200],
  ['usage that is null', raw(ANSWER.replace(USAGE, '"usage":null')), 200],
  ['usage that is a list', raw(ANSWER.replace(USAGE, '"usage":[1]')), 200],
  ['choices that are no objects', raw('{"choices":[1,null,"x"]}'), 502],
  ['no choices at all in the list', raw(`{"choices":[],${USAGE}}`), 502],
  ['a byte order mark', raw(`\ufeff${ANSWER}`), 200],
  ['two byte order marks', raw(`\ufeff\ufeff${ANSWER}`), 502],
  ['nothing but a byte order mark', raw('\ufeff'), 502],
  [
    'half a character',
    raw(Buffer.concat([Buffer.from(ANSWER.slice(0, -1)), Buffer.from([0xc3]), Buffer.from('}')])),
    502,
  ],
  [
    'half a character in a string',
    raw(Buffer.concat([Buffer.from('{"x":"'), Buffer.from([0xc3]), Buffer.from(`",${ANSWER.slice(1)}`)])),
    200,
  ],
  ['nothing', raw(''), 502],
  ['null', raw('null'), 502],
  ['a list', raw('[]'), 502],
  ['an object of something else', raw('{"hello":"world"}'), 502],
  ['an error with a 200', { errorAfterChunks: 0 }, 502],
  ['an answer with an error in it', raw(ANSWER.replace('"id":"a"', '"id":"a","error":{"message":"no"}')), 502],
  [
    'one nested without end',
    raw(ANSWER.replace('"id":"a"', `"id":"a","deep":${'['.repeat(50_000)}${']'.repeat(50_000)}`)),
    502,
  ],
  [
    'usage nested without end',
    raw(ANSWER.replace('"prompt_tokens"', `"deep":${'['.repeat(50_000)}${']'.repeat(50_000)},"prompt_tokens"`)),
    502,
  ],
  ['half of one', { endAtByte: 100 }, 502],
  ['a cut', { cutAtByte: 100 }, 502],
  ['a compressed one', { headers: { 'content-encoding': 'gzip' } }, 502],
  ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, 502],
  ['no content', { status: 204 }, 502],
];

const sse = (...events: string[]): SimScript =>
  raw(events.map((event) => `data: ${event}\n\n`).join(''), 'text/event-stream');
const chunk = (delta: string, finish = 'null', more = '') =>
  `{"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":${delta},"finish_reason":${finish}}]${more}}`;
const WORD = chunk('{"role":"assistant","content":"hi"}');
const FINISH = chunk('{}', '"stop"');

/** The last member is how the client's stream ends: with its terminator, with an error in it, or as an HTTP error. */
const STREAMS: readonly [string, SimScript, 'done' | 'error' | 502][] = [
  ['a plain one', sse(WORD, FINISH, `{"choices":[],${USAGE}}`, '[DONE]'), 'done'],
  ['no terminator, but a finish', sse(WORD, FINISH), 'done'],
  ['a terminator without a finish', sse(WORD, '[DONE]'), 'done'],
  ['neither', sse(WORD), 'error'],
  ['a terminator and more after it', sse(WORD, FINISH, '[DONE]', WORD), 'done'],
  ['an error as its only frame', sse('{"error":{"message":"no","code":"x"}}'), 502],
  ['an error after a word', sse(WORD, '{"error":{"message":"no","code":"x"}}'), 'error'],
  ['no JSON as its only frame', sse('hello'), 502],
  ['no JSON after a word', sse(WORD, '{"id":'), 'error'],
  ['nothing at all', raw('', 'text/event-stream'), 502],
  ['nothing but a terminator', sse('[DONE]'), 502],
  ['nothing but a comment', raw(': hello\n\n', 'text/event-stream'), 502],
  ['a last frame without its blank line', raw(`data: ${WORD}\n\ndata: ${FINISH}\n`, 'text/event-stream'), 'done'],
  ['a last frame that is cut off', raw(`data: ${WORD}\n\ndata: {"id":`, 'text/event-stream'), 'error'],
  ['lone carriage returns', raw(`data: ${WORD}\r\rdata: ${FINISH}\r\rdata: [DONE]\r\r`, 'text/event-stream'), 'done'],
  ['a byte order mark', raw(`\ufeffdata: ${WORD}\n\ndata: ${FINISH}\n\n`, 'text/event-stream'), 'done'],
  [
    'frames with nothing in them',
    raw(`data:\n\ndata: ${WORD}\n\ndata\n\ndata: ${FINISH}\n\n`, 'text/event-stream'),
    'done',
  ],
  [
    'its type in other letters',
    raw(`data: ${WORD}\n\ndata: ${FINISH}\n\n`, 'Text/Event-Stream; charset=utf-8'),
    'done',
  ],
  [
    'more words than a model can say',
    sse(...Array<string>(5).fill(chunk(`{"content":"${'x'.repeat(4 * 1024 * 1024)}"}`)), FINISH),
    'error',
  ],
  ['a whole answer instead', raw(ANSWER), 'done'],
  ['a whole answer with a byte order mark instead', raw(`\ufeff${ANSWER}`), 'done'],
  ['something else instead', raw('{"hello":"world"}'), 502],
  ['a page instead', raw('<html>', 'text/html'), 502],
  ['a compressed one', { headers: { 'content-encoding': 'gzip' } }, 502],
  ['a frame larger than any may be', sse(WORD, chunk(`{"content":"${'x'.repeat(9 * 1024 * 1024)}"}`), FINISH), 'error'],
];

describe.each(TRANSPORTS)('over the %s transport', (transport) => {
  let harness: Harness;

  beforeAll(async () => {
    harness = await startHarness({ transport });
  });
  beforeEach(() => harness.sim.reset());
  afterEach(() => harness.expectCleanBooks());
  afterAll(() => harness.stop());

  describe('a whole answer', () => {
    test.each(ANSWERS)('%s', async (_, script, status) => {
      harness.sim.script(script);
      const answer = await callRaw(`${harness.url}/v1/chat/completions`, ASK);
      expect([answer.status, answer.ended]).toEqual([status, 'complete']);
      const receipt = await harness.receipt(String(answer.headers['x-gateway-request-id']));
      expect(receipt.cost_nanousd).toBe(Number(answer.headers['x-gateway-cost-nanousd']));
      const body = JSON.parse(answer.text) as {
        model?: string;
        usage?: { cost_nanousd?: number };
        error?: { code: string };
      };
      if (status === 200) {
        expect(body.model).toBe('sim-gpt');
        expect(body.usage?.cost_nanousd).toBe(receipt.cost_nanousd);
        expect(receipt).toMatchObject({ ended: 'complete', http_status: 200 });
      } else {
        expect(body.error?.code).toBe('host_failed');
        expect(receipt).toMatchObject({ ended: 'failed', http_status: 502, cost_nanousd: 0 });
      }
    });
  });

  describe('a stream from an odd host', () => {
    let streaming: Harness;
    beforeAll(async () => {
      streaming = await startHarness({ transport });
    });
    afterEach(() => streaming.expectCleanBooks());
    afterAll(() => streaming.stop());

    test.each(STREAMS)('%s', async (_, script, ends) => {
      streaming.sim.reset();
      streaming.sim.script(script);
      const answer = await callRaw(`${streaming.url}/v1/chat/completions`, { ...ASK, stream: true });
      const receipt = await streaming.receipt(String(answer.headers['x-gateway-request-id']));
      expect([answer.status, answer.ended]).toEqual([ends === 502 ? 502 : 200, 'complete']);
      const events = answer.text.split(/\n\n|\r\r/).slice(0, -1);
      if (ends === 'done') {
        expect(events.at(-1)).toBe('data: [DONE]');
        expect(events.filter((event) => event === 'data: [DONE]')).toHaveLength(1);
        expect(answer.text.match(/"finish_reason":"/g)).toHaveLength(1);
        expect(receipt.ended).toBe('complete');
        return;
      }
      expect(answer.text).not.toContain('[DONE]');
      const { error } = JSON.parse(ends === 502 ? answer.text : events.at(-1)!.slice('data: '.length));
      expect(error).toMatchObject({ type: 'upstream_error', code: 'host_failed' });
      expect(receipt.ended).toBe(ends === 502 ? 'failed' : 'upstream_error');
      expect(receipt.cost_nanousd === 0).toBe(ends === 502);
    });
  });

  describe.each<[string, SimScript]>([
    ['is compressed', { headers: { 'content-encoding': 'gzip' } }],
    ['breaks off', { cutAtByte: 10 }],
  ])('an error whose body %s', (_what, fault) => {
    test.each<[number, boolean, number, string, string | null]>([
      [400, false, 400, 'host_refused_request', null],
      [400, true, 400, 'host_refused_request', null],
      [429, false, 429, 'rate_limit_exceeded', null],
      [429, true, 429, 'rate_limit_exceeded', null],
      [500, false, 502, 'host_failed', 'host_may_bill_uncharged_work'],
      [500, true, 502, 'host_failed', 'host_may_bill_uncharged_work'],
      // It may be the page of a firewall, which is a failure of the host, not a refusal of our key.
      [403, false, 502, 'host_failed', 'host_may_bill_uncharged_work'],
      [403, true, 502, 'host_failed', 'host_may_bill_uncharged_work'],
    ])('counts by its status %i, stream: %s', async (status, stream, told, code, lossReason) => {
      harness.sim.script({ ...fault, status });
      const answer = await callRaw(`${harness.url}/v1/chat/completions`, { ...ASK, stream });
      expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([told, code]);
      expect(await harness.newestReceipt()).toMatchObject({ ended: 'failed', costNanousd: 0n, lossReason });
    });
  });

  describe('a host that is not there', () => {
    test.each([false, true])('fails at once and costs nothing, stream: %s', async (stream) => {
      const absent = await startHarness({ transport, hosts: () => [simHost({ url: 'http://127.0.0.1:1' })] });
      const answer = await callRaw(`${absent.url}/v1/chat/completions`, { ...ASK, stream });
      expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([502, 'host_failed']);
      expect(answer.text).not.toContain('127.0.0.1');
      expect(await absent.newestReceipt()).toMatchObject({ ended: 'failed', costNanousd: 0n, attempts: 1 });
      await absent.expectCleanBooks();
      await absent.stop();
    });
  });
});
