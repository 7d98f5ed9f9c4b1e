import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { headerLine, headerLines, readHeaderLines } from './headers.ts';

describe('header lines', () => {
  it('are read with lower-case names and without the white space around values', () => {
    expect({ ...readHeaderLines('Host: a\r\nX-Odd_Name:\t b c \t\r\nempty:', 0) }).toEqual({
      host: 'a',
      'x-odd_name': 'b c',
      empty: '',
    });
  });

  it('with the same name are joined, in upper and lower case', () => {
    expect({ ...readHeaderLines('Accept: a\r\naccept: b\r\nACCEPT: c', 0) }).toEqual({ accept: 'a, b, c' });
  });

  it('are also returned as they were sent', () => {
    const raw: string[] = [];
    readHeaderLines('GET / HTTP/1.1\r\nHost: a\r\nx-A:  b', 16, raw);
    expect(raw).toEqual(['Host', 'a', 'x-A', 'b']);
  });

  it('may be absent, and may have names such as __proto__', () => {
    expect({ ...readHeaderLines('', 0) }).toEqual({});
    expect(Object.keys(readHeaderLines('__proto__: x\r\nconstructor: y', 0)!)).toEqual(['__proto__', 'constructor']);
  });

  it.each([
    ['no colon', 'host'],
    ['a tab after a transfer coding', 'Transfer-Encoding: chunked\t'],
    ['a tab before a transfer coding', 'transfer-encoding:\tchunked'],
    ['no name', ': a'],
    ['a space before the colon', 'host : a'],
    ['a folded line', 'a: b\r\n c: d'],
    ['a line feed alone', 'a: b\nc: d'],
    ['a carriage return alone', 'a: b\rc: d'],
    ['a zero byte', 'a: b\0'],
    ['a name with a control character', 'a\x01: b'],
    ['an empty line', 'a: b\r\n\r\nc: d'],
  ])('are refused with %s', (_, text) => {
    expect(readHeaderLines(text, 0)).toBeNull();
  });
});

test('header lines with any names and values are read as they were written', () => {
  const name = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}$/);
  const value = fc.stringMatching(/^([\x21-\x7e]([\t\x20-\x7e]{0,20}[\x21-\x7e])?)?$/);
  fc.assert(
    fc.property(fc.uniqueArray(fc.tuple(name, value), { selector: ([name]) => name.toLowerCase() }), (lines) => {
      const text = lines.map(([name, value]) => `${name}: ${value}`).join('\r\n');
      expect({ ...readHeaderLines(text, 0) }).toEqual(
        Object.assign(
          Object.create(null),
          Object.fromEntries(lines.map(([name, value]) => [name.toLowerCase(), value])),
        ),
      );
    }),
  );
});

describe('header lines to be sent', () => {
  it('are read back as the same headers', () => {
    const headers = { 'x-a': 'b c', 'x-empty': '', date: 'now' };
    expect({ ...readHeaderLines(headerLines(headers), 0) }).toEqual(headers);
  });

  it.each(['a\r\nb: c', 'a\0', 'a\u0100'])('are refused with a character that a header cannot have: %j', (value) => {
    expect(() => headerLine('x', value)).toThrow('The header x has a control character in its value.');
  });
});
