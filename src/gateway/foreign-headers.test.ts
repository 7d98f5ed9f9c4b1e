import { expect, test } from 'vitest';
import { refuseForeignHeaders } from './foreign-headers.ts';

function refusedFor(headers: Record<string, string>): string | null {
  try {
    refuseForeignHeaders(headers);
    return null;
  } catch (error) {
    return (error as { param: string }).param;
  }
}

test('the first header that asks for something else is named', () => {
  const [portkey, ceiling] = [{ 'x-portkey-config': 'a' }, { 'x-gateway-max-foo': '1' }];
  expect(refusedFor({ host: 'a', ...portkey, ...ceiling })).toBe('x-portkey-config');
  expect(refusedFor({ host: 'a', ...ceiling, ...portkey })).toBe('x-gateway-max-foo');
});

test('a header that asks for nothing is allowed, but a ceiling that is not read never is', () => {
  expect(refusedFor({ 'x-portkey-config': '', 'helicone-fallbacks': 'false', 'x-portkey-trace-id': '7' })).toBeNull();
  expect(refusedFor({ 'x-gateway-max-cost-nanousd': '1', 'x-gateway-chain': 'a;1' })).toBeNull();
  expect(refusedFor({ 'x-gateway-max-cost': '' })).toBe('x-gateway-max-cost');
});

test('names of the language itself are no headers of ours', () => {
  expect(refusedFor({ constructor: 'a', 'has-own': 'b', toString: 'c' })).toBeNull();
});
