import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../src/limits.ts';
import { type Harness, startHarness } from './harness.ts';
import { callRaw } from './raw-client.ts';
import { TRANSPORTS } from './transports.ts';
import { until } from './until.ts';

let harness: Harness;

const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }] };

interface ErrorBody {
  error: { message: string; type: string; code: string; param: string | null };
}

async function expectRefusal(response: Response, status: number, code: string): Promise<ErrorBody['error']> {
  const { error } = (await response.json()) as ErrorBody;
  expect([response.status, error.code]).toEqual([status, code]);
  expect(Object.keys(error)).toEqual(['message', 'type', 'code', 'param']);
  expect(response.headers.get('content-type')).toContain('application/json');
  const id = response.headers.get('x-gateway-request-id');
  expect(id).toMatch(/^req_/);
  expect([response.headers.get('request-id'), response.headers.get('x-request-id')]).toEqual([id, id]);
  expect(response.headers.get('x-gateway-cost-nanousd')).toBe('0');
  if (status < 500) expect(response.headers.get('x-should-retry')).toBe('false');
  return error;
}

/** The client closes the connection of a HEAD. */
function withoutIds(headers: Headers): [string, string][] {
  return [...headers].filter(([name]) => !/request-id$|^date$|^connection$|^keep-alive$/.test(name));
}

/** Sends the bytes on a connection of their own, and returns everything that came back until it was closed. */
function speak(bytes: string): Promise<string> {
  const socket = connect(Number(new URL(harness.url).port), '127.0.0.1');
  socket.write(bytes);
  return readToEnd(socket);
}

function readToEnd(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    socket.on('data', (chunk) => (text += chunk));
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });
}

