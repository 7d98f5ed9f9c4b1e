import type { PromptTexts } from '../canonical/prompt-size.ts';
import type { CatalogModel } from '../catalog/model.ts';
import type { JsonText } from '../json/json.ts';
import { LIMITS } from '../limits.ts';
import type { PromptCount } from '../money/count-tokens.ts';
import { countSurplus, leastTokens, pieceTokensMax, prefixOf } from '../money/least-tokens.ts';
import type { Call } from './call.ts';
import type { PromptCounter } from './counted-prompt.ts';
import type { Gateway } from './gateway.ts';

/** Counts the prompt of one call. */
export function counterFor(
  { countTokens, tokenFactors }: Gateway,
  { caller, wire }: Call,
  text: JsonText,
): PromptCounter {
  const texts = () => wire.client.texts(text);
  const countTexts = (model: CatalogModel, counted: PromptTexts) => {
    const { tokenizer } = model;
    const account = String(caller.accountId);
    const owner = caller.keyId === null ? account : String(caller.keyId);
    const terms = { exact: tokenizer !== null, factor: tokenFactors.of(model) };
    return countTokens.count({ owner, account, encoding: tokenizer ?? NEAREST_TOKENIZER, terms }, counted);
  };
  const leastOf = ({ textTokens }: PromptCount, counted: readonly string[]) =>
    textTokens - countSurplus(counted, LIMITS.tokenCountPieceCharsMax);
  return {
    count: async (model) => {
      const count = await countTexts(model, texts());
      if (count === null) return null;
      return { ...count, factor: tokenFactors.of(model), leastTextTokens: () => leastOf(count, texts().texts) };
    },
    countPrefix: async (model, chars) => {
      const prefix = prefixOf(texts().texts, chars);
      const count = prefix === null ? null : await countTexts(model, { texts: prefix, toolTexts: [] });
      // The last piece of the beginning may be a part of a longer one, which can have fewer tokens.
      return count === null ? null : leastOf(count, prefix!) - pieceTokensMax(LIMITS.tokenCountPieceCharsMax);
    },
    leastTokens: (enough) => leastTokens(texts().texts, enough),
  };
}

/** What prompts are counted with if the model's own tokenizer is not known. Factors in the catalog refer to it. */
const NEAREST_TOKENIZER = 'o200k_base';
