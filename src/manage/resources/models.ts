import { z } from 'zod';
import type { ModelView } from '../../operator/view.ts';
import { route } from '../route.ts';
import { count, EXAMPLE_TIME, listOf, seconds } from '../schema-fields.ts';

const rate = z.int().nonnegative().describe('Nanodollars per million tokens.');
const usdPerToken = z.string().describe('Dollars per token, as a decimal.');
const rates = {
  input: rate,
  output: rate,
  cache_read: rate.nullable(),
  cache_write: rate.nullable(),
  cache_write_1h: rate.nullable(),
  prompt: usdPerToken,
  completion: usdPerToken,
  input_cache_read: usdPerToken,
  input_cache_write: usdPerToken,
};

const pricing = z.object({
  ...rates,
  unit: z.literal('nanousd_per_million_tokens'),
  tiers: z.array(z.object({ above_input_tokens: count, ...rates })).exactOptional(),
});

const model = z
  .object({
    id: z.string(),
    object: z.literal('model'),
    created: seconds,
    owned_by: z.string(),
    name: z.string(),
    aliases: z.array(z.string()).readonly(),
    caps: z.array(z.string()),
    context_window: count,
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
    hosts: z.array(z.string()).readonly().describe('The hosts that serve the model.'),
  })
  .meta({ id: 'Model' });

const MODEL: ModelView = {
  id: 'example-large',
  object: 'model',
  created: EXAMPLE_TIME,
  owned_by: 'example',
  name: 'Example Large',
  aliases: [],
  caps: ['chat', 'tools'],
  context_window: 400_000,
  context_length: 400_000,
  max_output_tokens: 128_000,
  architecture: { modality: 'text->text', input_modalities: ['text'], output_modalities: ['text'] },
  supported_parameters: ['max_tokens', 'stream', 'tools'],
  pricing: {
    unit: 'nanousd_per_million_tokens',
    input: 1_750_000_000,
    output: 14_000_000_000,
    cache_read: 175_000_000,
    cache_write: null,
    cache_write_1h: null,
    prompt: '0.00000175',
    completion: '0.000014',
    input_cache_read: '0.000000175',
    input_cache_write: '0.00000175',
  },
  canonical_slug: 'example-large',
  links: { details: '/v1/models/example-large' },
  top_provider: { context_length: 400_000, max_completion_tokens: 128_000, is_moderated: false },
  default_parameters: null,
  per_request_limits: null,
  supported_voices: null,
  hosts: ['example-host'],
};

export const MODELS_ROUTES = [
  route({
    method: 'GET',
    path: '/models',
    verb: 'models.list',
    access: 'anybody',
    // Which hosts serve a model is the operator's business.
    operatorMembers: ['hosts'],
    summary: 'The models that are served.',
    response: listOf(model).extend({ price_version: z.string() }),
    example: { input: {}, output: { object: 'list', data: [MODEL], next: null, price_version: '2027-01-31.1' } },
  }),
];
