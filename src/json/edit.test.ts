import { describe, expect, it } from 'vitest';
import { editJson, JsonEditError, type JsonPath, locateJson, readJson } from './json.ts';

const BODY = '{ "model" : "a",\n  "n": 1.50, "opts": { }, "messages":[ {"role":"x"}, 2 ,3] }';

function edit(text = BODY): ReturnType<typeof editJson> {
  return editJson(Buffer.from(text));
}

function found(path: JsonPath, text = BODY): string | null {
  const span = locateJson(Buffer.from(text), path);
  return span === null ? null : text.slice(span.start, span.end);
}

describe('locateJson', () => {
  it('finds a value by its path', () => {
    expect(found([])).toBe(BODY);
    expect(found(['n'])).toBe('1.50');
    expect(found(['messages', 0, 'role'])).toBe('"x"');
    expect(found(['messages', 2])).toBe('3');
    expect(found(['mod\u0065l'], '{"\\u006dodel":5}')).toBe('5');
  });

  it('finds nothing at a path that does not exist', () => {
    expect(found(['absent'])).toBeNull();
    expect(found(['n', 'deeper'])).toBeNull();
    expect(found(['messages', 3])).toBeNull();
    expect(found(['messages', '0'])).toBeNull();
    expect(found(['opts', 0])).toBeNull();
    expect(found(['toString'])).toBeNull();
  });

  it('finds the last of equal keys, as JSON.parse does', () => {
    expect(found(['a'], '{"a":1,"a":2}')).toBe('2');
  });
});

describe('JsonEdit.set', () => {
  it('replaces a value and leaves every other byte', () => {
    expect(edit().set(['model'], '"b"').apply().toString()).toBe(BODY.replace('"a"', '"b"'));
    expect(edit().set(['messages', 1], 'null').apply().toString()).toBe(BODY.replace(' 2 ', ' null '));
    expect(edit(' 7 ').set([], '{}').apply().toString()).toBe(' {} ');
  });

  it('appends a missing member to its object', () => {
    expect(edit('{"a":1 }').set(['b"'], '2').apply().toString()).toBe('{"a":1,"b\\"":2 }');
    expect(edit('{ }').set(['a'], '1').set(['b'], '2').apply().toString()).toBe('{"a":1,"b":2 }');
    expect(edit('[1 ]').set([1], '2').set([2], '3').apply().toString()).toBe('[1,2,3 ]');
    expect(edit('[]').set([0], '1').apply().toString()).toBe('[1]');
  });

  it('appends to an inner object, and creates none', () => {
    expect(edit().set(['opts', 'x'], '1').apply().toString()).toBe(BODY.replace('{ }', '{"x":1 }'));
    expect(() => edit().set(['stream', 'usage'], 'true')).toThrow(JsonEditError);
  });

  it.each([
    ['into a number', ['n', 'deeper']],
    ['a key into an array', ['messages', 'x']],
    ['past the end of an array', ['messages', 4]],
    ['an index into an object', ['opts', 0]],
    ['through an array that is absent', ['new', 0]],
  ])('refuses to set %s', (_, path) => {
    expect(() => edit().set(path, '1').apply()).toThrow(JsonEditError);
  });
});

describe('JsonEdit.remove', () => {
  it.each([
    [[['a']], '{ "b":2, "c":3 }'],
    [[['b']], '{ "a":1, "c":3 }'],
    [[['c']], '{ "a":1, "b":2 }'],
    [[['a'], ['b']], '{ "c":3 }'],
    [[['b'], ['a']], '{ "c":3 }'],
    [[['a'], ['c']], '{ "b":2 }'],
    [[['b'], ['c']], '{ "a":1 }'],
    [[['a'], ['b'], ['c']], '{  }'],
    [[['a'], ['a']], '{ "b":2, "c":3 }'],
    [[['absent'], ['a', 'b']], '{ "a":1, "b":2, "c":3 }'],
  ] as [JsonPath[], string][])('removes %j with its comma', (paths, expected) => {
    const started = edit('{ "a":1, "b":2, "c":3 }');
    for (const path of paths) started.remove(path);
    expect(started.apply().toString()).toBe(expected);
  });

  it('removes elements by their original indices', () => {
    expect(edit('[0, 1, 2, 3]').remove([1]).remove([2]).set([3], '9').apply().toString()).toBe('[0, 9]');
  });

  it('can be combined with an appended member', () => {
    expect(edit('{"a":1}').remove(['a']).set(['b'], '2').apply().toString()).toBe('{"b":2}');
    expect(edit('{"a":1,"b":2}').remove(['b']).set(['c'], '3').apply().toString()).toBe('{"a":1,"c":3}');
  });
});

