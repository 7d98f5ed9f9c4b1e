import { describe, expect, test } from 'vitest';
import { parseJson } from '../json/json.ts';
import { LIMITS } from '../limits.ts';
import { exampleOf } from './schema-example.ts';

describe('an example of a JSON schema', () => {
  test.each([
    [{ type: 'string' }, 'sample'],
    [{ type: 'string', maxLength: 3 }, 'sam'],
    [{ type: 'string', minLength: 8 }, 'sample--'],
    [{ type: 'string', format: 'date' }, '2026-01-02'],
    [{ type: ['null', 'integer'], minimum: 5 }, 5],
    [{ type: 'integer', exclusiveMinimum: 5 }, 6],
    [{ type: 'integer', maximum: -3 }, -3],
    [{ type: 'number', multipleOf: 10, minimum: 11 }, 20],
    [{ type: 'boolean' }, true],
    [{ type: 'null' }, null],
    [{ enum: ['b', 'a'] }, 'b'],
    [{ const: 0 }, 0],
    [{ default: false }, false],
    [{ type: 'array', items: { type: 'integer' }, minItems: 3 }, [1, 1, 1]],
    [{ type: 'array', items: { type: 'integer' }, maxItems: 0 }, []],
    [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, 1],
    [{ properties: { a: { type: 'boolean' } } }, { a: true }],
    [
      { allOf: [{ properties: { a: { const: 1 } } }, { properties: { b: { const: 2 } } }], type: 'object' },
      { a: 1, b: 2 },
    ],
    [{ $ref: '#/$defs/a~1b', $defs: { 'a/b': { const: 'found' } } }, 'found'],
  ])('of %j is %j', (schema, example) => {
    expect(exampleOf(schema)).toEqual(example);
  });

  test('keeps a property named like a part of the prototype a plain property', () => {
    const schema = parseJson('{"type":"object","properties":{"__proto__":{"const":1}}}');
    expect(JSON.stringify(exampleOf(schema))).toBe('{"__proto__":1}');
  });

  test('ends for a schema that contains itself, however wide', () => {
    const properties = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`p${index}`, { $ref: '#' }]));
    const size = JSON.stringify(exampleOf({ type: 'object', properties, required: ['p0'] })).length;
    expect(size).toBeLessThan(LIMITS.simSchemaValuesMax * 200);
    expect(exampleOf({ $ref: '#' })).toBeNull();
  });
});
