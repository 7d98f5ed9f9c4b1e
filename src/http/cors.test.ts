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

test('other origins get no header', () => {
  expect(corsHeaders({ origin: 'https://b.example' }, ['https://a.example'])).toEqual({});
});
