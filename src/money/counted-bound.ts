import type { TextMeasure } from './measure-text.ts';

/** How the tokens of a model are bounded by those of a known tokenizer. */
export interface CountTerms {
  /** The known tokenizer is the model's own. */
  readonly exact: boolean;
  /** How many tokens of the model one token of the known tokenizer may become. */
  readonly factor: number;
}

/** A bound on the tokens of a prompt's texts and tools: the sum of the first two members. */
export interface PromptCount {
  /** What does not depend on the factor. */
  readonly fixedTokens: number;
  readonly scaledTokens: number;
  /** The tokens that the texts and tools will probably have. */
  readonly likelyTokens: number;
  /** The tokens of the texts alone; exact if the tokenizer is the model's own. */
  readonly textTokens: number;
}

/** No usual text of ASCII characters has more bytes per token, so a text of chosen words cannot be bounded by less. */
const ASCII_BYTES_PER_TOKEN = 3;
/** Between 1 and 6, depending on the script; only used for the likely count. */
const OTHER_BYTES_PER_TOKEN = 3;

/** Adds up a prompt. Of each tool, the rendering with the most tokens counts. */
export function countPrompt(
  texts: readonly TextMeasure[],
  tools: readonly (readonly TextMeasure[])[],
  terms: CountTerms,
): PromptCount {
  let fixedTokens = 0;
  let scaledTokens = 0;
  let likelyTokens = 0;
  let textTokens = 0;
  for (const measure of texts) {
    const bound = boundOf(measure, terms);
    fixedTokens += bound.fixedTokens;
    scaledTokens += bound.scaledTokens;
    likelyTokens += likelyOf(measure, terms);
    textTokens += measure.tokens;
  }
  for (const renderings of tools) {
    const bound = renderings.map((measure) => boundOf(measure, terms)).reduce(larger);
    fixedTokens += bound.fixedTokens;
    scaledTokens += bound.scaledTokens;
    likelyTokens += likelyOf(renderings[0]!, terms);
  }
  return { fixedTokens, scaledTokens, likelyTokens, textTokens };
}

type TextBound = Pick<PromptCount, 'fixedTokens' | 'scaledTokens'>;

/** No tokenizer makes more tokens than there are bytes. */
function boundOf({ tokens, asciiBytes, otherBytes }: TextMeasure, { exact, factor }: CountTerms): TextBound {
  const scaled = Math.ceil(tokens * factor);
  const bytes = asciiBytes + otherBytes;
  if (exact) return scaled < bytes ? { fixedTokens: 0, scaledTokens: scaled } : { fixedTokens: bytes, scaledTokens: 0 };
  const scaledTokens = Math.max(scaled, Math.ceil(asciiBytes / ASCII_BYTES_PER_TOKEN));
  if (scaledTokens < asciiBytes) return { fixedTokens: otherBytes, scaledTokens };
  return { fixedTokens: bytes, scaledTokens: 0 };
}

function larger(one: TextBound, other: TextBound): TextBound {
  return other.fixedTokens + other.scaledTokens > one.fixedTokens + one.scaledTokens ? other : one;
}

function likelyOf({ tokens, otherBytes }: TextMeasure, { exact }: CountTerms): number {
  return exact ? tokens : tokens + Math.ceil(otherBytes / OTHER_BYTES_PER_TOKEN);
}
