import { describe, expect, test } from 'vitest';
import { DEFAULT_FRAMING, PLAIN_FRAMING } from '../money/framing.ts';
import { CatalogError, findNameClash, mergeRows, overridePrices, readModel, readPrice } from './rows.ts';
import type { ModelRow } from './schema.ts';

function row(id: string, more: Partial<ModelRow> = {}): ModelRow {
  return { id, context_window: 1_000, hosts: [{ host: 'a', model: id }], price: { input: 1, output: 2 }, ...more };
}

describe('merging the rows of an operator', () => {
  test('replaces the row of the same id whole', () => {
    const merged = mergeRows([row('x', { name: 'theirs', aliases: ['ex'] }), row('y')], [row('x')]);
    expect(merged).toEqual([row('y'), row('x')]);
  });

  test('takes an alias away from every other model', () => {
    const merged = mergeRows([row('x', { aliases: ['fast', 'ex'] })], [row('mine', { aliases: ['fast'] })]);
    expect(merged[0]?.aliases).toEqual(['ex']);
    expect(findNameClash(merged)).toBeUndefined();
  });

  test('leaves a clash with another id to be found', () => {
    const merged = mergeRows([row('x')], [row('mine', { aliases: ['x'] })]);
    expect(findNameClash(merged)).toBe('"x" names both x and mine.');
  });
});

describe('overriding prices', () => {
  test('changes that model only, and no longer claims the source of the old price', () => {
    const source = { package: 'p', version: '1', checked: '2026-01-01' };
    const rows = [row('x', { price_source: source }), row('y', { price_source: source })];
    const changed = overridePrices(rows, new Map([['x', { input: 7, output: 8 }]]));
    expect(changed).toEqual([row('x', { price: { input: 7, output: 8 } }), rows[1]]);
  });

  test('refuses a price for a model nobody knows, by its path', () => {
    expect(() => overridePrices([row('x')], new Map([['z', { input: 1, output: 1 }]]))).toThrow(
      new CatalogError('prices.z: no model has this id.'),
    );
  });
});

test('a clash is found between id and id, id and alias, alias and alias', () => {
  expect(findNameClash([row('x'), row('x')])).toBeDefined();
  expect(findNameClash([row('x'), row('y', { aliases: ['x'] })])).toBeDefined();
  expect(findNameClash([row('x', { aliases: ['z'] }), row('y', { aliases: ['z'] })])).toBeDefined();
  expect(findNameClash([row('x', { aliases: ['z'] }), row('y')])).toBeUndefined();
});

test('a missing cache rate stays unknown, a zero stays zero', () => {
  const price = readPrice({ input: 5, output: 6, cache_read: 0, cache_write: null });
  expect(price).toEqual({
    inputNanousdPerMillion: 5n,
    outputNanousdPerMillion: 6n,
    cacheReadNanousdPerMillion: 0n,
    cacheWriteNanousdPerMillion: null,
    cacheWrite1hNanousdPerMillion: null,
    tiers: [],
  });
});

test('what an operator leaves out has its obvious meaning', () => {
  const price = readPrice({ input: 1, output: 2 });
  expect(readModel(row('x'), price)).toMatchObject({
    name: 'x',
    vendor: 'custom',
    caps: new Set(['chat']),
    maxOutputTokens: 1_000,
    imageTokensMax: null,
    reasoningEfforts: [],
    tokenizer: null,
  });
});

test('a model without a framing of its own gets that of chat models, or of models that read plain text', () => {
  const price = readPrice({ input: 1, output: 2 });
  const framingOf = (given: Partial<ModelRow>) => readModel(row('x', given), price).framing;
  expect(framingOf({})).toEqual(DEFAULT_FRAMING);
  expect(framingOf({ caps: ['embeddings'] })).toEqual(PLAIN_FRAMING);
  expect(framingOf({ caps: ['completions'] })).toEqual(PLAIN_FRAMING);
  expect(framingOf({ caps: ['chat', 'completions'] })).toEqual(DEFAULT_FRAMING);
  expect(framingOf({ caps: ['decisions'] })).toEqual(DEFAULT_FRAMING);
  const own = { prompt: 1, message: 2, part: 3, tool: 4, tools: 5 };
  expect(framingOf({ framing: { ...own, source: 'measured' } })).toEqual(own);
});

test('a host may want another wire for one model, and a model a budget or a word for its thinking', () => {
  const price = readPrice({ input: 1, output: 2 });
  const hosts: ModelRow['hosts'] = [
    { host: 'a', model: 'x', wire: 'responses' },
    { host: 'b', model: 'x' },
  ];
  const model = readModel(row('x', { hosts, thinking: 'effort' }), price);
  expect(model.hosts).toEqual(hosts);
  expect(model.thinking).toBe('effort');
  expect(readModel(row('x'), price)).not.toHaveProperty('thinking');
  expect(readModel(row('x'), price).hosts[0]).not.toHaveProperty('wire');
});
