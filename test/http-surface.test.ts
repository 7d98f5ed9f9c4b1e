import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../src/limits.ts';
import { type Harness, startHarness } from './harness.ts';
import { firstAnswer, openSocket, readToEnd, type SocketAnswer, speak } from './raw-socket.ts';
import { StreamClient } from './stream-client.ts';
import { differenceOf, TRANSPORTS } from './transports.ts';
import { manyTurns, until } from './until.ts';

/** Requests that are refused before they reach a route. */

const ASK = JSON.stringify({ model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }] });
const HOST = 'host: localhost\r\n';
const JSON_TYPE = 'content-type: application/json\r\n';

interface Envelope {
  readonly error: { readonly message: string; readonly type: string; readonly code: string; readonly param: unknown };
}

function errorOf({ body }: SocketAnswer): Envelope['error'] {
  return (JSON.parse(body) as Envelope).error;
}

describe.each(TRANSPORTS)('a head, over the %s transport,', (transport) => {
  let harness: Harness;

  beforeAll(async () => {
    harness = await startHarness({ transport });
  });
  afterEach(async () => {
    expect(harness.sim.received()).toBe(0);
    expect(harness.running.gateway.runningCalls.count).toBe(0);
    // Whatever was sent, the next request is served.
    expect((await harness.get('/v1/models')).status).toBe(200);
  });
  afterAll(async () => {
    await harness.expectCleanBooks();
    await harness.stop();
  });

  const post = (headers: string, body = ASK, target = '/v1/chat/completions') =>
    `POST ${target} HTTP/1.1\r\n${headers}\r\n${body}`;
  const sized = (headers: string) => post(`${HOST}${JSON_TYPE}content-length: ${ASK.length}\r\n${headers}`);
  const get = (target: string, headers = HOST) => `GET ${target} HTTP/1.1\r\n${headers}\r\n`;

  test.each([
    ['an absolute target', get('http://localhost/v1/models'), 400, 'bad_request', null],
    ['an absolute target elsewhere', get('http://evil.example/v1/models'), 400, 'bad_request', null],
    ['an asterisk', `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`, 400, 'bad_request', null],
    ['two slashes', get('//v1/models'), 400, 'bad_request', null],
    ['a way up', get('/v1/models/../balance'), 400, 'bad_request', null],
    ['an escaped way up', get('/v1/%2e%2e/metrics'), 400, 'bad_request', null],
    ['an escaped slash', get('/v1%2fmodels'), 400, 'bad_request', null],
    ['an escaped slash in a receipt', get('/v1/receipts/a%2fb'), 400, 'bad_request', null],
    ['an escaped backslash', get('/v1/models/a%5cb'), 400, 'bad_request', null],
    ['an escaped zero byte', get('/v1/models/a%00b'), 400, 'bad_request', null],
    ['no host', get('/v1/models', ''), 400, 'invalid_header', 'host'],
    ['an empty host', get('/v1/models', 'host:\r\n'), 400, 'invalid_header', 'host'],
    ['two hosts', get('/v1/models', `${HOST}Host: evil.example\r\n`), 400, 'invalid_header', 'host'],
    ['two types', sized('Content-Type: text/plain\r\n'), 400, 'invalid_header', 'content-type'],
    ['two keys', sized('authorization: Bearer a\r\nAuthorization: Bearer a\r\n'), 401, 'invalid_api_key', null],
    ['another expectation', sized('expect: a-miracle\r\n'), 417, 'expectation_failed', 'expect'],
    [
      'a web socket',
      get('/v1/realtime', `${HOST}connection: Upgrade\r\nupgrade: websocket\r\n`),
      400,
      'invalid_header',
      'upgrade',
    ],
    [
      'another coding',
      post(`${HOST}${JSON_TYPE}transfer-encoding: gzip, chunked\r\n`, '0\r\n\r\n'),
      400,
      'invalid_header',
      'transfer-encoding',
    ],
    [
      'pieces over HTTP/1.0',
      `POST /v1/chat/completions HTTP/1.0\r\n${HOST}${JSON_TYPE}transfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
      'invalid_header',
      'transfer-encoding',
    ],
    [
      'an unknown method',
      `STEAL /v1/models HTTP/1.1\r\n${HOST}connection: keep-alive,\tclose\r\n\r\n`,
      405,
      'method_not_allowed',
      null,
    ],
    ['an unknown HTTP version', `GET /v1/models HTTP/2.0\r\n${HOST}\r\n`, 400, 'bad_request', null],
    [
      'too many headers',
      get('/v1/models', HOST + 'x: 1\r\n'.repeat(LIMITS.requestHeadersMax)),
      431,
      'request_head_too_large',
      null,
    ],
    [
      'a key behind too many headers',
      get('/v1/models', `${HOST}${'x: 1\r\n'.repeat(2000)}authorization: Bearer a\r\n`),
      431,
      'request_head_too_large',
      null,
    ],
  ] as const)('with %s is refused in words, and its connection closed', async (name, bytes, status, code, param) => {
    const answer = firstAnswer(await speak(harness.url, bytes))!;
    const difference = differenceOf(transport, name);
    if (difference !== null) {
      expect([answer.status, errorOf(answer).code]).toEqual([difference.status, difference.code]);
      return;
    }
    expect([answer.status, errorOf(answer).code, errorOf(answer).param]).toEqual([status, code, param]);
    const id = answer.headers['x-gateway-request-id'];
    expect(id).toMatch(/^req_/);
    expect([answer.headers['request-id'], answer.headers['x-request-id']]).toEqual([id, id]);
    expect(answer.headers['x-gateway-cost-nanousd']).toBe('0');
  });

  test.each([
    ['two lengths', post(`${HOST}content-length: 5\r\ncontent-length: 5\r\n`), 400, 'bad_request'],
    [
      'a length and pieces',
      post(`${HOST}content-length: 5\r\ntransfer-encoding: chunked\r\n`, '0\r\n\r\n'),
      400,
      'bad_request',
    ],
    [
      'pieces and a length',
      post(`${HOST}transfer-encoding: chunked\r\ncontent-length: 5\r\n`, '0\r\n\r\n'),
      400,
      'bad_request',
    ],
    [
      'a coding that is not the last',
      post(`${HOST}transfer-encoding: chunked, gzip\r\n`, '0\r\n\r\n'),
      400,
      'bad_request',
    ],
    ['a space before its colon', get('/v1/models', `${HOST}authorization : Bearer a\r\n`), 400, 'bad_request'],
    ['a folded line', get('/v1/models', `${HOST}x: a\r\n b\r\n`), 400, 'bad_request'],
    ['a zero byte', get('/v1/models', `${HOST}x: a\u0000b\r\n`), 400, 'bad_request'],
    ['bare line feeds', `GET /v1/models HTTP/1.1\nhost: localhost\n\n`, 400, 'bad_request'],
    ['a tunnel', `CONNECT evil.example:443 HTTP/1.1\r\n${HOST}\r\n`, 405, 'method_not_allowed'],
    ['a line feed behind its path', get('/v1/models?a HTTP/1.1\ncontent-length: 5\nx:'), 400, 'bad_request'],
    ['a zero byte behind its path', get('/v1/models?a\u0000b'), 400, 'bad_request'],
    ['a space behind its path', get('/v1/models?a b'), 400, 'bad_request'],
    ['the beginning of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'bad_request'],
    ['a handshake of TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003', 400, 'bad_request'],
  ] as const)('with %s never becomes a request', async (_, bytes, status, code) => {
    const answer = firstAnswer(await speak(harness.url, bytes))!;
    expect([answer.status, errorOf(answer).code]).toEqual([status, code]);
    const id = answer.headers['x-gateway-request-id'];
    expect(id).toMatch(/^req_/);
    expect([answer.headers['request-id'], answer.headers['x-request-id']]).toEqual([id, id]);
    expect(answer.headers['x-gateway-cost-nanousd']).toBe('0');
    expect(harness.log.find((line) => line.request_id === id)).toMatchObject({ status, error: code });
  });

  test('refused is not followed by another request hidden in its body', async () => {
    const hidden = `GET /v1/balance HTTP/1.1\r\n${HOST}\r\n`;
    for (const bytes of [
      sized(`content-type: text/plain\r\n`) + hidden,
      `POST /v1/chat/completions HTTP/1.1\r\n${HOST}${JSON_TYPE}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n${hidden}`,
      `GET //x HTTP/1.1\r\n${HOST}\r\n${hidden}`,
    ]) {
      expect((await speak(harness.url, bytes)).match(/HTTP\/1\.1 \d{3}/g)).toHaveLength(1);
    }
  });

  test.each([
    ['too large', `${JSON_TYPE}content-length: ${LIMITS.requestBodyBytesMax + 1}\r\n`, 413],
    ['of another type', 'content-type: text/plain\r\ncontent-length: 5\r\n', 415],
    ['encoded', `${JSON_TYPE}content-encoding: gzip\r\ncontent-length: 5\r\n`, 415],
  ])('that waits for leave to send a body %s gets none, but its refusal and the end', async (_, headers, status) => {
    const text = await speak(harness.url, post(`${HOST}${headers}expect: 100-continue\r\n`, ''));
    expect(text).not.toContain('100 Continue');
    expect(firstAnswer(text)).toMatchObject({ status, headers: { connection: 'close' } });
  });

  test('too large an announced body is refused to a client that sends on, and never loses the refusal to the close', async () => {
    const piece = Buffer.alloc(1024 * 1024, 'x');
    for (const framing of [
      `content-length: ${40 * piece.length}\r\n`,
      `content-type: text/plain\r\ncontent-length: ${40 * piece.length}\r\n`,
    ]) {
      const socket = openSocket(harness.url);
      const text = readToEnd(socket);
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      socket.write(`POST /v1/chat/completions HTTP/1.1\r\n${HOST}${JSON_TYPE}${framing}\r\n`);
      for (let sent = 0; sent < 40 && !socket.destroyed; sent++) {
        if (!socket.write(piece)) await Promise.race([once(socket, 'drain'), closed]);
      }
      expect(firstAnswer(await text)).toMatchObject({ status: framing.startsWith('content-type') ? 400 : 413 });
    }
  });

  test.each(['gzip', 'br', 'deflate', 'zstd'])('with a body in %s is refused by that name', async (encoding) => {
    const answer = firstAnswer(
      await speak(harness.url, sized(`content-encoding: ${encoding}\r\nconnection: close\r\n`)),
    )!;
    expect([answer.status, errorOf(answer).code, errorOf(answer).param]).toEqual([
      415,
      'unsupported_media_type',
      'content-encoding',
    ]);
    expect(errorOf(answer).message).toContain(encoding);
  });
});

