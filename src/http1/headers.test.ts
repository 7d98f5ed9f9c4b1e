import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { headerLine, headerLines, readHeaderLines, readHeaderText } from './headers.ts';

describe('header lines', () => {
  it('are read with lower-case names and without the white space around values', () => {
    expect({ ...readHeaderText('Host: a\r\nX-Odd_Name:\t b c \t\r\nempty:') }).toEqual({
      host: 'a',
      'x-odd_name': 'b c',
      empty: '',
    });
  });

  it('with the same name are joined, in upper and lower case', () => {
    expect({ ...readHeaderText('Accept: a\r\naccept: b\r\nACCEPT: c') }).toEqual({ accept: 'a, b, c' });
  });

  it.each([
    ['Content-Type', 'content-type'],
    ['content-TYPE', 'content-type'],
    ['Content-Typo', 'content-typo'],
    ['X-Stainless-OS', 'x-stainless-os'],
    ['x-stainless-0s', 'x-stainless-0s'],
  ])('have the name %s as %s', (written, name) => {
    expect(Object.keys(readHeaderText(`${written}: a`)!)).toEqual([name]);
  });

  it('may have bytes above ASCII in their values, as one character each', () => {
    const bytes = Buffer.from('x-a: é');
    expect(readHeaderLines(bytes.toString('latin1'), bytes, 0)).toMatchObject({ 'x-a': 'Ã©' });
  });

  it('keep a no-break space around their values, which other parsers take for text', () => {
    expect(readHeaderText('x-a: \u00a0b\u00a0 ')).toMatchObject({ 'x-a': '\u00a0b\u00a0' });
  });

  it('are also returned as they were sent', () => {
    const raw: string[] = [];
    const text = 'GET / HTTP/1.1\r\nHost: a\r\nx-A:  b';
    readHeaderLines(text, Buffer.from(`${text}\r\n\r\n`), 16, raw);
    expect(raw).toEqual(['Host', 'a', 'x-A', 'b']);
  });

  it('may be absent, and may have names such as __proto__', () => {
    expect({ ...readHeaderText('') }).toEqual({});
    expect(Object.keys(readHeaderText('__proto__: x\r\nconstructor: y')!)).toEqual(['__proto__', 'constructor']);
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
    ['a wide character in a value', 'a: \u0141'],
    ['wide characters with the low bytes of a line end', 'x: y\u010d\u010ainj: z'],
    ['a wide character in a name', 'content-\u0174ype: x'],
  ])('are refused with %s', (_, text) => {
    expect(readHeaderText(text)).toBeNull();
  });
});

test('header lines with any names and values are read as they were written', () => {
  const name = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}$/);
  const value = fc.stringMatching(/^([\x21-\x7e]([\t\x20-\x7e]{0,20}[\x21-\x7e])?)?$/);
  fc.assert(
    fc.property(fc.uniqueArray(fc.tuple(name, value), { selector: ([name]) => name.toLowerCase() }), (lines) => {
      const text = lines.map(([name, value]) => `${name}: ${value}`).join('\r\n');
      expect({ ...readHeaderText(text) }).toEqual(
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
    expect({ ...readHeaderText(headerLines(headers)) }).toEqual(headers);
  });

  it.each(['a\r\nb: c', 'a\0', 'a\u0100'])('are refused with a character that a header cannot have: %j', (value) => {
    expect(() => headerLine('x', value)).toThrow('The header x has a control character in its value.');
  });
});