describe('JsonEdit.rename', () => {
  it('renames a member where it is', () => {
    expect(edit('{ "\\u0061" : 1,"b":2}').rename(['a'], 'c').set(['a'], '9').apply().toString()).toBe(
      '{ "c" : 9,"b":2}',
    );
    expect(edit('{"a":1}').rename(['b'], 'c').apply().toString()).toBe('{"a":1}');
  });

  it('never creates duplicate keys', () => {
    expect(() => edit('{"a":1,"b":2}').rename(['a'], 'b').apply()).toThrow(JsonEditError);
    expect(() => edit('{"a":1}').rename(['a'], 'b').set(['b'], '2').apply()).toThrow(JsonEditError);
    expect(() => edit('{}').set(['b'], '1').set(['b'], '2').apply()).toThrow(JsonEditError);
    expect(edit('{"a":1,"b":2}').rename(['a'], 'b').remove(['b']).apply().toString()).toBe('{"b":1}');
    expect(edit('{"a":1,"b":2}').rename(['a'], 'b').rename(['b'], 'a').apply().toString()).toBe('{"b":1,"a":2}');
  });
});

describe('JsonEdit', () => {
  it('returns the same buffer if nothing changes', () => {
    const bytes = Buffer.from(BODY);
    expect(editJson(bytes).remove(['absent']).apply()).toBe(bytes);
  });

  it.each<[string, (started: ReturnType<typeof editJson>) => unknown]>([
    ['a value twice', (started) => started.set(['n'], '1').set(['n'], '2')],
    ['a value and something in it', (started) => started.set(['messages'], '[]').set(['messages', 0, 'role'], '1')],
    ['a value and an addition to it', (started) => started.set(['opts'], '{}').set(['opts', 'x'], '1')],
    ['in what is removed', (started) => started.remove(['messages']).set(['messages', 1], '1')],
    ['and removes the same', (started) => started.remove(['n']).set(['n'], '1')],
    ['and renames what is removed', (started) => started.remove(['n']).rename(['n'], 'm')],
  ])('refuses to change %s', (_, change) => {
    const started = edit();
    expect(() => {
      change(started);
      started.apply();
    }).toThrow(JsonEditError);
  });

  it('leaves one member if a host sent a key twice', () => {
    const twice = '{"usage":1,"b":2,"usage":3}';
    expect(edit(twice).set(['usage'], '4').apply().toString()).toBe('{"b":2,"usage":4}');
    expect(edit(twice).remove(['usage']).apply().toString()).toBe('{"b":2}');
    expect(edit(twice).rename(['usage'], 'u').apply().toString()).toBe('{"b":2,"u":3}');
  });

  it('cannot rename or remove the outermost value', () => {
    expect(() => edit().remove([])).toThrow(JsonEditError);
    expect(() => edit().rename([], 'a')).toThrow(JsonEditError);
    expect(() => edit().rename(['messages', 0], 'a')).toThrow(JsonEditError);
  });

  it('reads each object once, for finding and editing alike', () => {
    const text = readJson(Buffer.from(BODY));
    const { start, end } = text.locate(['messages'])!;
    expect(BODY.slice(start, end)).toBe('[ {"role":"x"}, 2 ,3]');
    expect(text.locate(['absent'])).toBeNull();
    expect(text.edit().set(['n'], '2').apply().toString()).toBe(BODY.replace('1.50', '2'));
    expect(text.edit().set(['n'], '3').apply().toString()).toBe(BODY.replace('1.50', '3'));
  });

  it('throws if the text turns out to be invalid', () => {
    for (const broken of ['{"a":1', '{"a":[1,', '{"a', '{"a":1 "b":2}', '[']) {
      expect(() => locateJson(Buffer.from(broken), ['zzz'])).toThrow('not valid JSON');
    }
  });
});
