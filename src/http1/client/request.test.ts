import { expect, test } from 'vitest';
import { requestBytes } from './request.ts';

const ORIGIN = 'https://host.test:8443';
const HEADERS = { authorization: 'Bearer k', accept: '*/*' };
const LINES = 'connection: keep-alive\r\nauthorization: Bearer k\r\naccept: */*\r\n';

function sent(request: Partial<Parameters<typeof requestBytes>[0]>): string {
  const whole = { origin: ORIGIN, path: '/v1/a', headers: HEADERS, body: Buffer.from('{"é":1}'), ...request };
  return requestBytes(whole).toString();
}

test('writes the head, the length in bytes and the body', () => {
  expect(sent({})).toBe(`POST /v1/a HTTP/1.1\r\nhost: host.test:8443\r\n${LINES}content-length: 8\r\n\r\n{"é":1}`);
});

test('writes no length without a body', () => {
  expect(sent({ method: 'GET', body: null })).toBe(`GET /v1/a HTTP/1.1\r\nhost: host.test:8443\r\n${LINES}\r\n`);
});

test('the same headers may go to another path, method and host, each time with another body', () => {
  const starts = (['/v1/a', '/v1/b', '/v1/a'] as const).flatMap((path) =>
    (['POST', 'GET', undefined] as const).flatMap((method) =>
      [ORIGIN, 'http://other.test'].map((origin) => {
        const text = sent({ path, origin, ...(method && { method }), body: Buffer.from(path) });
        expect(text.slice(text.indexOf('connection'))).toBe(`${LINES}content-length: 5\r\n\r\n${path}`);
        return text.slice(0, text.indexOf('\r\nconnection'));
      }),
    ),
  );
  expect(new Set(starts)).toEqual(
    new Set(
      ['/v1/a', '/v1/b'].flatMap((path) =>
        ['POST', 'GET'].flatMap((method) =>
          ['host.test:8443', 'other.test'].map((host) => `${method} ${path} HTTP/1.1\r\nhost: ${host}`),
        ),
      ),
    ),
  );
  expect(starts[0]).toBe('POST /v1/a HTTP/1.1\r\nhost: host.test:8443');
});
