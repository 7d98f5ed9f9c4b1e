import { expect, it } from 'vitest';
import { stringifyJson } from './stringify.ts';

it('writes every digit of a bigint as a JSON integer', () => {
  expect(stringifyJson({ small: 0n, large: [9_223_372_036_854_775_807n, -(2n ** 63n)] })).toBe(
    '{"small":0,"large":[9223372036854775807,-9223372036854775808]}',
  );
});

it('writes everything else as JSON.stringify does', () => {
  const value = { text: 'a "b"', none: null, list: [1.5, true], absent: undefined };
  expect(stringifyJson(value)).toBe(JSON.stringify(value));
});
