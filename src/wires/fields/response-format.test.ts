import { expect, test } from 'vitest';
import { refusalBy } from '../../../test/chat-wire.ts';
import { Adjustments, refusing } from '../adjustments.ts';
import { readResponseFormat } from './response-format.ts';

test.each([
  [{ type: 'text' }, { kind: 'text' }],
  [{ type: 'json_object' }, { kind: 'json' }],
  [
    { type: 'json_schema', json_schema: { name: 'n', description: 'd', schema: { type: 'object' }, strict: true } },
    { kind: 'schema', name: 'n', description: 'd', schema: { type: 'object' }, strict: true },
  ],
  [
    { type: 'json_schema', json_schema: {} },
    { kind: 'schema', name: 'answer', description: null, schema: {}, strict: null },
  ],
])('reads the response format %j', (format, canonical) => {
  expect(readResponseFormat(format, refusing())).toEqual(canonical);
});

test.each([null, '', {}])('%j asks for nothing', (format) => {
  const adjustments = new Adjustments(false);
  expect([readResponseFormat(format, adjustments), adjustments.describe(null)]).toEqual([null, null]);
});

test('a type that only some vendors have is left out and named, never refused', () => {
  const adjustments = new Adjustments(false);
  expect(readResponseFormat({ type: 'grammar', grammar: 'root ::= "yes"' }, adjustments)).toBeNull();
  expect(adjustments.describe(null)).toBe('response_format=dropped');
});

test.each(['json', { schema: {} }, { type: 'json_schema' }])('%j is not a format and is refused by name', (format) => {
  expect(refusalBy(() => readResponseFormat(format, refusing()))).toMatchObject({
    code: 'unsupported_parameter',
    param: 'response_format',
  });
});
