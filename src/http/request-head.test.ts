import { describe, expect, test } from 'vitest';
import { LIMITS } from '../limits.ts';
import { checkBodyHead, checkHead, type RequestHead } from './request-head.ts';

const USUAL: readonly (readonly [string, string])[] = [
  ['Host', 'gateway.example'],
  ['Authorization', 'Bearer key'],
  ['Content-Type', 'application/json'],
  ['Content-Length', '12'],
  ['Accept', '*/*'],
  ['X-Request-Id', 'one'],
];

function head(pairs: readonly (readonly [string, string])[], more: Partial<RequestHead> = {}): RequestHead {
  const headers: Record<string, string> = {};
  for (const [name, value] of pairs) headers[name.toLowerCase()] ??= value;
  return { url: '/v1/models', rawHeaders: pairs.flat(), headers, httpVersionMajor: 1, httpVersionMinor: 1, ...more };
}

function without(name: string): (readonly [string, string])[] {
  return USUAL.filter(([each]) => each !== name);
}

test('accepts an ordinary head over HTTP/1.0 and HTTP/1.1', () => {
  expect(checkHead(head(USUAL))).toBeNull();
  expect(checkHead(head(USUAL, { httpVersionMinor: 0 }))).toBeNull();
});

describe('refuses a repeated header that decides how the request is read', () => {
  test.each([
    'Host',
    'Content-Type',
    'Content-Length',
    'Content-Encoding',
    'Transfer-Encoding',
    'Expect',
    'Upgrade',
    'Idempotency-Key',
  ])('%s, in whatever spelling', (name) => {
    const once = [...without(name).filter(([each]) => each !== 'Content-Length'), [name, 'chunked']] as const;
    expect(checkHead(head([...once, [name.toUpperCase(), 'chunked']]))).toMatchObject({
      status: 400,
      code: 'invalid_header',
      param: name.toLowerCase(),
    });
  });

  test('refuses two Authorization headers as an invalid key', () => {
    const error = checkHead(head([...USUAL, ['authorization', 'Bearer key']]));
    expect(error).toMatchObject({ status: 401, code: 'invalid_api_key' });
  });

  test('accepts other headers any number of times', () => {
    expect(checkHead(head([...USUAL, ['accept', 'a'], ['x-request-id', 'two']]))).toBeNull();
  });
});

describe('refuses, naming the header,', () => {
  test.each([
    ['no host', head(without('Host')), 400, 'invalid_header', 'host'],
    ['an empty host', head([...without('Host'), ['Host', '']]), 400, 'invalid_header', 'host'],
    [
      'a length and a coding',
      head([...USUAL, ['Transfer-Encoding', 'chunked']]),
      400,
      'invalid_header',
      'transfer-encoding',
    ],
    ['another coding', coded('gzip, chunked'), 400, 'invalid_header', 'transfer-encoding'],
    ['the identity coding', coded('identity'), 400, 'invalid_header', 'transfer-encoding'],
    ['a coding over HTTP/1.0', coded('chunked', { httpVersionMinor: 0 }), 400, 'invalid_header', 'transfer-encoding'],
    ['another expectation', head([...USUAL, ['Expect', 'a, 100-continue']]), 417, 'expectation_failed', 'expect'],
    ['another protocol', head([...USUAL, ['Upgrade', 'websocket']]), 400, 'invalid_header', 'upgrade'],
    ['another HTTP', head(USUAL, { httpVersionMajor: 2, httpVersionMinor: 0 }), 400, 'bad_request', null],
    ['HTTP/1.2', head(USUAL, { httpVersionMinor: 2 }), 400, 'bad_request', null],
    ['HTTP/1.9', head(USUAL, { httpVersionMinor: 9 }), 400, 'bad_request', null],
    ['an odd path', head(USUAL, { url: '/v1/../x' }), 400, 'bad_request', null],
  ])('%s', (_, request, status, code, param) => {
    expect(checkHead(request)).toMatchObject({ status, code, param });
  });

  test.each([
    'h HTTP/0.9',
    'caf\xe9.example',
    'a/b',
    'a@b',
    'user:password@host',
    'http://a',
    'a,b c',
    '"a"',
    'a%',
    'a%4',
    'a:b',
    'a:80:80',
    'a:123456',
    ':80',
    '::1',
    '[::1',
    '[]',
    '[g::1]',
    '[::1]x',
    'a?b',
    'a#b',
    'a\\b',
    'a\tb',
  ])('a host that is not one: %j', (host) => {
    const error = checkHead(head([...without('Host'), ['Host', host]]));
    expect(error).toMatchObject({ status: 400, code: 'invalid_header', param: 'host' });
  });

  test.each([
    'a',
    'gateway.example',
    'GATEWAY.example:8080',
    'a_b.example',
    'a.example.',
    '127.0.0.1:4180',
    '[::1]',
    '[::ffff:127.0.0.1]:80',
    'a:',
    'a%2Db~c',
  ])('but not a host such as %s', (host) => {
    expect(checkHead(head([...without('Host'), ['Host', host]]))).toBeNull();
  });

  test('a head with too many headers', () => {
    const many = Array.from({ length: LIMITS.requestHeadersMax - 1 }, (_, at) => [`x-${at}`, 'a'] as const);
    expect(checkHead(head([['host', 'a'], ...many]))).toBeNull();
    const error = checkHead(head([['host', 'a'], ...many, ['y', 'a']]));
    expect(error).toMatchObject({ status: 431, code: 'request_head_too_large' });
    expect(error!.message).toContain(String(LIMITS.requestHeadersMax));
  });
});

function coded(coding: string, more: Partial<RequestHead> = {}): RequestHead {
  return head([...without('Content-Length'), ['Transfer-Encoding', coding]], more);
}

describe('accepts', () => {
  test.each([
    ['pieces', coded('chunked')],
    ['pieces in capitals', coded('Chunked')],
    ['waiting for leave to send', head([...USUAL, ['Expect', '100-Continue']])],
    ['an offer of the newer HTTP', head([...USUAL, ['Connection', 'Upgrade'], ['Upgrade', 'h2c']])],
  ])('%s', (_, request) => expect(checkHead(request)).toBeNull());
});

test('refuses an encoded body and names its encoding', () => {
  for (const encoding of ['gzip', 'br', 'deflate', 'zstd', 'gzip, br', 'aws-chunked', '']) {
    const error = checkBodyHead({ 'content-encoding': encoding });
    expect(error).toMatchObject({ status: 415, code: 'unsupported_media_type', param: 'content-encoding' });
    expect(error!.message).toContain(JSON.stringify(encoding));
  }
  expect(checkBodyHead({})).toBeNull();
  expect(checkBodyHead({ 'content-encoding': 'Identity' })).toBeNull();
});
