import type { ModelRow } from '../../src/catalog/schema.ts';

const PRICE = { input: 1_000_000_000, output: 2_000_000_000 };
const HOSTS = [{ host: 'sim', model: 'sim-gpt' }];

/** Models that lack what the simulated ones have. */
export const LACKING_MODELS: ModelRow[] = [
  { id: 'chat-only', caps: ['chat'], context_window: 100_000, max_output_tokens: 1000, price: PRICE, hosts: HOSTS },
  { id: 'vectors-only', caps: ['embeddings'], context_window: 8000, price: PRICE, hosts: HOSTS },
  { id: 'модель', caps: ['chat'], context_window: 100_000, max_output_tokens: 1000, price: PRICE, hosts: HOSTS },
  { id: 'unpriced-chat', caps: ['chat'], context_window: 100_000, max_output_tokens: 1000, hosts: HOSTS },
];
