import { z } from 'zod';
import { CAPABILITIES } from '../canonical/capability.ts';
import { EFFORTS } from '../canonical/reasoning.ts';
import { HOST_WIRES } from '../canonical/wire-names.ts';
import { LIMITS } from '../limits.ts';
import { CACHE_WRITERS, THINKING_CONTROLS, TOKENIZERS } from './model.ts';

/**
 * A model as in `data/catalog.json` and under `models` in the config file. The catalog file contains every field; an
 * operator may leave out fields that have an obvious default.
 */
export const modelIdSchema = z
  .string()
  .max(LIMITS.modelIdCharsMax)
  .regex(/^[^\s/]+(\/[^\s/]+)*$/, 'must be a name without spaces or empty path segments')
  .refine((id) => id !== 'auto' && id !== 'default', '"auto" and "default" are reserved for the service’s choice');

const rateSchema = z.int().nonnegative().max(LIMITS.rateNanousdPerMillionMax);
const cacheRateSchema = rateSchema.nullish();

const ratesShape = {
  input: rateSchema,
  output: rateSchema,
  cache_read: cacheRateSchema,
  cache_write: cacheRateSchema,
  cache_write_1h: cacheRateSchema,
};

const tierSchema = z.strictObject({ above_input_tokens: z.int().positive(), ...ratesShape });

/** Integers, in nanodollars per million tokens. A missing or null cache rate means the input rate. */
export const priceSchema = z.strictObject({
  ...ratesShape,
  tiers: z
    .array(tierSchema)
    .max(LIMITS.priceTiersMax)
    .refine(ascending, 'must be in ascending order of above_input_tokens, each once')
    .optional(),
});

/** Source and date of a price; `also` names a second source of some figures. */
const priceSourceSchema = z.strictObject({
  package: z.string(),
  version: z.string(),
  checked: z.iso.date(),
  also: z.string().optional(),
});

const hostedModelSchema = z.strictObject({
  host: z.string().min(1),
  model: z.string().min(1),
  wire: z
    .enum(HOST_WIRES)
    .optional()
    .describe("The wire that this host uses for this model, if it is not the host's usual one."),
  price: priceSchema.optional().describe('What this host charges you, if known.'),
  allow_loss: z.boolean().optional().describe('Allow the host to cost more than callers pay.'),
});

const framingTokensSchema = z.int().nonnegative().max(LIMITS.framingTokensMax);

const framingSchema = z.strictObject({
  prompt: framingTokensSchema.describe('Once per prompt.'),
  message: framingTokensSchema.describe('Per message, or per input of an embeddings call.'),
  part: framingTokensSchema.describe('Per part of a message, and per tool call.'),
  tool: framingTokensSchema.describe('Per tool; a response format counts as one.'),
  tools: framingTokensSchema.describe('Once per prompt if there are tools.'),
  source: z.string().min(1).max(500),
});

export const modelRowSchema = z
  .strictObject({
    id: modelIdSchema,
    name: z.string().min(1).max(200).optional(),
    vendor: z.string().min(1).max(100).optional(),
    created: z.int().nonnegative().optional(),
    aliases: z.array(modelIdSchema).max(LIMITS.modelAliasesMax).optional(),
    caps: z.array(z.enum(CAPABILITIES)).min(1).optional(),
    context_window: z.int().positive(),
    max_output_tokens: z.int().nonnegative().optional(),
    tokenizer: z.enum(TOKENIZERS).nullish(),
    token_factor: z
      .strictObject({ factor: z.number().min(1).max(LIMITS.tokenFactorMax), source: z.string().min(1).max(500) })
      .optional()
      .describe('How many tokens of this model one token of o200k_base may become, and where that figure is from.'),
    framing: framingSchema
      .optional()
      .describe('Tokens that the hosts of this model add to a prompt, and where these figures are from.'),
    image_tokens_max: z.int().positive().nullish(),
    reasoning_efforts: z.array(z.enum(EFFORTS)).min(1).optional(),
    thinking: z.enum(THINKING_CONTROLS).optional(),
    fixed_sampling: z.boolean().optional(),
    embedding: z.strictObject({ dimensions: z.int().positive().nullable(), matryoshka: z.boolean() }).optional(),
    cache_writes: z
      .enum(CACHE_WRITERS)
      .optional()
      .describe('Whether the hosts write to a prompt cache only where the request marks it, or also on their own.'),
    price: priceSchema.optional(),
    price_source: priceSourceSchema.optional(),
    hosts: z.array(hostedModelSchema).min(1),
  })
  .refine((row) => !row.caps?.includes('images') || typeof row.image_tokens_max === 'number', {
    path: ['image_tokens_max'],
    error: 'is needed by a model with the capability "images": an image without a bound cannot be priced',
  });

export const catalogFileSchema = z.strictObject({
  version: z.string().regex(/^\d{4}-\d{2}-\d{2}-[0-9a-f]+$/),
  generated: z.iso.date(),
  sources: z.array(z.strictObject({ package: z.string(), version: z.string() })),
  models: z.array(modelRowSchema).max(LIMITS.catalogModelsMax),
});

export type PriceRow = z.infer<typeof priceSchema>;
export type ModelRow = z.infer<typeof modelRowSchema>;
export type CatalogFile = z.infer<typeof catalogFileSchema>;

function ascending(tiers: readonly { above_input_tokens: number }[]): boolean {
  return tiers.every((tier, at) => at === 0 || tier.above_input_tokens > (tiers[at - 1]?.above_input_tokens ?? 0));
}
