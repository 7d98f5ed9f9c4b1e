import fc from 'fast-check';
import { expect, test } from 'vitest';
import { strictSchema } from './strict-schema.ts';

test('what hosts hold an answer to stays', () => {
  const schema = {
    type: 'object',
    title: 'CallContext',
    description: 'One context',
    properties: {
      at: { type: 'string', format: 'date-time' },
      deck: { enum: ['upper', 'lower', null] },
      kind: { const: 'ferry' },
      stops: { type: 'array', items: { $ref: '#/$defs/stop' }, minItems: 1 },
      fare: { anyOf: [{ type: 'number' }, { type: 'null' }], default: null },
    },
    required: ['at'],
    additionalProperties: false,
    $defs: { stop: { type: 'string' } },
  };
  expect(strictSchema(schema)).toEqual({ schema, closesObject: false });
});

test('keywords that they refuse are removed and listed in the description', () => {
  expect(
    strictSchema({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        age: { type: 'integer', description: 'In years', minimum: 0, maximum: 150 },
        name: { type: 'string', minLength: 1, format: 'idn-email' },
        list: { type: 'array', items: { oneOf: [{ type: 'string', pattern: '^a' }] }, minItems: 3, uniqueItems: true },
        odd: { enum: [{ a: 1 }] },
      },
    }).schema,
  ).toEqual({
    type: 'object',
    properties: {
      age: { type: 'integer', description: 'In years\n\n{minimum: 0, maximum: 150}' },
      name: { type: 'string', description: '{minLength: 1, format: "idn-email"}' },
      list: {
        type: 'array',
        items: { anyOf: [{ type: 'string', description: '{pattern: "^a"}' }] },
        description: '{minItems: 3, uniqueItems: true}',
      },
      odd: { description: '{enum: [{"a":1}]}' },
    },
    additionalProperties: false,
  });
});

test.each([true, {}, { type: 'string' }])(
  'an object open to other members, %j, is closed, which the result says',
  (additional) => {
    const open = { type: ['object', 'null'], properties: {}, additionalProperties: additional };
    expect(strictSchema({ type: 'array', items: { anyOf: [open] } })).toEqual({
      schema: {
        type: 'array',
        items: {
          anyOf: [
            {
              type: ['object', 'null'],
              properties: {},
              additionalProperties: false,
              description: `{additionalProperties: ${JSON.stringify(additional)}}`,
            },
          ],
        },
      },
      closesObject: true,
    });
  },
);

test.each([
  { type: 'object' },
  { type: ['object', 'null'], description: 'Anything' },
  { type: 'object', patternProperties: { '^x': { type: 'string' } }, additionalProperties: false },
])('so is an object that names no members, %j', (map) => {
  expect(strictSchema({ type: 'object', properties: { map } })).toMatchObject({ closesObject: true });
});

test.each([
  { type: 'object', properties: {} },
  { type: 'object', additionalProperties: false },
  { type: 'object', anyOf: [{ properties: { a: { type: 'string' } } }] },
  { type: 'string' },
])('%j has no other members that could get lost', (schema) => {
  expect(strictSchema(schema)).toMatchObject({ closesObject: false });
});

test('a second time changes nothing', () => {
  const schemaOf = (inner: fc.Arbitrary<Record<string, unknown>>): fc.Arbitrary<Record<string, unknown>> =>
    fc.record(
      {
        type: fc.constantFrom('object', 'string', 'array', 'number'),
        description: fc.string(),
        properties: fc.dictionary(fc.string(), inner, { maxKeys: 3 }),
        items: inner,
        anyOf: fc.array(inner, { maxLength: 2 }),
        oneOf: fc.constant(undefined),
        enum: fc.array(fc.anything({ maxDepth: 1 }), { maxLength: 2 }),
        minimum: fc.integer(),
        format: fc.constantFrom('date', 'colour'),
        minItems: fc.nat(3),
        additionalProperties: fc.boolean(),
        unheardOf: fc.anything({ maxDepth: 1 }),
      },
      { requiredKeys: [] },
    );
  const leaf = fc.record({ type: fc.constantFrom('string', 'object'), maxLength: fc.nat() }, { requiredKeys: [] });
  const schema = schemaOf(schemaOf(leaf));
  fc.assert(
    fc.property(schema, (given) => {
      const once = strictSchema(given).schema;
      expect(strictSchema(once)).toEqual({ schema: once, closesObject: false });
    }),
    { numRuns: 200 },
  );
});
