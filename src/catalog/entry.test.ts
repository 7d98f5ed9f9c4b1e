import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HostWire } from '../canonical/wire-names.ts';
import { LIMITS } from '../limits.ts';
import { buildCatalog } from './catalog.ts';
import { messagesModelList, modelEntry, modelList, usdPerToken } from './entry.ts';
import type { ModelRow } from './schema.ts';

const reasoner: ModelRow = {
  id: 'thinker-1',
  name: 'Thinker 1',
  vendor: 'acme',
  created: 1_754_524_800,
  aliases: ['thinker'],
  caps: ['chat', 'tools', 'images', 'reasoning', 'structured_outputs', 'prompt_caching'],
  context_window: 400_000,
  max_output_tokens: 128_000,
  image_tokens_max: 2_000,
  reasoning_efforts: ['low', 'high'],
  price: {
    input: 150_000_000,
    output: 600_000_000,
    cache_read: 75_000_000,
    tiers: [{ above_input_tokens: 200_000, input: 300_000_000, output: 900_000_000 }],
  },
  hosts: [{ host: 'a', model: 'thinker-1' }],
};

const embedder: ModelRow = {
  id: 'embed-1',
  caps: ['embeddings'],
  context_window: 8_192,
  max_output_tokens: 0,
  embedding: { dimensions: 1_536, matryoshka: true },
  price: { input: 20_000_000, output: 0 },
  hosts: [{ host: 'a', model: 'embed-1' }],
};

const catalog = buildCatalog({ rows: [reasoner, embedder], hosts: new Set(['a']), version: '2026-11-15-abc' });

function entryOf(id: string) {
  const model = catalog.find(id);
  if (model === undefined) throw new Error(`${id} is not in the catalog.`);
  return modelEntry(model);
}

describe('an entry', () => {
  test('has the published shape', () => {
    expect(entryOf('thinker-1')).toEqual({
      id: 'thinker-1',
      object: 'model',
      created: 1_754_524_800,
      owned_by: 'acme',
      name: 'Thinker 1',
      aliases: ['thinker'],
      caps: ['chat', 'tools', 'images', 'reasoning', 'structured_outputs', 'prompt_caching'],
      context_window: 400_000,
      context_length: 400_000,
      max_output_tokens: 128_000,
      architecture: {
        modality: 'text+image->text',
        input_modalities: ['text', 'image'],
        output_modalities: ['text'],
      },
      supported_parameters: expect.arrayContaining(['max_tokens', 'temperature', 'tools', 'reasoning_effort']),
      reasoning_efforts: ['low', 'high'],
      pricing: {
        unit: 'nanousd_per_million_tokens',
        input: 150_000_000,
        output: 600_000_000,
        cache_read: 75_000_000,
        cache_write: null,
        cache_write_1h: null,
        prompt: '0.00000015',
        completion: '0.0000006',
        input_cache_read: '0.000000075',
        input_cache_write: '0.00000015',
        tiers: [
          {
            above_input_tokens: 200_000,
            input: 300_000_000,
            output: 900_000_000,
            cache_read: null,
            cache_write: null,
            cache_write_1h: null,
            prompt: '0.0000003',
            completion: '0.0000009',
            input_cache_read: '0.0000003',
            input_cache_write: '0.0000003',
          },
        ],
      },
      canonical_slug: 'thinker-1',
      links: { details: '/v1/models/thinker-1' },
      top_provider: { context_length: 400_000, max_completion_tokens: 128_000, is_moderated: false },
      default_parameters: null,
      per_request_limits: null,
      supported_voices: null,
    });
  });

  test('leaves out tiers and efforts where there are none', () => {
    const entry = entryOf('embed-1');
    expect(entry).not.toHaveProperty('reasoning_efforts');
    expect(entry.pricing).not.toHaveProperty('tiers');
  });

  test('of an embedding model promises embeddings and no chat parameter', () => {
    expect(entryOf('embed-1')).toMatchObject({
      architecture: { input_modalities: ['text'], output_modalities: ['embeddings'] },
      supported_parameters: ['dimensions', 'encoding_format'],
      embedding: { dimensions: 1_536, matryoshka: true },
    });
  });

  test('does not promise temperature where the model refuses it', () => {
    const rows = [{ ...reasoner, fixed_sampling: true }];
    const [model] = buildCatalog({ rows, hosts: new Set(['a']), version: 'x' }).list();
    expect(model && modelEntry(model).supported_parameters).not.toContain('temperature');
  });

  test.each([
    ['responses', undefined, false],
    ['chat', 'responses', false],
    ['responses', 'chat', true],
    ['messages', undefined, true],
  ] as const)('of a model at a host of the %s wire, called on %s, promises stop: %s', (hostWire, wire, isPromised) => {
    const rows = [{ ...reasoner, hosts: [{ host: 'a', model: 'm', ...(wire && { wire }) }] }];
    const hostWires = new Map([['a', [hostWire]]]);
    const [model] = buildCatalog({ rows, hosts: new Set(['a']), hostWires, version: 'x' }).list();
    expect(modelEntry(model!).supported_parameters.includes('stop')).toBe(isPromised);
  });

  test('of a model promises stop if one of its hosts takes it, or speaks the chat wire too', () => {
    const at = (wires: Record<string, readonly HostWire[]>): string[] => {
      const rows = [{ ...reasoner, hosts: Object.keys(wires).map((host) => ({ host, model: 'm' })) }];
      const hosts = new Set(Object.keys(wires));
      const source = { rows, hosts, hostWires: new Map(Object.entries(wires)), version: 'x' };
      return modelEntry(buildCatalog(source).list()[0]!).supported_parameters;
    };
    expect(at({ a: ['responses'], b: ['responses'] })).not.toContain('stop');
    expect(at({ a: ['embeddings', 'responses'] })).not.toContain('stop');
    expect(at({ a: ['responses'], b: ['messages'] })).toContain('stop');
    expect(at({ a: ['responses', 'chat'] })).toContain('stop');
  });

  test.each([
    [{}, ['stop']],
    [{ fixed_sampling: false }, ['stop', 'temperature', 'top_p']],
  ])('of a messages model that takes an effort, with %j, promises %j', (own, promised) => {
    const rows = [{ ...reasoner, caps: [...reasoner.caps!, 'messages' as const], thinking: 'effort' as const, ...own }];
    const [model] = buildCatalog({ rows, hosts: new Set(['a']), version: 'x' }).list();
    const { supported_parameters: offered } = modelEntry(model!);
    expect(offered.filter((name) => ['stop', 'temperature', 'top_p'].includes(name))).toEqual(promised);
  });
});

