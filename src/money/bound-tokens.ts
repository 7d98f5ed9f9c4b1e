import type { PromptSize } from '../canonical/prompt-size.ts';
import { LIMITS } from '../limits.ts';
import type { PromptCount } from './counted-bound.ts';
import type { Framing } from './framing.ts';

export interface InputLimits {
  /** The most tokens a prompt can have; hosts refuse longer ones. */
  readonly contextWindow: number;
  readonly imageTokensMax: number | null;
  /** Null if it is not known: such a tokenizer may normalise the text. */
  readonly tokenizer: string | null;
  readonly framing: Framing;
}

/** The most input tokens a host can bill: no tokenizer makes more tokens than there are bytes. For holds, never for charges. */
export function boundInputTokens(size: PromptSize, model: InputLimits, prompts = 1): number {
  const normalized = model.tokenizer === null ? (size.normalizedExtraBytes ?? 0) : 0;
  const texts = size.textBytes + size.toolBytes * LIMITS.toolBytesInflationMax + normalized;
  return boundWith(texts, size, model, prompts);
}

/** The same with texts and tools counted instead of bounded by their bytes. Never higher than the bound by bytes. */
export function boundCountedTokens(size: PromptSize, model: InputLimits, count: PromptCount, prompts = 1): number {
  const counted = boundWith(count.fixedTokens + count.scaledTokens, size, model, prompts);
  return Math.min(counted, boundInputTokens(size, model, prompts));
}

function boundWith(textTokens: number, size: PromptSize, model: InputLimits, prompts: number): number {
  const window = model.contextWindow * prompts;
  const hasNoBound = (size.images > 0 && model.imageTokensMax === null) || (size.documents?.length ?? 0) > 0;
  if (hasNoBound) return window;
  const images = size.images * (model.imageTokensMax ?? 0);
  return Math.min(window, textTokens + size.tokenIds + images + framingTokens(size, model.framing, prompts));
}

/** What hosts add to the caller's text. Prompts of one call are read separately, each with its own frame. */
function framingTokens(size: PromptSize, framing: Framing, prompts: number): number {
  const perPrompt = framing.prompt + (size.tools > 0 ? framing.tools : 0);
  return (
    perPrompt * prompts +
    size.messages * framing.message +
    (size.parts ?? 0) * framing.part +
    size.tools * framing.tool * prompts +
    (size.vendorToolTokens ?? 0)
  );
}

export interface OutputShape {
  /** Choices that the host is asked for: max(n, best_of) times the prompts. */
  readonly choices: number;
}

/** The most output tokens that a host can bill under the limit that is sent to it. */
export function boundOutputTokens(outputLimit: number, { choices }: OutputShape): number {
  const bound = outputLimit * choices;
  if (!Number.isSafeInteger(bound))
    throw new RangeError(`The output bound of ${choices} × ${outputLimit} tokens is not a safe integer.`);
  return bound;
}