describe.each(TRANSPORTS)('over the %s transport', (transport) => {
  beforeAll(async () => {
    harness = await startHarness({ transport });
  });
  beforeEach(() => harness.sim.reset());
  afterAll(async () => {
    await harness.expectCleanBooks();
    await harness.stop();
  });

  describe('every route answers', () => {
    test('with a slash behind the model or the id in its path', async () => {
      expect((await harness.get('/v1/models/sim-gpt/')).status).toBe(200);
      const id = (await harness.post(ASK)).headers.get('request-id');
      expect((await harness.get(`/v1/receipts/${id}/`)).status).toBe(200);
    });

    test('with a slash behind its path', async () => {
      expect((await harness.post(ASK, {}, '/v1/chat/completions/')).status).toBe(200);
      const list = (await (await harness.get('/v1/models/?x=1')).json()) as { object: string };
      expect(list.object).toBe('list');
      const wrong = await harness.get('/v1/chat/completions/');
      expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
    });

    test.each(['/v1', '', '/api/v1'])('under the prefix "%s"', async (prefix) => {
      expect((await harness.post(ASK, {}, `${prefix}/chat/completions`)).status).toBe(200);
      const list = (await (await harness.get(`${prefix}/models`)).json()) as { data: { id: string }[] };
      expect(list.data.map(({ id }) => id)).toContain('sim-gpt');
      for (const id of ['sim-gpt', 'vendor/sim-gpt', 'vendor%2Fsim-gpt']) {
        expect(await (await harness.get(`${prefix}/models/${id}`)).json()).toMatchObject({ id: 'sim-gpt' });
      }
      expect(await (await harness.get(`${prefix}/catalog`)).json()).toMatchObject({ object: 'list' });
      expect(await (await harness.get(`${prefix}/balance`)).json()).toMatchObject({ object: 'balance' });
    });

    test('with its three ids, whatever it is', async () => {
      for (const path of ['/v1/models', '/v1/catalog', '/v1/balance', '/livez', '/readyz', '/nowhere']) {
        const { headers } = await harness.get(path);
        const id = headers.get('x-gateway-request-id');
        expect([path, id]).toEqual([path, expect.stringMatching(/^req_/)]);
        expect([headers.get('request-id'), headers.get('x-request-id')]).toEqual([id, id]);
      }
    });

    test('a query string changes nothing', async () => {
      expect((await harness.post(ASK, {}, '/v1/chat/completions?api-version=1')).status).toBe(200);
    });

    test('HEAD / says that someone is here', async () => {
      const response = await fetch(`${harness.url}/`, { method: 'HEAD' });
      expect(response.status).toBe(200);
      expect(response.headers.get('x-gateway-request-id')).toMatch(/^req_/);
    });

    test('a HEAD like a GET, without the body', async () => {
      const paths = [
        '/v1/models',
        '/v1/models/sim-gpt',
        '/v1/models/none',
        '/catalog',
        '/v1/balance',
        '/v1/jobs',
        '/livez',
      ];
      for (const path of paths) {
        const whole = await harness.get(path);
        const bare = await fetch(`${harness.url}${path}`, { method: 'HEAD' });
        expect([path, bare.status, await bare.text()]).toEqual([path, whole.status, '']);
        expect([path, withoutIds(bare.headers)]).toEqual([path, withoutIds(whole.headers)]);
      }
      const refused = await fetch(`${harness.url}/v1/chat/completions`, { method: 'HEAD' });
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST']);
      const wrong = await harness.post({}, {}, '/v1/balance');
      expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    });

    test('clients of both vendors get the list of models in their own format', async () => {
      const plain = await (await harness.get('/v1/models')).json();
      expect(plain).toMatchObject({ object: 'list' });
      const vendor = await (await harness.get('/v1/models', { 'anthropic-version': '2023-06-01' })).json();
      expect(vendor).toMatchObject({ has_more: false, first_id: 'sim-claude' });
      expect(
        await (await harness.get('/v1/models/sim-gpt', { 'messages-version': '2023-06-01' })).json(),
      ).toMatchObject({
        type: 'model',
        display_name: 'Simulated GPT',
      });
    });
  });

  describe('what is not answered', () => {
    test('a base URL with /v1 twice gets an error that says so', async () => {
      const error = await expectRefusal(await harness.post(ASK, {}, '/v1/v1/chat/completions'), 404, 'unknown_url');
      expect(error.message).toContain('Take it out of the base URL');
    });

    test.each([
      ['POST', '/v1/images/generations', 'Images'],
      ['POST', '/v1/rerank', 'embeddings'],
      ['POST', '/v1/moderations', 'Moderation'],
      ['POST', '/v1/audio/speech', 'Audio'],
      ['GET', '/v1/files', 'Files'],
      ['POST', '/v1/batches', '/v1/jobs'],
      ['POST', '/v1/fine_tuning/jobs', 'tuned'],
      ['POST', '/v1/assistants', 'whole conversation'],
      ['POST', '/v1/threads/t_1/runs', 'whole conversation'],
      ['POST', '/v1/vector_stores', 'stored'],
      ['GET', '/v1/realtime', 'stream'],
      ['GET', '/api/v1/generation?id=gen-1', '/v1/receipts/'],
      ['GET', '/api/v1/credits', '/v1/balance'],
      ['POST', '/v1/models/gemini-2.5-flash:generateContent', '/v1/chat/completions'],
      ['POST', '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse', '/v1/chat/completions'],
    ])('%s %s is refused by name, with the nearest equivalent', async (method, path, hint) => {
      const body = method === 'POST' ? { body: '{}', headers: { 'content-type': 'application/json' } } : {};
      const error = await expectRefusal(await fetch(harness.url + path, { method, ...body }), 404, 'unsupported_route');
      expect(error.message).toContain(hint);
    });

    test('another path is unknown', async () => {
      await expectRefusal(await harness.get('/v1/nothing'), 404, 'unknown_url');
      await expectRefusal(await harness.get('/'), 404, 'unknown_url');
    });

    test('a wrong method is told the right one', async () => {
      const response = await harness.get('/v1/chat/completions');
      expect(response.headers.get('allow')).toBe('POST');
      expect((await expectRefusal(response, 405, 'method_not_allowed')).message).toContain('send POST');
      const posted = await harness.post({}, {}, '/v1/models/vendor/model');
      expect(posted.headers.get('allow')).toBe('GET, HEAD');
      await expectRefusal(posted, 405, 'method_not_allowed');
      const deleted = await fetch(`${harness.url}/v1/balance`, { method: 'DELETE' });
      await expectRefusal(deleted, 405, 'method_not_allowed');
    });

    test('a receipt that nobody has', async () => {
      await expectRefusal(await harness.get('/v1/receipts/req_0000000000000'), 404, 'receipt_not_found');
      await expectRefusal(await harness.get('/v1/receipts/nonsense'), 404, 'receipt_not_found');
    });

    test('an invalid path, or one that is too long', async () => {
      await expectRefusal(await harness.get('/v1/models/%zz'), 400, 'bad_request');
      await expectRefusal(await harness.get(`/v1/models/${'x'.repeat(3000)}`), 404, 'model_not_found');
    });
  });

  describe('a body', () => {
    test('of another type is refused', async () => {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
        const response = await harness.post(ASK, { 'content-type': type });
        expect(await expectRefusal(response, 415, 'unsupported_media_type')).toMatchObject({ param: 'content-type' });
      }
      expect(harness.sim.calls).toHaveLength(0);
    });

    test('of JSON with a charset passes', async () => {
      expect((await harness.post(ASK, { 'content-type': 'application/json; charset=utf-8' })).status).toBe(200);
    });

    test('may wait for leave to be sent, as curl does with large ones', async () => {
      const body = JSON.stringify(ASK);
      const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`;
      const socket = connect(Number(new URL(harness.url).port), '127.0.0.1');
      socket.write(`${head}content-length: ${body.length}\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n`);
      const [leave] = (await once(socket, 'data')) as [Buffer];
      expect(leave.toString()).toMatch(/^HTTP\/1.1 100 /);
      socket.write(body);
      expect(await readToEnd(socket)).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    });

    test('may follow another on the same connection before that one is answered', async () => {
      const body = JSON.stringify({ ...ASK, max_tokens: 5 });
      const stream = JSON.stringify({ ...ASK, stream: true });
      const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`;
      const last = 'GET /v1/models HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n';
      const text = await speak(
        `${head}content-length: ${stream.length}\r\n\r\n${stream}${head}content-length: ${body.length}\r\n\r\n${body}${last}`,
      );
      expect(text.match(/HTTP\/1.1 200 OK/g)).toHaveLength(3);
      const order = ['data: [DONE]', '"chat.completion"', '"context_window"'].map((each) => text.indexOf(each));
      expect(order).toEqual(order.toSorted((a, b) => a - b));
      expect(order[0]).toBeGreaterThan(0);
    });

    test('that is empty or not JSON is refused', async () => {
      await expectRefusal(await harness.post('{"model":'), 400, 'invalid_request_body');
      await expectRefusal(await harness.post(''), 400, 'invalid_request_body');
      await expectRefusal(await harness.post('[]'), 400, 'invalid_request_body');
      await expectRefusal(
        await harness.post('{"model":"sim-gpt","mod\\u0065l":"x","messages":[]}'),
        400,
        'duplicate_key',
      );
    });

    test('larger than allowed is refused, announced or not', async () => {
      const large = 'x'.repeat(LIMITS.requestBodyBytesMax + 1);
      const announced = await callRaw(`${harness.url}/v1/chat/completions`, large);
      expect([announced.status, JSON.parse(announced.text).error.code]).toEqual([413, 'request_too_large']);
      const chunked = await callRaw(`${harness.url}/v1/chat/completions`, large, { chunked: true });
      expect([chunked.status, JSON.parse(chunked.text).error.code]).toEqual([413, 'request_too_large']);
    });

    test('is refused while others fill the room, unless it still fits', async () => {
      const { bodyMemory } = harness.running;
      const bytes = LIMITS.bodiesBytesMax - 100_000;
      expect(bodyMemory.take(null, bytes)).toBe(true);
      const large = JSON.stringify({ ...ASK, user: 'x', padding: 'x'.repeat(100_000) });
      const announced = await callRaw(`${harness.url}/v1/chat/completions`, large);
      expect([announced.status, JSON.parse(announced.text).error.code]).toEqual([503, 'overloaded']);
      const chunked = await callRaw(`${harness.url}/v1/chat/completions`, large, { chunked: true });
      expect([chunked.status, JSON.parse(chunked.text).error.code]).toEqual([503, 'overloaded']);
      expect((await harness.post(ASK)).status).toBe(200);
      await until(() => bodyMemory.bytes === bytes, 'what the others took is free again');
      bodyMemory.free(null, bytes);
      expect((await harness.post(large)).status).toBe(200);
      expect((await callRaw(`${harness.url}/v1/chat/completions`, large, { chunked: true })).status).toBe(200);
      await until(() => bodyMemory.bytes === 0, 'all room is free');
    });

    test('counts from its first byte, although it never becomes whole', async () => {
      const { port } = new URL(harness.url);
      const arrived = 10_000;
      const head = 'POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n';
      const begun = ['content-length: 10001', 'transfer-encoding: chunked'].map((framing, at) => {
        const socket = connect(Number(port), '127.0.0.1');
        const body = (at === 0 ? '' : `${arrived.toString(16)}\r\n`) + 'x'.repeat(arrived);
        socket.write(`${head}${framing}\r\n\r\n${body}`);
        return socket;
      });
      const gauge = async (): Promise<number> =>
        Number(/^tollgate_request_body_bytes (\d+)$/m.exec(await (await harness.get('/metrics')).text())?.[1]);
      await until(async () => (await gauge()) === 2 * arrived, 'every byte of both is counted');
      for (const socket of begun) socket.destroy();
      await until(async () => (await gauge()) === 0, 'both are forgotten');
    });
  });

  describe('bytes that are no request', () => {
    test.each([
      ['nonsense', 'NONSENSE\r\n\r\n', 400, 'bad_request'],
      [
        'two lengths',
        'POST /v1/models HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
        400,
        'bad_request',
      ],
      [
        'a huge head',
        `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`,
        431,
        'request_head_too_large',
      ],
    ])('%s get the common error envelope and a closed connection', async (_, bytes, status, code) => {
      const text = await speak(bytes);
      expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      const { error } = JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as ErrorBody;
      expect(error).toMatchObject({ type: 'invalid_request_error', code, param: null });
    });
  });
});
