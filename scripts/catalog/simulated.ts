import { EFFORTS } from '../../src/canonical/reasoning.ts';
import type { HostWire } from '../../src/canonical/wire-names.ts';
import type { ModelRow } from '../../src/catalog/schema.ts';

/** Models of the simulated upstream, at least one per wire, with prices, so that every money path has a rate. */
const SINCE = '2026-11-15';

const shared = {
  vendor: 'simulated',
  created: Date.parse(SINCE) / 1000,
  aliases: [],
  tokenizer: null,
  price_source: { package: 'simulated', version: '1', checked: SINCE },
} satisfies Partial<ModelRow>;

const talking = {
  ...shared,
  caps: ['chat', 'tools', 'images', 'documents', 'reasoning', 'structured_outputs', 'prompt_caching'],
  max_output_tokens: 16_384,
  image_tokens_max: 85,
  reasoning_efforts: ['none', 'minimal', 'low', 'medium', 'high'],
} satisfies Partial<ModelRow>;

/** Their output is not billed. */
const silent = { ...shared, max_output_tokens: 0, image_tokens_max: null } satisfies Partial<ModelRow>;

function onWire(model: string, wire: HostWire): ModelRow['hosts'] {
  return [{ host: 'sim', model, wire }];
}

export const SIMULATED_SINCE = SINCE;

export const SIMULATED: readonly ModelRow[] = [
  {
    id: 'sim-gpt',
    name: 'Simulated GPT',
    ...talking,
    context_window: 400_000,
    price: {
      input: 1_250_000_000,
      output: 10_000_000_000,
      cache_read: 125_000_000,
      cache_write: 1_562_500_000,
      cache_write_1h: 2_500_000_000,
      tiers: [
        {
          above_input_tokens: 200_000,
          input: 2_500_000_000,
          output: 15_000_000_000,
          cache_read: 250_000_000,
          cache_write: 3_125_000_000,
          cache_write_1h: 5_000_000_000,
        },
      ],
    },
    hosts: onWire('sim-gpt', 'chat'),
  },
  {
    id: 'sim-gpt-mini',
    name: 'Simulated GPT mini',
    ...talking,
    // The one that takes no documents.
    caps: ['chat', 'tools', 'images', 'reasoning', 'structured_outputs', 'prompt_caching'],
    context_window: 128_000,
    price: {
      input: 150_000_000,
      output: 600_000_000,
      cache_read: 75_000_000,
      cache_write: 187_500_000,
      cache_write_1h: 300_000_000,
    },
    hosts: onWire('sim-gpt-mini', 'chat'),
  },
  {
    id: 'sim-claude',
    name: 'Simulated Claude',
    ...talking,
    caps: ['chat', 'tools', 'images', 'documents', 'reasoning', 'structured_outputs', 'prompt_caching', 'messages'],
    context_window: 128_000,
    thinking: 'budget',
    cache_writes: 'marked',
    price: {
      input: 3_000_000_000,
      output: 15_000_000_000,
      cache_read: 300_000_000,
      cache_write: 3_750_000_000,
      cache_write_1h: 6_000_000_000,
    },
    hosts: onWire('sim-claude', 'messages'),
  },
  {
    id: 'sim-responses',
    name: 'Simulated model of the responses wire',
    ...talking,
    context_window: 128_000,
    reasoning_efforts: [...EFFORTS],
    price: {
      input: 1_100_000_000,
      output: 4_400_000_000,
      cache_read: 275_000_000,
      cache_write: 1_375_000_000,
      cache_write_1h: 2_200_000_000,
    },
    hosts: onWire('sim-responses', 'responses'),
  },
  {
    id: 'sim-embed',
    name: 'Simulated embeddings',
    ...silent,
    caps: ['embeddings'],
    context_window: 8_192,
    embedding: { dimensions: 256, matryoshka: true },
    price: { input: 20_000_000, output: 0 },
    hosts: onWire('sim-embed', 'embeddings'),
  },
  {
    id: 'sim-decide',
    name: 'Simulated typed decisions',
    ...silent,
    caps: ['decisions'],
    context_window: 128_000,
    price: { input: 42_000_000, output: 0 },
    hosts: onWire('sim-decide', 'systemone'),
  },
];
