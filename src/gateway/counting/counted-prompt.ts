import type { CatalogModel } from '../../catalog/model.ts';
import type { PromptCount } from '../../money/counted-bound.ts';

/** Counts a call's prompt. */
export interface PromptCounter {
  /** Null if that is not possible. */
  count(model: CatalogModel): Promise<CountedPrompt | null>;
  /** The fewest tokens that the beginning of the texts has; null if it cannot be counted, or if it is the whole. */
  countPrefix(model: CatalogModel, chars: number): Promise<number | null>;
  /** The fewest tokens that the texts have under any tokenizer; it stops when there are more than `enough`. */
  leastTokens(enough: number): number;
}

export interface CountedPrompt extends PromptCount {
  /** How many of the model's tokens one counted token may be. */
  readonly factor: number;
  /** The tokens of the texts without what the count may have added. */
  leastTextTokens(): number;
}
