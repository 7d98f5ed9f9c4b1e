import type { PromptSize, PromptTexts } from '../../canonical/prompt-size.ts';
import type { WireName } from '../../canonical/wire-names.ts';
import type { CatalogModel } from '../../catalog/model.ts';
import type { JsonText } from '../../json/json.ts';
import { LIMITS } from '../../limits.ts';
import type { PromptCount } from '../../money/counted-bound.ts';
import { countSurplus, leastTokens, pieceTokensMax, prefixOf } from '../../money/least-tokens.ts';
import type { Peek } from '../../wires/peek.ts';
import { promptTexts, textsRead } from '../../wires/prompt-texts.ts';
import type { Call } from '../call.ts';
import type { Gateway } from '../gateway.ts';
import type { PromptCounter } from './counted-prompt.ts';
import type { PromptBody } from './token-counter.ts';

/** Counts the prompt of one call. */
export function counterFor(
  { countTokens, tokenFactors }: Gateway,
  { caller, wire }: Call,
  text: JsonText,
  { size }: Pick<Peek, 'size'>,
): PromptCounter {
  const texts = () => promptTexts(wire.name, text);
  const countWith = (model: CatalogModel, prompt: PromptTexts | PromptBody) => {
    const { tokenizer } = model;
    const account = String(caller.accountId);
    const owner = caller.keyId === null ? account : String(caller.keyId);
    const terms = { exact: tokenizer !== null, factor: tokenFactors.of(model) };
    return countTokens.count({ owner, account, encoding: tokenizer ?? NEAREST_TOKENIZER, terms }, prompt);
  };
  const leastOf = ({ textTokens }: PromptCount, counted: readonly string[]) =>
    textTokens - countSurplus(counted, LIMITS.tokenCountPieceCharsMax);
  return {
    count: async (model) => {
      const count = await countWith(model, promptOf(wire.name, text, size));
      if (count === null) return null;
      return { ...count, factor: tokenFactors.of(model), leastTextTokens: () => leastOf(count, texts().texts) };
    },
    countPrefix: async (model, chars) => {
      const prefix = prefixOf(texts().texts, chars);
      const count = prefix === null ? null : await countWith(model, { texts: prefix, toolTexts: [] });
      // The last piece of the beginning may be a part of a longer one, which can have fewer tokens.
      return count === null ? null : leastOf(count, prefix!) - pieceTokensMax(LIMITS.tokenCountPieceCharsMax);
    },
    leastTokens: (enough) => leastTokens(textsRead(wire.name, text), enough),
  };
}

/** What prompts are counted with if the model's own tokenizer is not known. Factors in the catalog refer to it. */
const NEAREST_TOKENIZER = 'o200k_base';

/**
 * The body itself, so that its texts are collected in the counting thread. If images or documents are the larger part of
 * it, collecting the texts here costs less than copying it.
 */
export function promptOf(wire: WireName, text: JsonText, size: PromptSize): PromptTexts | PromptBody {
  const textBytes = size.textBytes + size.toolBytes;
  const otherBytes = text.bytes.length - textBytes;
  if (otherBytes > Math.max(textBytes, LIMITS.tokenCountOtherBytesMax)) return promptTexts(wire, text);
  return { wire, bytes: text.bytes, chars: size.chars ?? textBytes };
}
