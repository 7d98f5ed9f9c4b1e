import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyCharacter } from '../../test/any-character.ts';
import { JsonError, type JsonLimits, jsonStringBytes, parseJson, readJson, scanJson, tryParseJson } from './json.ts';

const LIMITS: JsonLimits = { depthMax: 8, nodesMax: 100, keysMax: 100, numberDigitsMax: 20, keyBytesMax: 64 };
const WIDE: JsonLimits = {
  depthMax: 64,
  nodesMax: 2_000_000,
  keysMax: 2_000_000,
  numberDigitsMax: 400,
  keyBytesMax: 4096,
};

function refusal(text: string | Buffer, limits = LIMITS): JsonError {
  try {
    scanJson(Buffer.from(text as string), limits);
  } catch (error) {
    if (error instanceof JsonError) return error;
    throw error;
  }
  throw new Error('It was accepted.');
}

describe('scanJson', () => {
  it.each(['{}', '[]', ' \t\r\n{"a":[1,-0.5e+3,true,false,null,"x",{}]} ', '"text"', '0', 'null', '""'])(
    'reads %s',
    (text) => {
      expect(scanJson(Buffer.from(text), LIMITS).value).toStrictEqual(JSON.parse(text));
    },
  );

  it.each([
    ['', 'expected a value but found the end of the text at line 1, column 1'],
    ['{"a":1,}', 'expected a key in double quotes but found } at line 1, column 8'],
    ["{'a':1}", "expected a key in double quotes but found a single quote (') at line 1, column 2"],
    ['{"a" 1}', 'expected a colon but found 1 at line 1, column 6'],
    ['{"a":}', 'expected a value but found } at line 1, column 6'],
    ['{"a":1 "b":2}', 'expected a comma or } but found " at line 1, column 8'],
    ['[1,2', 'expected a comma or ] but found the end of the text at line 1, column 5'],
    ['[1}', 'expected a comma or ] but found } at line 1, column 3'],
    ['[,1]', 'expected a value but found , at line 1, column 2'],
    ['[01]', 'expected a comma or ] but found 1 at line 1, column 3'],
    ['[-]', 'expected a digit but found ] at line 1, column 3'],
    ['[1.]', 'expected a digit but found ] at line 1, column 4'],
    ['[1e+]', 'expected a digit but found ] at line 1, column 5'],
    ['[tru]', 'expected true, false or null but found ] at line 1, column 5'],
    ['{}\n\n  {}', 'expected nothing more but found { at line 3, column 3'],
    ['{"ä":\n "日本" x', 'expected a comma or } but found x at line 2, column 7'],
    ['["abc', 'the string that begins at line 1, column 2 has no closing quote'],
    ['["abc\\"]', 'the string that begins at line 1, column 2 has no closing quote'],
    ['{"abc', 'the string that begins at line 1, column 2 has no closing quote'],
    ['[\u0001]', 'found byte 0x01'],
  ])('says what is wrong with %j, and where', (text, message) => {
    expect(refusal(text)).toMatchObject({ code: 'syntax', message: expect.stringContaining(message) });
  });

  it.each([
    ['{"messages":[{},{"content":"two\nlines"}]}', 'messages[1].content', 'column 32'],
    ['{"a":{"b":"\\x"}}', 'a.b', 'column 13'],
    ['{"é":["日本 \u0000"]}', '["é"][0]', 'column 11'],
    ['{"a":{"wrong\\q":1}}', 'a.wrongq', 'column 14'],
  ])('names the string with a raw control character or a wrong escape in %j', (text, path, place) => {
    expect(refusal(text)).toMatchObject({ code: 'syntax', path, message: expect.stringContaining(place) });
  });

  it('never quotes the text of strings', () => {
    expect(refusal('{"a":"my secret prompt\n"}').message).not.toContain('secret');
    expect(refusal('{"a":"my secret prompt" x}').message).not.toContain('secret');
  });

  it.each([
    ['{"model":"a","model":"b"}', 'model'],
    ['{"model":"a","mod\\u0065l":"b"}', 'model'],
    ['{"\\u006d\\u006fdel":"a","model":"b"}', 'model'],
    ['{"messages":[{},{"role":"user","a":{},"role":"user"}]}', 'messages[1].role'],
    ['{"a":[[{"b":{"c":1,"d":[],"c":2}}]]}', 'a[0][0].b.c'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
    ['{"😀":1,"\\ud83d\\ude00":2}', '["😀"]'],
    ['{"":1,"":2}', '[""]'],
    ['{"/":1,"\\/":2}', '["/"]'],
  ])('refuses a duplicate key: %s', (text, path) => {
    expect(refusal(text)).toMatchObject({ code: 'duplicate_key', path });
  });

  it('finds a duplicate among many keys', () => {
    const members = Array.from({ length: 60 }, (_, index) => `"k${index}":0`);
    expect(scanJson(Buffer.from(`{${members.join()}}`), LIMITS).value).toHaveProperty('k59');
    expect(refusal(`{${[...members, '"k3":1'].join()}}`).path).toBe('k3');
    expect(refusal(`{${[...members, '"\\u006b59":1'].join()}}`).path).toBe('k59');
  });

  it('accepts the same key in different objects', () => {
    const text = '[{"a":{"a":1}},{"a":2},{"a":3,"b":{"a":4}}]';
    expect(scanJson(Buffer.from(text), LIMITS).value).toStrictEqual(JSON.parse(text));
    expect(Object.keys(scanJson(Buffer.from('{"\\ud800":1,"\\ud801":2}'), LIMITS).value as object)).toHaveLength(2);
  });

  it('treats __proto__ like any other key', () => {
    for (const text of ['{"__proto__":{"polluted":1}}', '{"__\\u0070roto__":{"polluted":1}}']) {
      const value = scanJson(Buffer.from(text), LIMITS).value as object;
      expect(Object.keys(value)).toEqual(['__proto__']);
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect('polluted' in value).toBe(false);
    }
  });

  it('reads an escaped key correctly where V8 confuses it with another one', () => {
    for (let count = 0; count < 3; count++) JSON.parse('{"x":1,"\\\\":2}');
    expect(scanJson(Buffer.from('{"x":1,"\\u006e":[{"\\n":"\\n"}]}'), LIMITS).value).toStrictEqual({
      x: 1,
      n: [{ '\n': '\n' }],
    });
  });

  it('refuses bytes that are not UTF-8, and a byte order mark', () => {
    expect(refusal(Buffer.from([0x22, 0xff, 0x22])).code).toBe('invalid_utf8');
    expect(refusal(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])).code).toBe('invalid_utf8');
    expect(refusal('\ufeff{}').code).toBe('byte_order_mark');
  });

  it('enforces each limit exactly', () => {
    expect(scanJson(Buffer.from(`${'['.repeat(8)}${']'.repeat(8)}`), LIMITS).value).toBeInstanceOf(Array);
    expect(refusal(`{"a":${'['.repeat(8)}${']'.repeat(8)}}`)).toMatchObject({
      code: 'too_deep',
      path: 'a[0][0][0][0][0][0][0]',
    });
    expect(scanJson(Buffer.from(`[${'0,'.repeat(98)}0]`), LIMITS).value).toHaveLength(99);
    expect(refusal(`[${'0,'.repeat(99)}0]`).code).toBe('too_many_values');
    const few = { ...LIMITS, keysMax: 3 };
    expect(scanJson(Buffer.from('[{"a":{"b":1}},{"a":2}]'), few).value).toHaveLength(2);
    expect(refusal('[{"a":{"b":1}},{"a":2,"c":3}]', few)).toMatchObject({ code: 'too_many_keys', path: '[1].c' });
    expect(scanJson(Buffer.from('[12345678901234567890]'), LIMITS).value).toHaveLength(1);
    expect(refusal('{"n":123456789012345678901}')).toMatchObject({ code: 'number_too_long', path: 'n' });
    expect(scanJson(Buffer.from(`{"${'k'.repeat(64)}":1}`), LIMITS).value).toHaveProperty('k'.repeat(64));
    expect(refusal(`{"a":{"b":1,"${'k'.repeat(65)}":1}}`)).toMatchObject({ code: 'key_too_long', path: 'a' });
  });

  it.each([
    ['{"a":{"b":1,c:2}}', 'a'],
    ['{"a":{"b":1,}}', 'a'],
    ['{"a":{"b":1,"c', 'a'],
    ['{"a":1,}', ''],
    ['{"a":1,"b" 2}', 'b'],
    ['{"a":{"b":1},"c":tru}', 'c'],
  ])('names where the fault is in %j, not the member before it', (text, path) => {
    expect(refusal(text)).toMatchObject({ code: 'syntax', path });
  });

  it('counts a key with escapes several times', () => {
    const escaped = (values: number) => `{"\\u0061":[${Array(values).fill('0').join()}]}`;
    expect(scanJson(Buffer.from(escaped(8)), LIMITS).value).toEqual({ a: Array(8).fill(0) });
    expect(refusal(escaped(9)).code).toBe('too_many_values');
    const keys = (count: number) => `{${Array.from({ length: count }, (_, at) => `"\\u006b${at}":0`).join()}}`;
    const few = { ...WIDE, keysMax: 30 };
    expect(scanJson(Buffer.from(keys(3)), few).value).toEqual({ k0: 0, k1: 0, k2: 0 });
    expect(refusal(keys(4), few).code).toBe('too_many_keys');
  });

  it('refuses text of brackets alone without overflowing the stack', () => {
    expect(refusal('['.repeat(300_000), WIDE).code).toBe('too_deep');
    expect(refusal('['.repeat(300_000), { ...WIDE, depthMax: 400_000, nodesMax: 200_000 }).code).toBe(
      'too_many_values',
    );
    expect(refusal(']'.repeat(100)).code).toBe('syntax');
  });

  it('reads JSON nested more deeply than the call stack allows', () => {
    const depth = 200_000;
    const bytes = Buffer.from(`{"\\u006e":${'['.repeat(depth)}${']'.repeat(depth)}}`);
    let value = (scanJson(bytes, { ...WIDE, depthMax: depth + 1, nodesMax: 20 * depth }).value as { n: unknown }).n;
    let seen = 0;
    for (; Array.isArray(value); value = value[0]) seen++;
    expect(seen).toBe(depth);
  });

  it('finishes with hundreds of thousands of keys, long keys and escapes', () => {
    const many = Array.from({ length: 200_000 }, (_, index) => `"${index}":0`).join();
    expect(refusal(`{${many},"7":0}`, WIDE).path).toBe('7');
    const long = Array.from({ length: 16 }, (_, index) => `"${'k'.repeat(4000)}${index}":0`).join();
    expect(scanJson(Buffer.from(`[${`{${long}},`.repeat(20)}0]`), WIDE).value).toHaveLength(21);
    const quotes = JSON.stringify('\\"'.repeat(500_000));
    expect(scanJson(Buffer.from(quotes), WIDE).value).toHaveLength(1_000_000);
  });

  it('shortens a long path', () => {
    const path = refusal(`{${'"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa":{'.repeat(7)}`).path;
    expect(path.length).toBeLessThan(210);
  });
});

