import type { DocumentSize, PromptSize } from '../canonical/prompt-size.ts';

const BYTES_PER_TOKEN = 4;
/** An image of about one megapixel, as most vendors count it. */
const TOKENS_PER_IMAGE = 765;
/** A page of a PDF has about 60 KB and 2,000 tokens, but some are scanned and some are text only. */
const PAGED_BYTES_PER_TOKEN = 30;
/** One or two pages, and the 100 pages that most vendors accept: scans would otherwise be overestimated. */
const PAGED_TOKENS_MIN = 3_000;
const PAGED_TOKENS_MAX = 200_000;

/** An estimate for when the host gave no count. For charges, never for holds: it may be too low. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

export function estimateInputTokens(size: PromptSize): number {
  const { images, documents = [] } = size;
  const shown = images * TOKENS_PER_IMAGE + documents.reduce((sum, one) => sum + documentTokens(one), 0);
  return estimateTokens(size.textBytes + size.toolBytes) + size.tokenIds + shown;
}

function documentTokens({ bytes, isText }: DocumentSize): number {
  if (isText) return estimateTokens(bytes);
  const tokens = Math.ceil(bytes / PAGED_BYTES_PER_TOKEN);
  return Math.min(Math.max(tokens, PAGED_TOKENS_MIN), PAGED_TOKENS_MAX);
}
