import { describe, expect, test } from 'vitest';
import { buildCatalog, type Catalog } from './catalog.ts';
import { CatalogError } from './rows.ts';
import type { ModelRow } from './schema.ts';

function row(id: string, more: Partial<ModelRow> = {}): ModelRow {
  return { id, context_window: 1_000, hosts: [{ host: 'a', model: id }], price: { input: 1, output: 2 }, ...more };
}

function unpriced(id: string, more: Partial<ModelRow> = {}): ModelRow {
  const { price: _, ...rest } = row(id, more);
  return rest;
}

function build(rows: ModelRow[], hosts = ['a'], localHosts: string[] = []): Catalog {
  return buildCatalog({ rows, hosts: new Set(hosts), localHosts: new Set(localHosts), version: '2026-11-15-abc' });
}

describe('what is in the catalog', () => {
  test('only models that a configured host serves, sorted by id', () => {
    const catalog = build([row('y'), row('x'), row('z', { hosts: [{ host: 'b', model: 'z' }] })]);
    expect(catalog.list().map((model) => model.id)).toEqual(['x', 'y']);
    expect(catalog.find('z')).toBeUndefined();
    expect(catalog.resolve('z')).toEqual({ refused: 'not_found' });
  });

  test('of the hosts of a model only the configured ones, in their order', () => {
    const hosts = ['c', 'b', 'a'].map((host) => ({ host, model: 'x' }));
    expect(
      build([row('x', { hosts })], ['a', 'c'])
        .find('x')
        ?.hosts.map(({ host }) => host),
    ).toEqual(['c', 'a']);
  });

  test('no two models of one name', () => {
    expect(() => build([row('x'), row('y', { aliases: ['x'] })])).toThrow(CatalogError);
  });
});

describe('resolution', () => {
  const catalog = build([
    row('gpt-5', { aliases: ['gpt-5-2025-08-07'] }),
    row('gpt-5-nano', { aliases: ['team/small'] }),
    row('open/llama-4'),
  ]);

  test.each([
    ['an exact id', 'gpt-5', 'gpt-5'],
    ['an alias', 'gpt-5-2025-08-07', 'gpt-5'],
    ['an id with a slash, in full', 'open/llama-4', 'open/llama-4'],
    ['an alias with a slash, in full', 'team/small', 'gpt-5-nano'],
    ['a vendor prefix', 'openai/gpt-5-nano', 'gpt-5-nano'],
    ['a vendor prefix before an alias', 'openai/gpt-5-2025-08-07', 'gpt-5'],
    ['several segments', 'a/b/gpt-5', 'gpt-5'],
  ])('%s resolves', (_, requested, id) => {
    expect(catalog.resolve(requested)).toEqual({ model: catalog.find(id) });
  });

  test.each([
    ['a prefix of an id', 'gpt'],
    ['an id and more', 'gpt-5-turbo'],
    ['another case', 'GPT-5'],
    ['a first segment', 'gpt-5/turbo'],
    ['the last segment of a longer id', 'llama-4'],
    ['a slash at the end', 'openai/'],
    ['nothing', ''],
    ['a name of every object', 'constructor'],
  ])('%s does not resolve', (_, requested) => {
    expect(catalog.resolve(requested)).toEqual({ refused: 'not_found' });
  });
});

describe('a model without a price', () => {
  test('is known but not served', () => {
    const catalog = build([unpriced('x', { aliases: ['ex'] })]);
    expect(catalog.list()).toEqual([]);
    expect(catalog.find('x')).toBeUndefined();
    for (const name of ['x', 'ex', 'v/x']) expect(catalog.resolve(name)).toEqual({ refused: 'not_priced' });
    expect(catalog.unpriced).toEqual(['x']);
  });

  test('is not known at all where no configured host serves it', () => {
    expect(build([unpriced('x')], ['b']).resolve('x')).toEqual({ refused: 'not_found' });
  });

  test('is free on hosts of the operator’s own, and only there', () => {
    expect(build([unpriced('x')], ['a'], ['a']).find('x')?.price.inputNanousdPerMillion).toBe(0n);
    const hosts = ['a', 'b'].map((host) => ({ host, model: 'x' }));
    expect(build([unpriced('x', { hosts })], ['a', 'b'], ['a']).resolve('x')).toEqual({ refused: 'not_priced' });
  });
});

test('a priced model costs its price on a local host too', () => {
  expect(build([row('x')], ['a'], ['a']).find('x')?.price.inputNanousdPerMillion).toBe(1n);
});

describe('the price version', () => {
  test('has the date of the file and differs when a price differs', () => {
    const before = build([row('x')]).priceVersion;
    expect(before).toMatch(/^2026-11-15-[0-9a-f]{10}$/);
    expect(build([row('x', { price: { input: 1, output: 3 } })]).priceVersion).not.toBe(before);
  });

  test('stays when hosts, names and order change', () => {
    const before = build([row('x'), row('y')]).priceVersion;
    expect(build([row('y', { name: 'Why' }), row('x')], ['b']).priceVersion).toBe(before);
    expect(build([row('y'), row('x')], ['b']).pricesJson).toBe(build([row('x'), row('y')]).pricesJson);
  });
});

describe('the prices of another list', () => {
  test('replace the prices of the models that it has, and leave the others out', () => {
    const before = build([row('x', { price: { input: 7, output: 8, cache_read: 1 } })]);
    const after = build([row('x'), row('y')]);
    const pinned = after.pricedBy({ version: before.priceVersion, json: before.pricesJson });
    expect(pinned.list().map(({ id }) => id)).toEqual(['x']);
    expect(pinned.priceVersion).toBe(before.priceVersion);
    expect(pinned.find('x')?.price).toMatchObject({
      inputNanousdPerMillion: 7n,
      outputNanousdPerMillion: 8n,
      cacheReadNanousdPerMillion: 1n,
    });
    expect(after.find('x')?.price.inputNanousdPerMillion).toBe(1n);
  });
});
