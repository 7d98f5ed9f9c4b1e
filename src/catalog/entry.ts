import type { Price, Rates } from '../money/price.ts';
import type { CatalogModel } from './model.ts';

/** Public form of a price: exact integers, and dollars per token as decimals for clients of aggregators. */
interface RatesEntry {
  input: number;
  output: number;
  cache_read: number | null;
  cache_write: number | null;
  cache_write_1h: number | null;
  prompt: string;
  completion: string;
  input_cache_read: string;
  input_cache_write: string;
}

interface PricingEntry extends RatesEntry {
  unit: 'nanousd_per_million_tokens';
  tiers?: ({ above_input_tokens: number } & RatesEntry)[];
}

export interface ModelEntry {
  id: string;
  object: 'model';
  created: number;
  owned_by: string;
  name: string;
  aliases: readonly string[];
  caps: string[];
  context_window: number;
  context_length: number;
  max_output_tokens: number;
  architecture: { modality: string; input_modalities: string[]; output_modalities: string[] };
  supported_parameters: string[];
  reasoning_efforts?: readonly string[];
  embedding?: { dimensions: number | null; matryoshka: boolean };
  pricing: PricingEntry;
  /** Fields that clients of aggregators expect in every entry. */
  canonical_slug: string;
  links: { details: string };
  top_provider: { context_length: number; max_completion_tokens: number; is_moderated: false };
  default_parameters: null;
  per_request_limits: null;
  supported_voices: null;
}

export interface ModelList {
  object: 'list';
  data: ModelEntry[];
  price_version: string;
  /** There is only one page. */
  total_count: number;
  links: { next: null };
}

/** The fields of the messages wire's vendor. Its typed SDKs throw where one is missing; null is what they take for unknown. */
interface MessagesModelFields {
  type: 'model';
  display_name: string;
  created_at: string;
  max_input_tokens: number;
  max_tokens: number;
  capabilities: null;
  line: null;
  lifecycle: 'active';
  deprecated_at: null;
  retires_at: null;
}

/** The list in the format of the messages wire's vendor, with our fields added. */
interface MessagesModelList {
  data: (Omit<ModelEntry, 'object'> & MessagesModelFields)[];
  has_more: false;
  first_id: string | null;
  last_id: string | null;
}

/** Null means no restriction. A key's list may contain models that are not served now. */
export type AllowedIds = ReadonlySet<string> | null;

interface Listing {
  list(): readonly CatalogModel[];
  readonly priceVersion: string;
}

export function modelList(catalog: Listing, allowed: AllowedIds = null): ModelList {
  const data = scoped(catalog, allowed).map(modelEntry);
  return {
    object: 'list',
    data,
    price_version: catalog.priceVersion,
    total_count: data.length,
    links: { next: null },
  };
}

export function messagesModelList(catalog: Listing, allowed: AllowedIds = null): MessagesModelList {
  const data = scoped(catalog, allowed).map(messagesModelEntry);
  return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
}

export function messagesModelEntry(model: CatalogModel): MessagesModelList['data'][number] {
  const { object: _, ...entry } = modelEntry(model);
  const createdAt = new Date(model.createdSeconds * 1000).toISOString().replace('.000Z', 'Z');
  return {
    type: 'model',
    display_name: model.name,
    created_at: createdAt,
    max_input_tokens: model.contextWindow,
    max_tokens: model.maxOutputTokens,
    capabilities: null,
    line: null,
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
    ...entry,
  };
}

export function modelEntry(model: CatalogModel): ModelEntry {
  return {
    id: model.id,
    object: 'model',
    created: model.createdSeconds,
    owned_by: model.vendor,
    name: model.name,
    aliases: model.aliases,
    caps: [...model.caps],
    context_window: model.contextWindow,
    context_length: model.contextWindow,
    max_output_tokens: model.maxOutputTokens,
    architecture: architectureOf(model),
    supported_parameters: supportedParameters(model),
    ...(model.reasoningEfforts.length > 0 && { reasoning_efforts: model.reasoningEfforts }),
    ...(model.embedding !== null && { embedding: model.embedding }),
    pricing: pricingEntry(model.price),
    canonical_slug: model.id,
    links: { details: `/v1/models/${encodeURIComponent(model.id)}` },
    top_provider: {
      context_length: model.contextWindow,
      max_completion_tokens: model.maxOutputTokens,
      is_moderated: false,
    },
    default_parameters: null,
    per_request_limits: null,
    supported_voices: null,
  };
}

function architectureOf({ caps }: CatalogModel): ModelEntry['architecture'] {
  const input = ['text', ...(caps.has('images') ? ['image'] : []), ...(caps.has('documents') ? ['file'] : [])];
  const output = [caps.has('embeddings') ? 'embeddings' : 'text'];
  return { modality: `${input.join('+')}->${output.join('+')}`, input_modalities: input, output_modalities: output };
}

/** Dollars per token from nanodollars per million tokens: 15 decimals, shifted as text to avoid rounding. */
export function usdPerToken(nanousdPerMillion: bigint): string {
  const places = 15;
  const digits = nanousdPerMillion.toString().padStart(places + 1, '0');
  const fraction = digits.slice(-places).replace(/0+$/, '');
  const whole = digits.slice(0, -places);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

function pricingEntry(price: Price): PricingEntry {
  const tiers = price.tiers.map((tier) => ({ above_input_tokens: tier.aboveInputTokens, ...ratesEntry(tier) }));
  return { unit: 'nanousd_per_million_tokens', ...ratesEntry(price), ...(tiers.length > 0 && { tiers }) };
}

function ratesEntry(rates: Rates): RatesEntry {
  const input = rates.inputNanousdPerMillion;
  return {
    input: Number(input),
    output: Number(rates.outputNanousdPerMillion),
    cache_read: numberOrNull(rates.cacheReadNanousdPerMillion),
    cache_write: numberOrNull(rates.cacheWriteNanousdPerMillion),
    cache_write_1h: numberOrNull(rates.cacheWrite1hNanousdPerMillion),
    prompt: usdPerToken(input),
    completion: usdPerToken(rates.outputNanousdPerMillion),
    input_cache_read: usdPerToken(rates.cacheReadNanousdPerMillion ?? input),
    input_cache_write: usdPerToken(rates.cacheWriteNanousdPerMillion ?? input),
  };
}

function numberOrNull(rate: bigint | null): number | null {
  return rate === null ? null : Number(rate);
}

function supportedParameters(model: CatalogModel): string[] {
  if (model.caps.has('embeddings')) {
    return model.embedding?.matryoshka ? ['dimensions', 'encoding_format'] : ['encoding_format'];
  }
  if (!model.caps.has('chat')) return [];
  return [
    ...['max_completion_tokens', 'max_tokens', 'response_format', 'stream', 'stream_options'],
    // Models of the messages wire stop at sequences also where their sampling is fixed.
    ...(model.lacksStop || (model.fixedSampling && !model.caps.has('messages')) ? [] : ['stop']),
    ...(model.fixedSampling ? [] : ['temperature', 'top_p']),
    ...(model.caps.has('tools') ? ['tool_choice', 'tools'] : []),
    ...(model.caps.has('structured_outputs') ? ['structured_outputs'] : []),
    ...(model.caps.has('reasoning') ? ['include_reasoning', 'reasoning', 'reasoning_effort'] : []),
  ];
}

function scoped(catalog: Listing, allowed: AllowedIds): readonly CatalogModel[] {
  return allowed === null ? catalog.list() : catalog.list().filter((model) => allowed.has(model.id));
}