describe.each(TRANSPORTS)('what only looks odd is served over the %s transport', (transport) => {
  let harness: Harness;

  beforeAll(async () => {
    harness = await startHarness({ transport });
  });
  afterAll(async () => {
    await harness.expectCleanBooks();
    await harness.stop();
  });

  test.each([
    [
      'an offer of the newer HTTP',
      'connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n',
    ],
    ['the identity encoding', 'content-encoding: identity\r\nconnection: close\r\n'],
    ['a hundred headers', `connection: close\r\n${'x: 1\r\n'.repeat(96)}`],
  ])('%s', async (_, headers) => {
    const socket = openSocket(harness.url);
    const head = `POST /v1/chat/completions HTTP/1.1\r\n${HOST}${JSON_TYPE}content-length: ${ASK.length}\r\n`;
    socket.write(`${head}${headers}\r\n${ASK}`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 OK/);
    socket.destroy();
  });

  test.each([
    ['another body', '{"model":'],
    ['an end of a line', '\n'],
    ['the next request, broken', 'GET /v1/models HTTP/1.1\r\nno colon\r\n\r\n'],
  ])('a call before %s that nobody can read gets its own answer, and then the end', async (_, behind) => {
    const head = `POST /v1/chat/completions HTTP/1.1\r\n${HOST}${JSON_TYPE}content-length: ${ASK.length}\r\n`;
    for (const connection of ['', 'connection: close\r\n']) {
      const socket = openSocket(harness.url);
      const text = readToEnd(socket);
      socket.write(`${head}${connection}\r\n${ASK}${behind}`);
      if (behind === '\n' && connection === '') {
        // A stray line feed is ignored: the request after it is answered.
        socket.write(`GET /v1/models HTTP/1.1\r\n${HOST}connection: close\r\n\r\n`);
      }
      expect((await text).match(/HTTP\/1\.1 \d{3}/g)![0]).toBe('HTTP/1.1 200');
      expect(await text).toContain('"chat.completion"');
      expect(await text).not.toContain('bad_request');
    }
  });

  test('an empty line behind a body does not make what follows it silent', async () => {
    const socket = openSocket(harness.url);
    const text = readToEnd(socket);
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\n${HOST}${JSON_TYPE}content-length: ${ASK.length}\r\n\r\n${ASK}\r\n`,
    );
    await once(socket, 'data');
    socket.write('no request\r\n\r\n');
    expect((await text).match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
  });

  test.each([
    ['1.1', ['HTTP/1.1 100', 'HTTP/1.1 200']],
    ['1.0', ['HTTP/1.1 200']],
  ])('leave to send a body is given over HTTP/%s as that knows it', async (version, statuses) => {
    const socket = openSocket(harness.url);
    const text = readToEnd(socket);
    const head = `POST /v1/chat/completions HTTP/${version}\r\n${HOST}${JSON_TYPE}content-length: ${ASK.length}\r\n`;
    socket.write(`${head}connection: close\r\nexpect: 100-continue\r\n\r\n`);
    await manyTurns();
    socket.write(ASK);
    expect((await text).match(/HTTP\/1\.1 \d{3}/g)).toEqual(statuses);
  });

  test('a request that has closed is not a client that has: its answer still comes', async () => {
    harness.sim.script({ gateHead: 'head' });
    const client = new StreamClient(harness.url, JSON.parse(ASK));
    await harness.sim.waitForGate('head', 1);
    await manyTurns();
    expect(harness.running.gateway.runningCalls.count).toBe(1);
    harness.sim.release('head');
    await client.end();
    expect([client.status, client.ended]).toEqual([200, 'complete']);
    expect(await harness.receipt(client.requestId)).toMatchObject({ ended: 'complete' });
    harness.sim.reset();
  });

  test('a client whose response has closed is gone, though its request was long complete', async () => {
    harness.sim.script({ gateHead: 'head' });
    const client = new StreamClient(harness.url, { ...JSON.parse(ASK), stream: true });
    await harness.sim.waitForGate('head', 1);
    client.leave();
    await harness.settled();
    await until(() => harness.running.gateway.runningCalls.count === 0, 'the call is over');
    expect(await harness.newestReceipt()).toMatchObject({ ended: 'client_gone', costNanousd: 0n });
    harness.sim.reset();
  });
});
