import { z } from 'zod';
import type { ModelEntry, ModelList } from '../../catalog/entry.ts';
import { count } from '../schema-fields.ts';
import { described } from './described.ts';

const RATE = 'Nanodollars per million tokens';
const rates = {
  input: count.describe(`${RATE} of the prompt.`),
  output: count.describe(`${RATE} of the answer, reasoning included.`),
  cache_read: count.nullable().describe(`${RATE} that were read from a cache. Null: as input.`),
  cache_write: count.nullable().describe(`${RATE} that were written to a cache. Null: as input.`),
  cache_write_1h: count.nullable().describe(`${RATE} that were written to a cache for an hour. Null: as input.`),
  prompt: z.string().describe('Dollars per token, as aggregators write them. The same rate as input.'),
  completion: z.string(),
  input_cache_read: z.string(),
  input_cache_write: z.string(),
};
const pricing = z
  .object({
    unit: z.literal('nanousd_per_million_tokens'),
    ...rates,
    tiers: z
      .array(z.object({ above_input_tokens: count, ...rates }))
      .exactOptional()
      .describe('Rates of prompts that are longer than this.'),
  })
  .meta({ id: 'Pricing' });

export const model = described<ModelEntry>()(
  z
    .object({
      id: z.string().describe('What requests send as `model`.'),
      object: z.literal('model'),
      created: z.int(),
      owned_by: z.string(),
      name: z.string(),
      aliases: z.array(z.string()).readonly().describe('Other names that find this model.'),
      caps: z.array(z.string()).describe('What the model can do, like tools, images, embeddings or decisions.'),
      context_window: count.describe('Tokens of prompt and answer together.'),
      context_length: count,
      max_output_tokens: count,
      architecture: z.object({
        modality: z.string(),
        input_modalities: z.array(z.string()),
        output_modalities: z.array(z.string()),
      }),
      supported_parameters: z.array(z.string()),
      reasoning_efforts: z.array(z.string()).readonly().exactOptional(),
      embedding: z.object({ dimensions: count.nullable(), matryoshka: z.boolean() }).exactOptional(),
      pricing,
      canonical_slug: z.string(),
      links: z.object({ details: z.string() }),
      top_provider: z.object({
        context_length: count,
        max_completion_tokens: count,
        is_moderated: z.literal(false),
      }),
      default_parameters: z.null(),
      per_request_limits: z.null(),
      supported_voices: z.null(),
    })
    .meta({ id: 'CallerModel' }),
);

export const modelList = described<ModelList>()(
  z.object({
    object: z.literal('list'),
    data: z.array(model),
    price_version: z.string().describe('The price list that these prices are from, as in receipts.'),
    total_count: count,
    links: z.object({ next: z.null() }),
  }),
);
