import { describe, expect, test } from 'vitest';
import { Http1Body } from './body.ts';

const BESIDES_MAX = 200;

function readAll(pieces: readonly Buffer[]) {
  const body = new Http1Body('chunked', BESIDES_MAX);
  let text = '';
  let consumed = 0;
  for (const piece of pieces) {
    if (body.over || body.broken !== null) break;
    consumed += body.read(piece, 0);
    text += body.takePiece(piece)?.toString('latin1') ?? '';
  }
  return { text, over: body.over, isBroken: body.broken !== null, consumed };
}

const read = (text: string) => readAll([Buffer.from(text, 'latin1')]);
const readByteByByte = (text: string) => readAll([...Buffer.from(text, 'latin1')].map((byte) => Buffer.from([byte])));

describe('chunk extensions', () => {
  test.each([
    ['a name', ';a'],
    ['a name and a value', ';a=b'],
    ['several', ';a=b;c;d=1'],
    ['a quoted value', ';a="b"'],
    ['an empty quoted value', ';a=""'],
    ['a semicolon inside quotes', ';a="b;c=d"'],
    ['an escaped quote', ';a="b\\"c"'],
    ['high bytes and tabs inside quotes', ';a="\xe9\t "'],
    ['one after a quoted value', ';a="b";c'],
  ])('are read over: %s', (_, extension) => {
    const text = `5${extension}\r\nhello\r\n0${extension}\r\n\r\n`;
    expect(read(text)).toEqual({ text: 'hello', over: true, isBroken: false, consumed: text.length });
    expect(readByteByByte(text)).toMatchObject({ text: 'hello', over: true, isBroken: false });
  });

  test.each([
    ['an unclosed quote', ';a="b'],
    ['an unclosed quote after an escaped one', ';a="b\\"'],
    ['a quote that closes with its escape', ';a="\\'],
    ['no name', ';'],
    ['no name before a value', ';=b'],
    ['no value after the equals sign', ';a='],
    ['two semicolons in a row', ';;a'],
    ['a space before the name', '; a'],
    ['a space before the semicolon', ' ;a'],
    ['a space after the value', ';a=b '],
    ['a quote inside a token', ';a=b"c"'],
    ['text after a closed quote', ';a="b"c'],
    ['a second equals sign', ';a=b=c'],
    ['a high byte in a name', ';\xe9'],
    ['a control character inside quotes', ';a="\x01"'],
    ['an escaped control character', ';a="\\\x7f"'],
  ])('break the body with %s', (_, extension) => {
    for (const text of [`5${extension}\r\nhello\r\n0\r\n\r\n`, `5\r\nhello\r\n0${extension}\r\n\r\n`]) {
      expect(read(text)).toMatchObject({ over: false, isBroken: true });
      expect(readByteByByte(text)).toMatchObject({ over: false, isBroken: true });
    }
  });
});

describe('trailers', () => {
  test.each([
    ['none', ''],
    ['one', 'X-Sum: 1\r\n'],
    ['several, one of them empty', 'X-Sum: 1\r\ny:\r\nZ:\t2 \r\n'],
    ['a value with high bytes', 'x: \xe9\r\n'],
  ])('are read over: %s', (_, trailers) => {
    const text = `5\r\nhello\r\n0\r\n${trailers}\r\n`;
    expect(read(`${text}GET /next`)).toEqual({ text: 'hello', over: true, isBroken: false, consumed: text.length });
    expect(readByteByByte(`${text}GET /next`)).toMatchObject({ over: true, isBroken: false, consumed: text.length });
  });

  test.each([
    ['a space before the name', ' X: y'],
    ['a space in the name', 'X Y: y'],
    ['a space before the colon', 'X : y'],
    ['no colon', 'X'],
    ['no name', ': y'],
    ['a high byte in the name', 'X\xe9: y'],
    ['a folded line', 'X: y\r\n z'],
    ['a control character in the value', 'X: \x01'],
    ['a line that ends with a line feed alone', 'X: y\nZ: 1'],
    ['more bytes than are allowed there', `X: ${'y'.repeat(BESIDES_MAX)}`],
  ])('break the body with %s', (_, trailer) => {
    expect(read(`0\r\n${trailer}\r\n\r\n`)).toMatchObject({ over: false, isBroken: true });
    expect(readByteByByte(`0\r\n${trailer}\r\n\r\n`)).toMatchObject({ over: false, isBroken: true });
  });

  test.each([
    'Content-Length: 50',
    'content-length: 0',
    'Transfer-Encoding: chunked',
    'Host: other.example',
    'Connection: close',
    'Trailer: x',
    'TE: trailers',
    'Upgrade: h2c',
    'Expect: 100-continue',
    'Authorization: Bearer other',
    'X-Api-Key: other',
    'Cookie: a=b',
    'Set-Cookie: a=b',
    'Content-Type: text/plain',
    'Content-Encoding: gzip',
    'Content-Range: bytes 0-1/2',
    'X-Forwarded-For: 10.0.0.1',
  ])('may not say what only a head may say: %s', (trailer) => {
    expect(read(`0\r\n${trailer}\r\n\r\n`)).toMatchObject({ over: false, isBroken: true });
    expect(read(`0\r\nX-Sum: 1\r\n${trailer}\r\n\r\n`)).toMatchObject({ over: false, isBroken: true });
  });
});
