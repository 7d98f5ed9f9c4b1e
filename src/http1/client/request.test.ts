import { expect, test } from 'vitest';
import { requestBytes } from './request.ts';

const ORIGIN = 'https://host.test:8443';
const HEADERS = { authorization: 'Bearer k', accept: '*/*' };
const LINES = 'connection: keep-alive\r\nauthorization: Bearer k\r\naccept: */*\r\n';

type Request = Parameters<typeof requestBytes>[0];

function sent(request: Partial<Request>): string {
  const whole = { origin: ORIGIN, path: '/v1/a', headers: HEADERS, body: Buffer.from('{"é":1}'), ...request };
  return requestBytes(whole).toString();
}

test('writes the head, the length in bytes and the body', () => {
  expect(sent({})).toBe(`POST /v1/a HTTP/1.1\r\nhost: host.test:8443\r\n${LINES}content-length: 8\r\n\r\n{"é":1}`);
});

test('writes no length without a body', () => {
  expect(sent({ method: 'GET', body: null })).toBe(`GET /v1/a HTTP/1.1\r\nhost: host.test:8443\r\n${LINES}\r\n`);
});

test('the same headers may go to another path, by another method and to another host', () => {
  const [first, path, method, origin] = [
    {},
    { path: '/v1/b' },
    { method: 'GET' },
    { origin: 'http://other.test' },
  ] as const;
  const startOf = (request: Partial<Request>): string => {
    const text = sent(request);
    expect(text.slice(text.indexOf('connection'))).toBe(`${LINES}content-length: 8\r\n\r\n{"é":1}`);
    return text.slice(0, text.indexOf('\r\nconnection'));
  };
  expect([first, path, first, method, first, origin, first].map(startOf)).toEqual([
    'POST /v1/a HTTP/1.1\r\nhost: host.test:8443',
    'POST /v1/b HTTP/1.1\r\nhost: host.test:8443',
    'POST /v1/a HTTP/1.1\r\nhost: host.test:8443',
    'GET /v1/a HTTP/1.1\r\nhost: host.test:8443',
    'POST /v1/a HTTP/1.1\r\nhost: host.test:8443',
    'POST /v1/a HTTP/1.1\r\nhost: other.test',
    'POST /v1/a HTTP/1.1\r\nhost: host.test:8443',
  ]);
});

test('headers that go to ever new paths are written for each', () => {
  for (let path = 0; path < 30; path++)
    expect(sent({ path: `/v1/${path % 20}` })).toMatch(new RegExp(`^POST /v1/${path % 20} HTTP`));
});