describe('a list', () => {
  test('carries the price version and every model', () => {
    const list = modelList(catalog);
    expect(list).toMatchObject({
      object: 'list',
      price_version: catalog.priceVersion,
      total_count: 2,
      links: { next: null },
    });
    expect(list.data.map((entry) => entry.id)).toEqual(['embed-1', 'thinker-1']);
  });

  test('is scoped to the models of a key', () => {
    expect(modelList(catalog, new Set(['embed-1', 'gone'])).data.map((entry) => entry.id)).toEqual(['embed-1']);
    expect(modelList(catalog, new Set()).data).toEqual([]);
  });

  test('in the messages vendor’s shape has its keys and ours', () => {
    const list = messagesModelList(catalog);
    expect(list).toMatchObject({ has_more: false, first_id: 'embed-1', last_id: 'thinker-1' });
    expect(list.data[1]).toMatchObject({
      type: 'model',
      id: 'thinker-1',
      display_name: 'Thinker 1',
      created_at: '2025-08-07T00:00:00Z',
      context_window: 400_000,
      pricing: { input: 150_000_000 },
    });
    expect(list.data[1]).not.toHaveProperty('object');
  });

  test('in the messages vendor’s shape has every field that its typed SDKs require', () => {
    expect(messagesModelList(catalog).data[1]).toMatchObject({
      max_input_tokens: 400_000,
      max_tokens: 128_000,
      capabilities: null,
      line: null,
      lifecycle: 'active',
      deprecated_at: null,
      retires_at: null,
    });
  });

  test('in the messages vendor’s shape may be empty', () => {
    expect(messagesModelList(catalog, new Set())).toEqual({ data: [], has_more: false, first_id: null, last_id: null });
  });
});

describe('dollars per token', () => {
  test.each([
    [0n, '0'],
    [1n, '0.000000000000001'],
    [150_000_000n, '0.00000015'],
    [1_000_000_000_000_000n, '1'],
    [12_500_000_000_000_000n, '12.5'],
  ])('%d nanodollars per million tokens are %s', (rate, text) => {
    expect(usdPerToken(rate)).toBe(text);
  });

  test('read back as exactly the rate, without exponent or idle zeros', () => {
    const rate = fc.bigInt({ min: 0n, max: BigInt(LIMITS.rateNanousdPerMillionMax) });
    fc.assert(
      fc.property(rate, (nanousdPerMillion) => {
        const text = usdPerToken(nanousdPerMillion);
        expect(text).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/);
        const [whole = '', fraction = ''] = text.split('.');
        expect(BigInt(whole + fraction.padEnd(15, '0'))).toBe(nanousdPerMillion);
      }),
    );
  });
});
