import type { ModelRow } from '../../src/catalog/schema.ts';

/** Models of the simulated upstream, priced like a middling and a small real one, so that every money path has a rate to use. */
const SINCE = '2026-11-15';

const shared = {
  vendor: 'simulated',
  created: Date.parse(SINCE) / 1000,
  aliases: [],
  caps: ['chat', 'tools', 'images', 'reasoning', 'structured_outputs', 'prompt_caching'],
  max_output_tokens: 16_384,
  tokenizer: null,
  image_tokens_max: 85,
  reasoning_efforts: ['none', 'minimal', 'low', 'medium', 'high'],
  price_source: { package: 'simulated', version: '1', checked: SINCE },
} satisfies Partial<ModelRow>;

export const SIMULATED_SINCE = SINCE;

export const SIMULATED: readonly ModelRow[] = [
  {
    id: 'sim-gpt',
    name: 'Simulated GPT',
    ...shared,
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
    hosts: [{ host: 'sim', model: 'sim-gpt' }],
  },
  {
    id: 'sim-gpt-mini',
    name: 'Simulated GPT mini',
    ...shared,
    context_window: 128_000,
    price: {
      input: 150_000_000,
      output: 600_000_000,
      cache_read: 75_000_000,
      cache_write: 187_500_000,
      cache_write_1h: 300_000_000,
    },
    hosts: [{ host: 'sim', model: 'sim-gpt-mini' }],
  },
];
