import { expect, test } from 'vitest';
import { parseApiJson, printApiJson, stringifyApiJson } from './json.ts';

test('reads amounts as bigint, wherever they are, and leaves other numbers alone', () => {
  const text = '{"data":[{"cost_nanousd":12,"requests":3,"more":{"held_nanousd":-5,"at":null}}],"cost_nanousd":null}';
  expect(parseApiJson(text)).toEqual({
    data: [{ cost_nanousd: 12n, requests: 3, more: { held_nanousd: -5n, at: null } }],
    cost_nanousd: null,
  });
});

test.each(['999999999999999', '1000000000000000', '9007199254740993', '-9223372036854775807'])(
  'keeps every digit of %s',
  (digits) => {
    const read = parseApiJson(`{"data":[{"cost_nanousd":${digits}},{"cost_nanousd":1}]}`);
    expect(read).toEqual({ data: [{ cost_nanousd: BigInt(digits) }, { cost_nanousd: 1n }] });
    expect(parseApiJson(printApiJson(read))).toEqual(read);
    expect(stringifyApiJson(read)).toContain(`"${digits}"`);
  },
);
