import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { corsHeaders } from './cors.ts';

const GATEWAY = new URL('../gateway/', import.meta.url);

/** The names in header lines such as `x-gateway-adjusted: …`, of all sources of the call path. */
function writtenHeaders(): Set<string> {
  const names = new Set<string>();
  for (const file of readdirSync(GATEWAY, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue;
    const source = readFileSync(new URL(file, GATEWAY), 'utf8');
    for (const [, name] of source.matchAll(/[`'](x-gateway-[a-z-]+): /g)) names.add(name!);
  }
  return names;
}

test('pages of a listed origin may read every header that the gateway writes', () => {
  const { 'access-control-expose-headers': exposed } = corsHeaders({ origin: 'https://a.example' }, [
    'https://a.example',
  ]);
  const names = writtenHeaders();
  expect(names).toContain('x-gateway-hangups');
  for (const name of names) expect(exposed!.split(', ')).toContain(name);
});

test('pages may read what says whether and when to try again', () => {
  const origin = 'https://a.example';
  const exposed = corsHeaders({ origin }, [origin])['access-control-expose-headers']!.split(', ');
  expect(exposed).toEqual(expect.arrayContaining(['retry-after', 'x-should-retry', 'request-id', 'x-request-id']));
});

test('other origins get no header', () => {
  expect(corsHeaders({ origin: 'https://b.example' }, ['https://a.example'])).toEqual({});
});
