import type { CatalogModel } from '../../catalog/model.ts';
import type { PromptCount } from '../../money/counted-bound.ts';

/** Counts a call's prompt. */
export interface PromptCounter {
  /** Null if that is not possible. */
  count(model: CatalogModel): Promise<CountedPrompt | null>;
  /** The fewest tokens of the beginning of the texts; null if they cannot be counted, or if the beginning is the whole text. */
  countPrefix(model: CatalogModel, chars: number): Promise<number | null>;
  /** The fewest tokens that any tokenizer makes of the texts; counting stops above `enough`. */
  leastTokens(enough: number): number;
}

export interface CountedPrompt extends PromptCount {
  /** How many of the model's tokens one counted token may be. */
  readonly factor: number;
  /** The tokens of the texts without what the count may have added. */
  leastTextTokens(): number;
}
