import { describe, expect, it } from 'vitest';
import { mayBecomeHead, mayContinueHead, readRequestLines } from './request-lines.ts';

const read = (text: string) => readRequestLines(Buffer.from(text, 'latin1'));

describe('readRequestLines', () => {
  it('reads the method, target, version, headers and length of the body', () => {
    const lines = read('POST /v1/x?y HTTP/1.1\r\nHost: a\r\nContent-Length: 12')!;
    expect({ ...lines, headers: { ...lines.headers } }).toEqual({
      method: 'POST',
      url: '/v1/x?y',
      httpVersionMajor: 1,
      httpVersionMinor: 1,
      rawHeaders: ['Host', 'a', 'Content-Length', '12'],
      headers: { host: 'a', 'content-length': '12' },
      framing: 12,
    });
  });

  it('accepts any method in capital letters; the router decides whether it exists', () => {
    expect(read('M-SEARCH /a HTTP/1.1')?.method).toBe('M-SEARCH');
  });

  it.each([
    ['no body', 'GET / HTTP/1.1', 0],
    ['a length', 'GET / HTTP/1.1\r\ncontent-length: 0', 0],
    ['chunks', 'POST / HTTP/1.1\r\ntransfer-encoding: Chunked', 'chunked'],
    ['chunks of something else', 'POST / HTTP/1.1\r\ntransfer-encoding: gzip, chunked', null],
    ['chunks before there were any', 'POST / HTTP/1.0\r\ntransfer-encoding: chunked', null],
    ['another HTTP', 'GET / HTTP/2.0', null],
    ['a minor version that does not exist', 'GET / HTTP/1.2', null],
    ['chunks in a minor version that does not exist', 'POST / HTTP/1.9\r\ntransfer-encoding: chunked', null],
    ['a length in a version that does not exist', 'POST / HTTP/1.2\r\ncontent-length: 5', null],
    ['a length in another HTTP', 'POST / HTTP/2.0\r\ncontent-length: 5', null],
  ])('reads the framing with %s', (_, text, framing) => {
    expect(read(text)?.framing).toBe(framing);
  });

  it.each([
    ['a method in small letters', 'get / HTTP/1.1'],
    ['no target', 'GET  HTTP/1.1'],
    ['a space in its target', 'GET /a?b c HTTP/1.1'],
    ['a line feed in its target', 'GET /a?b HTTP/1.1\nx: HTTP/1.1\r\nhost: a'],
    ['a carriage return in its target', 'GET /a?b\rc HTTP/1.1'],
    ['a zero byte in its target', 'GET /a?b\0c HTTP/1.1'],
    ['no version', 'GET /'],
    ['half a version', 'GET / HTTP/1'],
    ['one word', 'GET'],
    ['nothing', ''],
    ['two lengths', 'POST / HTTP/1.1\r\ncontent-length: 5\r\ncontent-length: 5'],
    ['an invalid length', 'POST / HTTP/1.1\r\ncontent-length: +5'],
    ['a length and chunks', 'POST / HTTP/1.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked'],
    ['chunks inside something else', 'POST / HTTP/1.1\r\ntransfer-encoding: chunked, gzip'],
    ['another coding', 'POST / HTTP/1.1\r\ntransfer-encoding: identity'],
    ['a broken header', 'GET / HTTP/1.1\r\nhost'],
  ])('refuses a head with %s', (_, text) => {
    expect(read(text)).toBeNull();
  });
});

describe('an unfinished head', () => {
  it('may become a request while its line ends are valid', () => {
    for (const begun of ['G', 'GET /v1', 'GET / HTTP/1.1\r', 'GET / HTTP/1.1\r\nhost: a\r\n', 'X\tY']) {
      expect([begun, mayBecomeHead(begun)]).toEqual([begun, true]);
    }
  });

  it('is checked in later pieces by the same rules', () => {
    expect([mayContinueHead('1\r'), mayContinueHead('\r\nhost: a'), mayContinueHead('x')]).toEqual([true, true, true]);
    expect([mayContinueHead('1\n'), mayContinueHead('\rhost'), mayContinueHead('a\0')]).toEqual([false, false, false]);
  });

  it('is refused at the first byte that no head can have', () => {
    for (const begun of [
      'get /',
      '{"model":',
      '\x16\x03\x01',
      'GET / HTTP/1.1\nhost',
      'GET / HTTP/1.1\rhost',
      'GET /\0',
    ]) {
      expect([begun, mayBecomeHead(begun)]).toEqual([begun, false]);
    }
  });
});