describe('parseJson', () => {
  it('reads JSON', () => {
    expect(parseJson('{"a":[1]}')).toStrictEqual({ a: [1] });
  });

  it.each(['{"secret": x}', `{"secret": ${' '.repeat(50)} x, "more secret": 1}`, 'secret', '', '{"a":"secret'])(
    'refuses %j without quoting it',
    (text) => {
      expect(() => parseJson(text)).toThrow(JsonError);
      expect(() => parseJson(text)).not.toThrow(/secret/);
    },
  );
});

describe('tryParseJson', () => {
  it('returns undefined for text that is not JSON', () => {
    expect(tryParseJson('null')).toBeNull();
    expect(tryParseJson('{')).toBeUndefined();
  });
});

describe('readJson', () => {
  it('reads a response with duplicate keys, of which the last counts', () => {
    const text = readJson(Buffer.from('{"a":1,"a":[2,3]}'));
    expect(text.value).toStrictEqual({ a: [2, 3] });
    expect(text.locate(['a'])).toMatchObject({ start: 11, end: 16 });
    expect(() => readJson(Buffer.from('<html>'))).toThrow(JsonError);
  });
});

it('one object may have fewer keys than all together, because each costs more the more there are', () => {
  const limits = { ...LIMITS, nodesMax: 100_000, keysMax: 100_000, objectKeysMax: 10_000 };
  const object = (keys: number) => `{${Array.from({ length: keys }, (_, at) => `"k${at}":1`).join()}}`;
  expect(scanJson(Buffer.from(`[${object(10_000)},${object(10_000)}]`), limits).value).toHaveLength(2);
  expect(refusal(object(10_001), limits)).toMatchObject({ code: 'too_many_keys', path: 'k10000' });
});

