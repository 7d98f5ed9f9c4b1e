import { expect, test } from 'vitest';
import { refusalBy } from '../../../test/chat-wire.ts';
import { refusing } from '../adjustments.ts';
import { readResponseFormat } from './response-format.ts';

test.each([
  [null, null],
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
])('%j', (format, canonical) => {
  expect(readResponseFormat(format, refusing())).toEqual(canonical);
});

test.each(['json', { type: 'grammar' }, { type: 'json_schema' }])('%j has no word in common', (format) => {
  expect(refusalBy(() => readResponseFormat(format, refusing()))).toMatchObject({
    code: 'unsupported_parameter',
    param: 'response_format',
  });
});
