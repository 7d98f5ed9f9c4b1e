import type { PromptSize } from '../canonical/prompt-size.ts';
import { ZERO_USAGE } from '../canonical/usage.ts';
import { costOf } from './cost.ts';
import { estimateInputTokens } from './estimate-tokens.ts';
import type { Price } from './price.ts';

/** The length of a usual answer, if the output limit allows so much; a call may ask for several. */
const LIKELY_OUTPUT_TOKENS = 512;

interface LikelyCall {
  readonly price: Price;
  readonly size: PromptSize;
  /** The probable tokens of texts and tools; null if they were not counted. */
  readonly promptTokens: number | null;
  readonly inputBound: number;
  /** Of all answers together. */
  readonly outputBound: number;
  readonly answers: number;
}

/** What a call will probably cost: its prompt without anything cached, and short answers. For quotes only. */
export function likelyCost(call: LikelyCall): bigint {
  const { price, size, promptTokens, inputBound, outputBound, answers } = call;
  const texts = { ...size, textBytes: 0, toolBytes: 0 };
  const input = promptTokens === null ? estimateInputTokens(size) : promptTokens + estimateInputTokens(texts);
  const freshTokens = Math.min(input, inputBound);
  const outputTokens = Math.min(LIKELY_OUTPUT_TOKENS * answers, outputBound);
  return costOf(price, { ...ZERO_USAGE, freshTokens, outputTokens }).costNanousd;
}
