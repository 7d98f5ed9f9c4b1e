import type { PromptSize } from '../canonical/prompt-size.ts';

const BYTES_PER_TOKEN = 4;
/** An image of about one megapixel, as most vendors count it. */
const TOKENS_PER_IMAGE = 765;
/** A document of one or two pages. */
const TOKENS_PER_DOCUMENT = 3_000;

/** An estimate for when the host gave no count. For charges, never for holds: it may be too low. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

export function estimateInputTokens(size: PromptSize): number {
  const shown = size.images * TOKENS_PER_IMAGE + (size.documents ?? 0) * TOKENS_PER_DOCUMENT;
  return estimateTokens(size.textBytes + size.toolBytes) + size.tokenIds + shown;
}
