import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { Http1Response } from './response.ts';

const HEAD_MAX = 1024;

/** Reads an answer that arrives in these pieces. */
function readAll(pieces: readonly Buffer[]) {
  const heads: [number, Record<string, unknown>][] = [];
  const answer = new Http1Response(HEAD_MAX, (status, headers) => heads.push([status, { ...headers }]));
  let body = '';
  for (const piece of pieces) body += answer.read(Buffer.from(piece))?.toString('latin1') ?? '';
  const { over, broken, excess, keepsConnection, keepAliveMs } = answer;
  return { heads, body, over, broken, excess, keepsConnection, keepAliveMs, endsHere: answer.endsHere() };
}

const read = (text: string) => readAll([Buffer.from(text, 'latin1')]);
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

describe('an answer of a known length', () => {
  it('ends with its last byte', () => {
    const text = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Thing:  a b \r\n\r\nhello';
    expect(read(text)).toMatchObject({ body: 'hello', over: true, broken: null, excess: false, keepsConnection: true });
    expect(read(text).heads).toEqual([[200, { 'content-length': '5', 'x-thing': 'a b' }]]);
    expect(read(text.slice(0, -1))).toMatchObject({ body: 'hell', over: false, endsHere: false });
  });

  it('may be empty', () => {
    expect(read('HTTP/1.1 429 \r\ncontent-length: 0\r\n\r\n')).toMatchObject({ over: true, body: '' });
    expect(read('HTTP/1.1 204 No Content\r\n\r\n')).toMatchObject({ over: true });
  });

  it('reports bytes after its end', () => {
    expect(read('HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nab')).toMatchObject({ body: 'a', excess: true });
  });
});

describe('an answer in chunks', () => {
  it('ends with its last chunk, with or without extensions and trailers', () => {
    const text = `${CHUNKED}${chunk('one ')}3;why=not\r\ntwo\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n`;
    expect(read(text)).toMatchObject({ body: 'one two', over: true, broken: null, excess: false });
  });

  it.each([
    ['an invalid size', 'g\r\n'],
    ['no size', '\r\n'],
    ['an extension without a size', ';a\r\n'],
    ['a sign', '+5\r\nhello\r\n'],
    ['a space before the size', ' 5\r\nhello\r\n'],
    ['a size beyond all measure', 'fffffffff\r\n'],
    ['a line that ends with a line feed alone', '5\nhello\r\n'],
    ['a carriage return alone', '5\rhello\r\n'],
    ['a chunk that is longer than it says', '4\r\nhello\r\n'],
    ['an endless extension', `5;${'x'.repeat(HEAD_MAX + 1)}`],
    ['a broken trailer', '0\r\na\rb\r\n\r\n'],
    ['endless trailers', `0\r\n${'x'.repeat(HEAD_MAX + 1)}`],
  ])('is refused with %s', (_what, rest) => {
    expect(read(CHUNKED + rest)).toMatchObject({ over: false, endsHere: false, broken: expect.any(String) });
  });

  it('returns the body bytes before the malformed chunk', () => {
    expect(read(`${CHUNKED}${chunk('fine')}zz`)).toMatchObject({ body: 'fine', broken: expect.any(String) });
  });
});

describe('an answer that ends with its connection', () => {
  it('does not end by itself and keeps no connection', () => {
    const answer = read('HTTP/1.1 200 OK\r\n\r\nsome');
    expect(answer).toMatchObject({ body: 'some', over: false, endsHere: true, keepsConnection: false });
  });
});

describe('whether the connection is kept, by the head', () => {
  it.each([
    ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', true, null],
    ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: Close\r\n\r\n', false, null],
    ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: x, close\r\n\r\n', false, null],
    ['HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n', false, null],
    ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\nkeep-alive: timeout=5, max=9\r\n\r\n', true, 5000],
    ['HTTP/1.1 204 No Content\r\n\r\n', true, null],
    ['HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n', true, null],
    ['HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n', false, null],
    ['HTTP/1.1 304 Not Modified\r\ntransfer-encoding: chunked\r\n\r\n', false, null],
  ])('%j', (text, keepsConnection, keepAliveMs) => {
    expect(read(text)).toMatchObject({ over: true, keepsConnection, keepAliveMs });
  });
});

