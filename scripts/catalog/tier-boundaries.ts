import type { PriceFigures } from './figures.ts';

/** Where a vendor's higher rates begin. */
interface TierBoundary {
  /** The higher rates apply to requests with more input tokens than this. */
  readonly aboveInputTokens: number;
  /** The vendor's own page, to check it against. */
  readonly page: string;
}

const OPENAI_PAGE = 'platform.openai.com/docs/pricing';
const GOOGLE_PAGE = 'ai.google.dev/gemini-api/docs/pricing';
const ANTHROPIC_PAGE = 'docs.claude.com/en/docs/about-claude/pricing';
const XAI_PAGE = 'docs.x.ai/docs/models';

/** Sources write the same boundary as "from N" or as "above N". Here it has one meaning: more than N. */
const TIER_BOUNDARIES: Readonly<Record<string, readonly TierBoundary[]>> = {
  openai: [{ aboveInputTokens: 272_000, page: OPENAI_PAGE }],
  google: [{ aboveInputTokens: 200_000, page: GOOGLE_PAGE }],
  anthropic: [
    { aboveInputTokens: 100_000, page: ANTHROPIC_PAGE },
    { aboveInputTokens: 200_000, page: ANTHROPIC_PAGE },
  ],
  xai: [{ aboveInputTokens: 200_000, page: XAI_PAGE }],
};

interface TierTerms {
  readonly model: string;
  readonly vendor: string;
  readonly contextWindow: number;
  report(line: string): void;
}

/** Moves every tier to its vendor's boundary, and reports each one with the page to check it against. */
export function alignTiers(price: PriceFigures, terms: TierTerms): PriceFigures {
  return { ...price, tiers: price.tiers.map((tier) => ({ ...tier, above_input_tokens: alignTier(tier, terms) })) };
}

function alignTier({ above_input_tokens: found }: { above_input_tokens: number }, terms: TierTerms): number {
  const { model, vendor, contextWindow, report } = terms;
  const boundary = TIER_BOUNDARIES[vendor]?.find(({ aboveInputTokens }) => Math.abs(aboveInputTokens - found) <= 1);
  const above = boundary?.aboveInputTokens ?? found;
  if (boundary === undefined) report(`${model}: a tier above ${found}, which is not a known boundary of ${vendor}.`);
  else report(`${model}: a tier above ${above} (the sources say ${found}); check it against ${boundary.page}.`);
  if (above >= contextWindow) report(`${model}: the tier above ${above} lies beyond its window of ${contextWindow}.`);
  return above;
}
