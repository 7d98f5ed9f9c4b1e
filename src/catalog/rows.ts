import { CAPABILITIES, type Capability } from '../canonical/capability.ts';
import { LIMITS } from '../limits.ts';
import { DEFAULT_FRAMING, type Framing, PLAIN_FRAMING } from '../money/framing.ts';
import type { Price, Rates } from '../money/price.ts';
import type { CatalogModel, HostedModel, TokenFactor } from './model.ts';
import type { ModelRow, PriceRow } from './schema.ts';

/** An invalid catalog: a name of two models, or a price for an unknown model. */
export class CatalogError extends Error {
  override readonly name = 'CatalogError';
}

/** The operator's rows win: each replaces the row with its id, and takes its aliases away from all others. */
export function mergeRows(rows: readonly ModelRow[], own: readonly ModelRow[]): ModelRow[] {
  const ownIds = new Set(own.map((row) => row.id));
  const ownNames = new Set(own.flatMap((row) => namesOf(row)));
  const kept = rows.filter((row) => !ownIds.has(row.id)).map((row) => withoutAliases(row, ownNames));
  return [...kept, ...own];
}

export function overridePrices(rows: readonly ModelRow[], prices: ReadonlyMap<string, PriceRow>): ModelRow[] {
  const known = new Set(rows.map((row) => row.id));
  for (const id of prices.keys()) {
    if (!known.has(id)) throw new CatalogError(`prices.${id}: no model has this id.`);
  }
  return rows.map((row) => {
    const price = prices.get(row.id);
    if (price === undefined) return row;
    const { price_source: _, ...rest } = row;
    return { ...rest, price };
  });
}

/** The first name that two models share, as a sentence; undefined if there is none. */
export function findNameClash(rows: readonly ModelRow[]): string | undefined {
  const owners = new Map<string, string>();
  for (const row of rows) {
    for (const name of namesOf(row)) {
      const owner = owners.get(name);
      if (owner !== undefined) return `"${name}" names both ${owner} and ${row.id}.`;
      owners.set(name, row.id);
    }
  }
  return undefined;
}

export function readModel(row: ModelRow, price: Price): CatalogModel {
  const caps = new Set<Capability>(row.caps ?? ['chat']);
  return {
    id: row.id,
    name: row.name ?? row.id,
    vendor: row.vendor ?? 'custom',
    createdSeconds: row.created ?? 0,
    aliases: row.aliases ?? [],
    caps: new Set(CAPABILITIES.filter((cap) => caps.has(cap))),
    contextWindow: row.context_window,
    maxOutputTokens: row.max_output_tokens ?? row.context_window,
    tokenizer: row.tokenizer ?? null,
    tokenFactor: tokenFactorOf(row),
    framing: framingOf(row, caps),
    imageTokensMax: row.image_tokens_max ?? null,
    reasoningEfforts: row.reasoning_efforts ?? [],
    ...(row.thinking !== undefined && { thinking: row.thinking }),
    // The models that take an effort refuse these fields, unless the row says otherwise.
    fixedSampling: row.fixed_sampling ?? row.thinking === 'effort',
    embedding: row.embedding ?? null,
    cacheWriter: row.cache_writes ?? 'automatic',
    price,
    hosts: row.hosts.map(readHostedModel),
  };
}

/** Above every ratio that was measured for usual text, because nothing is known about the model. */
const DEFAULT_FACTOR: TokenFactor = { factor: LIMITS.tokenFactorDefault, source: 'default' };
const EXACT: TokenFactor = { factor: 1, source: 'the tokenizer is known' };

function tokenFactorOf({ tokenizer, token_factor: factor }: ModelRow): TokenFactor {
  return typeof tokenizer === 'string' ? EXACT : (factor ?? DEFAULT_FACTOR);
}

function framingOf({ framing }: ModelRow, caps: ReadonlySet<Capability>): Framing {
  if (framing !== undefined) {
    const { source: _, ...tokens } = framing;
    return tokens;
  }
  const isPlain = caps.has('embeddings') || (caps.has('completions') && !caps.has('chat'));
  return isPlain ? PLAIN_FRAMING : DEFAULT_FRAMING;
}

function readHostedModel({ host, model, wire, price }: ModelRow['hosts'][number]): HostedModel {
  return {
    host,
    model,
    ...(wire !== undefined && { wire }),
    ...(price !== undefined && { price: readPrice(price) }),
  };
}

export function readPrice(row: PriceRow): Price {
  const tiers = (row.tiers ?? []).map((tier) => ({ aboveInputTokens: tier.above_input_tokens, ...readRates(tier) }));
  return { ...readRates(row), tiers };
}

function readRates(row: Omit<PriceRow, 'tiers'>): Rates {
  return {
    inputNanousdPerMillion: BigInt(row.input),
    outputNanousdPerMillion: BigInt(row.output),
    cacheReadNanousdPerMillion: readCacheRate(row.cache_read),
    cacheWriteNanousdPerMillion: readCacheRate(row.cache_write),
    cacheWrite1hNanousdPerMillion: readCacheRate(row.cache_write_1h),
  };
}

function readCacheRate(rate: number | null | undefined): bigint | null {
  return rate === null || rate === undefined ? null : BigInt(rate);
}

function namesOf(row: ModelRow): string[] {
  return [row.id, ...(row.aliases ?? [])];
}

function withoutAliases(row: ModelRow, taken: ReadonlySet<string>): ModelRow {
  if (!row.aliases?.some((alias) => taken.has(alias))) return row;
  return { ...row, aliases: row.aliases.filter((alias) => !taken.has(alias)) };
}