describe('interim responses', () => {
  it('are skipped', () => {
    const text =
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
    expect(read(text)).toMatchObject({ body: 'ok', over: true, heads: [[200, { 'content-length': '2' }]] });
  });

  it('are limited in number', () => {
    expect(read('HTTP/1.1 100 Continue\r\n\r\n'.repeat(11)).broken).toMatch(/interim/);
  });
});

test.each([
  ['another protocol', 'SSH-2.0-OpenSSH\r\n\r\n'],
  ['HTTP/2', 'HTTP/2 200\r\n\r\n'],
  ['an invalid status', 'HTTP/1.1 099 x\r\n\r\n'],
  ['a switch of protocols', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n'],
  ['a header without a value', 'HTTP/1.1 200 OK\r\nnonsense\r\n\r\n'],
  ['a space in a name', 'HTTP/1.1 200 OK\r\ncontent-length : 1\r\n\r\na'],
  ['a folded line', 'HTTP/1.1 200 OK\r\na: b\r\n c\r\n\r\n'],
  ['a line feed in a value', 'HTTP/1.1 200 OK\r\na: b\nc: d\r\n\r\n'],
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\na'],
  ['a length and chunks', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\na'],
  ['an invalid length', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\na'],
  ['another coding', 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\na'],
  [
    'a length and chunks where there is no body',
    'HTTP/1.1 204 x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
  ],
  ['an invalid length where there is no body', 'HTTP/1.1 304 x\r\ncontent-length: 0x5\r\n\r\n'],
  ['another coding where there is no body', 'HTTP/1.1 204 x\r\ntransfer-encoding: gzip\r\n\r\n'],
  ['two lengths in an interim response', 'HTTP/1.1 103 x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n'],
  ['an interim response of HTTP/1.0', 'HTTP/1.0 100 x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n'],
  [
    'an interim response that ends the connection',
    'HTTP/1.1 103 x\r\nconnection: close\r\n\r\nHTTP/1.1 200 OK\r\n\r\n',
  ],
  ['a head beyond all measure', `HTTP/1.1 200 OK\r\na: ${'x'.repeat(HEAD_MAX)}`],
])('refuses %s as an answer', (_what, text) => {
  expect(read(text)).toMatchObject({ broken: expect.any(String), heads: [], over: false });
});

test('a response is read the same in any pieces', () => {
  const body = fc.array(fc.string({ minLength: 1, maxLength: 40 }), { maxLength: 8 });
  const framed = fc.tuple(body, fc.constantFrom('length', 'chunked', 'until-close'), fc.boolean()).map(frame);
  fc.assert(
    fc.property(framed, fc.array(fc.nat(400), { maxLength: 12 }), (text, cuts) => {
      const bytes = Buffer.from(text, 'latin1');
      const ends = [...new Set(cuts.filter((at) => at < bytes.length))].sort((a, b) => a - b);
      const pieces = [0, ...ends].map((from, index) => bytes.subarray(from, ends[index] ?? bytes.length));
      expect(readAll(pieces)).toEqual(readAll([bytes]));
    }),
    { numRuns: 500 },
  );
});

function frame([texts, framing, isBroken]: [string[], string, boolean]): string {
  const latin = texts.map((text) => Buffer.from(text).toString('latin1'));
  const all = latin.join('');
  const tail = isBroken ? '\rX' : '';
  if (framing === 'length') return `HTTP/1.1 200 OK\r\ncontent-length: ${all.length}\r\n\r\n${all}${tail}`;
  if (framing === 'chunked') return `${CHUNKED}${latin.map(chunk).join('')}${tail}0\r\n\r\n`;
  return `HTTP/1.1 200 OK\r\n\r\n${all}${tail}`;
}
