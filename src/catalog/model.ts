import type { Capability } from '../canonical/capability.ts';
import type { Effort } from '../canonical/reasoning.ts';
import type { HostWire } from '../canonical/wire-names.ts';
import type { Price } from '../money/price.ts';

export const TOKENIZERS = ['o200k_base', 'cl100k_base'] as const;
export type Tokenizer = (typeof TOKENIZERS)[number];

/** How a model of the messages wire is told how much to think: tokens it may spend, or a word. */
export const THINKING_CONTROLS = ['budget', 'effort'] as const;
export type ThinkingControl = (typeof THINKING_CONTROLS)[number];

/** Where a host serves a model, and the name the host knows it by. */
export interface HostedModel {
  host: string;
  model: string;
  /** The wire on which this host serves this model; absent: the host's own. */
  wire?: HostWire;
  /** What this host charges us; absent where nobody said, and then it counts as the catalog's price. */
  price?: Price;
}

/** One model that can be asked for and billed. */
export interface CatalogModel {
  id: string;
  name: string;
  vendor: string;
  createdSeconds: number;
  aliases: readonly string[];
  caps: ReadonlySet<Capability>;
  contextWindow: number;
  /** 0 for a model that writes no tokens, as an embedding model. */
  maxOutputTokens: number;
  /** null: its tokens cannot be counted exactly, only bounded. */
  tokenizer: Tokenizer | null;
  /** The most input tokens one image can count as; null where the model sees none. */
  imageTokensMax: number | null;
  /** Empty where the model has no choice of effort. */
  reasoningEfforts: readonly Effort[];
  /** Absent where the model is not of the messages wire, or does not think. */
  thinking?: ThinkingControl;
  /** The model refuses temperature and its kin. */
  fixedSampling: boolean;
  embedding: { dimensions: number | null; matryoshka: boolean } | null;
  price: Price;
  /** Configured hosts only, the cheapest first. */
  hosts: readonly HostedModel[];
}
