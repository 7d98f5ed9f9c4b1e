import type { WireName } from '../../src/canonical/wire-names.ts';
import type { CatalogModel, TokenFactor, Tokenizer } from '../../src/catalog/model.ts';
import { readBody } from '../../src/gateway/read-call.ts';
import { boundCountedTokens, boundInputTokens, type InputLimits } from '../../src/money/bound-tokens.ts';
import { countPrompt } from '../../src/money/counted-bound.ts';
import { type KnownTokenizer, measureExactly, measureRuns, toolRenderings } from '../../src/money/measure-text.ts';
import { worstCase } from '../../src/money/worst-case.ts';
import { promptTexts } from '../../src/wires/prompt-texts.ts';
import { WIRES } from '../../src/wires/registry.ts';
import { cl100k, finish, o200k } from './quality.ts';

export type Tokenizers = Readonly<Record<Tokenizer, KnownTokenizer>>;

export async function loadTokenizers(): Promise<Tokenizers> {
  return { o200k_base: await o200k(), cl100k_base: await cl100k() };
}

type BoundedModel = Omit<InputLimits, 'tokenizer'> & {
  readonly tokenizer: Tokenizer | null;
  readonly tokenFactor: Pick<TokenFactor, 'factor'>;
};

/** Both bounds on the input tokens of a request, computed as the gateway does. */
export function boundsOf(wire: WireName, body: Buffer, model: BoundedModel, tokenizers: Tokenizers) {
  const text = readBody(body);
  const { size, prompts = 1 } = WIRES[wire].client.peek(text, {});
  const exact = model.tokenizer !== null;
  const known = tokenizers[model.tokenizer ?? 'o200k_base'];
  const measure = (one: string) => finish((exact ? measureExactly : measureRuns)(one, known));
  const { texts, toolTexts } = promptTexts(wire, text);
  const count = countPrompt(
    texts.map(measure),
    toolTexts.map((one) => toolRenderings(one).map(measure)),
    { exact, factor: model.tokenFactor.factor },
  );
  return {
    byBytes: boundInputTokens(size, model, prompts),
    counted: boundCountedTokens(size, model, count, prompts),
  };
}

export interface HeldBounds extends ReturnType<typeof boundsOf> {
  /** The bound that the call is held by. */
  readonly held: number;
}

/** The defaults of `limits.count_above_nanousd`, and of the share of the prompt in the hold. */
const COUNT_ABOVE_NANOUSD = 50_000_000n;
const NOTICEABLE_SHARE = 10n;

/** Both bounds, and which of them the gateway uses under its default settings. */
export function heldOf(wire: WireName, body: Buffer, model: CatalogModel, tokenizers: Tokenizers): HeldBounds {
  const bounds = boundsOf(wire, body, model, tokenizers);
  const { outputLimit, defaultOutputLimit, answers } = WIRES[wire].client.peek(readBody(body), {});
  const outputBound = (outputLimit?.tokens ?? defaultOutputLimit) * answers;
  const { worstNanousd, inputNanousd } = worstCase({ price: model.price, inputBound: bounds.byBytes, outputBound });
  const isCounted = worstNanousd > COUNT_ABOVE_NANOUSD && inputNanousd * NOTICEABLE_SHARE >= worstNanousd;
  return { ...bounds, held: isCounted ? bounds.counted : bounds.byBytes };
}

/** The tokens of all texts and tools as they were sent. */
export function promptTokens(wire: WireName, body: Buffer, { countTokens }: KnownTokenizer): number {
  const { texts, toolTexts } = promptTexts(wire, readBody(body));
  return [...texts, ...toolTexts].reduce((sum, text) => sum + countTokens(text), 0);
}

export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
