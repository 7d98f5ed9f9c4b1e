import type { Capability } from '../canonical/capability.ts';
import type { Effort } from '../canonical/reasoning.ts';
import type { HostWire } from '../canonical/wire-names.ts';
import type { Framing } from '../money/framing.ts';
import type { Price } from '../money/price.ts';

export const TOKENIZERS = ['o200k_base', 'cl100k_base'] as const;
export type Tokenizer = (typeof TOKENIZERS)[number];

/** How a model of the messages wire takes its reasoning effort: as a token budget, or as a word. */
export const THINKING_CONTROLS = ['budget', 'effort'] as const;
export type ThinkingControl = (typeof THINKING_CONTROLS)[number];

/**
 * When a model's hosts write to their prompt cache: only where the request marks it, or also on their own. Such writes
 * have the default lifetime.
 */
export const CACHE_WRITERS = ['marked', 'automatic'] as const;
export type CacheWriter = (typeof CACHE_WRITERS)[number];

/** How many tokens of the model one token of our tokenizer may become at most, and the source of that figure. */
export interface TokenFactor {
  factor: number;
  source: string;
}

/** A host that serves a model, and its name for it. */
export interface HostedModel {
  host: string;
  model: string;
  /** The wire for this model; absent: the host's first. */
  wire?: HostWire;
  /** What this host charges; absent: the catalog's price. */
  price?: Price;
}

/** A model that can be called and billed. */
export interface CatalogModel {
  id: string;
  name: string;
  vendor: string;
  createdSeconds: number;
  aliases: readonly string[];
  caps: ReadonlySet<Capability>;
  contextWindow: number;
  /** 0 for a model without output tokens, like an embedding model. */
  maxOutputTokens: number;
  /** Null: tokens can only be bounded, not counted exactly. */
  tokenizer: Tokenizer | null;
  /** For counting prompts of a model whose tokenizer is not known. */
  tokenFactor: TokenFactor;
  /** What its hosts add to a prompt. */
  framing: Framing;
  /** Most input tokens of one image; null if the model accepts no images. */
  imageTokensMax: number | null;
  /** Empty if the model has no choice of effort. */
  reasoningEfforts: readonly Effort[];
  /** Absent if the model is not of the messages wire, or does not reason. */
  thinking?: ThinkingControl;
  /** The model rejects temperature and similar parameters. */
  fixedSampling: boolean;
  /** Callers of the chat wire reach it only on the responses wire, which has no stop sequences. */
  lacksStop?: true;
  embedding: { dimensions: number | null; matryoshka: boolean } | null;
  cacheWriter: CacheWriter;
  price: Price;
  /** Configured hosts only, the cheapest first. */
  hosts: readonly HostedModel[];
}
