import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isTooDeep } from './depth.ts';
import { readJson, tryParseJson } from './json.ts';

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe('isTooDeep', () => {
  it('measures the depth of any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat({ max: 8 }), (value, depthMax) => {
        // White space makes the text longer than the depth; otherwise its length alone would decide.
        expect(isTooDeep(JSON.stringify(value).padEnd(20), depthMax)).toBe(depthOf(value) > depthMax);
      }),
    );
  });

  it('does not count brackets inside strings', () => {
    const texts = ['"[[[[["', '"\\"[[[["', '{"[[[":"]{\\\\"}', '["\\\\\\"[[["]'];
    for (const text of texts) expect(isTooDeep(text.padEnd(20), 1)).toBe(false);
  });

  it('takes linear time for strings and arrays without an end', () => {
    expect(isTooDeep('"'.repeat(1_000_001), 10)).toBe(false);
    expect(isTooDeep('\\'.repeat(1_000_000), 10)).toBe(false);
    expect(isTooDeep('['.repeat(1_000_000), 1_000)).toBe(true);
  });
});

it('refuses JSON of hosts that is nested too deeply to be written again', () => {
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  expect(tryParseJson(nested(500))).toBeInstanceOf(Array);
  expect(tryParseJson(nested(100_000))).toBeUndefined();
  for (const holder of [nested, (depth: number) => `{"a":1,"b":${nested(depth - 1)}}`]) {
    expect(readJson(Buffer.from(holder(1_000))).value).toBeInstanceOf(Object);
    for (const depth of [1_001, 100_000]) expect(() => readJson(Buffer.from(holder(depth)))).toThrow('too deeply');
  }
});
