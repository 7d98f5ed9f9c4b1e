import { describe, expect, test } from 'vitest';
import { refusalBy } from '../../test/chat-wire.ts';
import type { Caller } from '../accounts/authenticate.ts';
import { buildCatalog, type CatalogSource } from '../catalog/catalog.ts';
import type { ModelRow } from '../catalog/schema.ts';
import type { KeyRow } from '../store/store.ts';
import { resolve, resolveModel } from './resolve.ts';

function row(id: string, host: string, more: Partial<ModelRow> = {}): ModelRow {
  return { id, context_window: 1000, hosts: [{ host, model: id }], price: { input: 1, output: 2 }, ...more };
}

const { price: _, ...unpriced } = row('unpriced', 'real');
const ROWS = [
  row('gpt', 'real', { aliases: ['gpt-2025'] }),
  row('vectors', 'real', { caps: ['embeddings'] }),
  row('local:free', 'real'),
  row('pretended', 'sim'),
  row('elsewhere', 'not-configured'),
  unpriced,
];

function catalog(more: Partial<CatalogSource> = {}) {
  return buildCatalog({
    rows: ROWS,
    hosts: new Set(['real', 'sim']),
    simulatedHosts: new Set(['sim']),
    version: '2026-11-15-x',
    ...more,
  });
}

function caller(models: string[] | null = null): Caller {
  return { accountId: 1n, keyId: 2n, key: { models } as unknown as KeyRow };
}
const LOCAL: Caller = { accountId: 1n, keyId: null, key: null };

function idsOf(resolution: ReturnType<typeof resolve>): string[] {
  if (resolution.kind === 'model') return [resolution.model.id];
  return resolution.kind === 'choice' ? resolution.among.map(({ id }) => id) : [];
}

describe('a name', () => {
  test.each(['gpt', 'gpt-2025', 'openai/gpt', 'a/b/gpt-2025'])('%s resolves to one model', (name) => {
    expect(idsOf(resolve(catalog(), LOCAL, name))).toEqual(['gpt']);
    expect(resolveModel(catalog(), LOCAL, name).id).toBe('gpt');
  });

  test.each(['nobody', 'cloud/nobody', 'elsewhere', 'gp'])('%s may be a deployment of the caller', (name) => {
    const resolution = resolve(catalog(), LOCAL, name);
    expect(resolution).toMatchObject({ kind: 'unknown', refusal: { code: 'model_not_found', param: 'model' } });
    expect(refusalBy(() => resolveModel(catalog(), LOCAL, name)).code).toBe('model_not_found');
  });

  test('of the catalog is never a deployment, even if the key may not use it or it has no price', () => {
    expect(refusalBy(() => resolve(catalog(), caller(['vectors']), 'gpt')).code).toBe('model_not_found');
    expect(refusalBy(() => resolve(catalog(), caller(['vectors']), 'cloud/gpt')).code).toBe('model_not_found');
    expect(refusalBy(() => resolve(catalog(), LOCAL, 'unpriced')).message).toContain('not priced');
  });

  test('with the suffix of another gateway is refused, unless the catalog has exactly that name', () => {
    expect(refusalBy(() => resolve(catalog(), LOCAL, 'gpt:nitro'))).toMatchObject({ code: 'unsupported_feature' });
    expect(idsOf(resolve(catalog(), LOCAL, 'local:free'))).toEqual(['local:free']);
  });

  test('that the key may not use gets the same error as one that does not exist', () => {
    const forbidden = refusalBy(() => resolveModel(catalog(), caller(['vectors']), 'gpt'));
    const unknown = refusalBy(() => resolveModel(catalog(), caller(['vectors']), 'tpg'));
    expect(forbidden.message.replace('gpt', 'tpg')).toBe(unknown.message);
  });
});

describe('auto', () => {
  test('with a vendor before it is an ordinary name, and its refusal says how to write it', () => {
    const resolution = resolve(catalog(), LOCAL, 'aggregator/auto');
    const message = expect.stringContaining('Send "auto" alone');
    expect(resolution).toMatchObject({ kind: 'unknown', refusal: { code: 'model_not_found', message } });
  });

  test('is a choice among what the key may use', () => {
    expect(idsOf(resolve(catalog(), LOCAL, 'auto'))).toEqual(['gpt', 'local:free', 'vectors']);
    expect(idsOf(resolve(catalog(), caller(['vectors', 'pretended', 'gone']), 'auto'))).toEqual(['vectors']);
  });

  test('chooses simulated models only if no other host is configured, even one that serves nothing', () => {
    const simulatedOnly = catalog({ hosts: new Set(['sim']) });
    expect(idsOf(resolve(simulatedOnly, LOCAL, 'auto'))).toEqual(['pretended']);
    const realButIdle = catalog({ hosts: new Set(['sim', 'idle']) });
    expect(idsOf(resolve(realButIdle, LOCAL, 'auto'))).toEqual([]);
  });

  test('does not name a model', () => {
    expect(refusalBy(() => resolveModel(catalog(), LOCAL, 'auto')).message).toContain('for every call');
  });
});

describe('default', () => {
  test('is the model that the operator set, by any of its names', () => {
    for (const name of ['gpt', 'gpt-2025', 'openai/gpt'])
      expect(resolveModel(catalog({ defaultModel: name }), LOCAL, 'default').id).toBe('gpt');
  });

  test('may be a simulated model, since the operator chose it', () => {
    expect(idsOf(resolve(catalog({ defaultModel: 'pretended' }), LOCAL, 'default'))).toEqual(['pretended']);
  });

  interface Open {
    readonly why: string;
    readonly defaultModel: string | null;
    readonly who?: Caller;
    readonly serves?: boolean;
  }

  test.each<Open>([
    { why: 'nothing was said', defaultModel: null },
    { why: 'what was said is not served', defaultModel: 'elsewhere' },
    { why: 'the key may not use it', defaultModel: 'gpt', who: caller(['vectors']) },
    { why: 'it is not for this route', defaultModel: 'gpt', serves: false },
  ])('chooses like auto if $why', ({ defaultModel, who = LOCAL, serves = true }) => {
    const terms = { defaultModel };
    const chosen = resolve(catalog(terms), who, 'default', () => serves);
    expect(chosen).toEqual(resolve(catalog(terms), who, 'auto'));
    expect(chosen.kind).toBe('choice');
  });
});