it('the work of reading is counted and bounded, even if the text is refused', () => {
  const work = { max: 10, used: 0 };
  expect(scanJson(Buffer.from('{"a":[1,2],"b":3}'), LIMITS, work).value).toEqual({ a: [1, 2], b: 3 });
  expect(work.used).toBe(5);
  expect(() => scanJson(Buffer.from(`[${'0,'.repeat(20)}0]`), LIMITS, work)).toThrow(
    'more values than may be read now',
  );
  expect(work.used).toBe(11);
});

describe('jsonStringBytes', () => {
  const inside = (bytes: Buffer) => jsonStringBytes(bytes, 1, bytes.length - 1);

  it('is the length in UTF-8 of what JSON.parse reads', () => {
    const text = fc.oneof(fc.string({ unit: 'grapheme-ascii' }), fc.string({ unit: anyCharacter }));
    fc.assert(
      fc.property(text, fc.boolean(), (value, escapesAll) => {
        const units = [...value.split('')].map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
        const json = escapesAll ? `"${units.map((hex) => `\\u${hex}`).join('')}"` : JSON.stringify(value);
        expect(inside(Buffer.from(json))).toBe(Buffer.byteLength(value));
      }),
    );
  });

  it('counts invalid bytes as the character that takes their place', () => {
    expect(inside(Buffer.from('"a\xffb"', 'latin1'))).toBe(5);
  });

  it.each(['"', '"a\nb"', '"a"b"', '"a\\"', '"\u0000"', '"\\x"', 'a"', '"a', '""a'])('%j is not one string', (text) => {
    expect(inside(Buffer.from(text, 'latin1'))).toBeNull();
  });
});
