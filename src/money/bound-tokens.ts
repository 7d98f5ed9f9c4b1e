import type { PromptSize } from '../canonical/prompt-size.ts';
import { LIMITS } from '../limits.ts';

export interface InputLimits {
  /** The most tokens one prompt can have: a host refuses what is longer. */
  readonly contextWindow: number;
  readonly imageTokensMax: number | null;
}

/** The most input tokens a host can bill: no tokenizer makes more tokens than there are bytes. For holds, never for charges. */
export function boundInputTokens(size: PromptSize, model: InputLimits, prompts = 1): number {
  const window = model.contextWindow * prompts;
  if (size.images > 0 && model.imageTokensMax === null) return window;
  const bound =
    size.textBytes +
    size.toolBytes * LIMITS.toolBytesInflationMax +
    size.tokenIds +
    size.images * (model.imageTokensMax ?? 0) +
    framingTokens(size);
  return Math.min(window, bound);
}

/** The same prompt with its text counted by the model's own tokenizer: exact tokens take the place of bytes. */
export function withCountedText(size: PromptSize, textTokens: number): PromptSize {
  return { ...size, textBytes: 0, tokenIds: size.tokenIds + textTokens };
}

/** What hosts write around the caller's words. */
function framingTokens(size: PromptSize): number {
  return (
    LIMITS.promptFramingTokens +
    size.messages * LIMITS.messageFramingTokens +
    size.tools * LIMITS.toolFramingTokens +
    (size.tools > 0 ? LIMITS.toolPreambleTokens : 0)
  );
}

export interface OutputShape {
  /** Answers the host is asked for: max(n, best_of) times the prompts. */
  readonly choices: number;
  /** The most reasoning the host may bill beside the limit, per answer; 0 where reasoning counts towards it. */
  readonly reasoningOutsideLimit?: number;
}

/** The most output tokens a host can bill under the limit that is really sent to it. */
export function boundOutputTokens(outputLimit: number, { choices, reasoningOutsideLimit = 0 }: OutputShape): number {
  const bound = (outputLimit + reasoningOutsideLimit) * choices;
  if (!Number.isSafeInteger(bound))
    throw new RangeError(`No bound can be counted for ${choices} × ${outputLimit} tokens.`);
  return bound;
}
