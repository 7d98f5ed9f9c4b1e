import { z } from 'zod';
import type { ModelView } from '../../operator/view.ts';
import { model as callerModel } from '../openapi/model-schemas.ts';
import { route } from '../route.ts';
import { EXAMPLE_TIME, listOf } from '../schema-fields.ts';

const model = callerModel
  .extend({
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
