import { GatewayError } from '../canonical/errors.ts';
import type { CatalogModel } from '../catalog/model.ts';
import { LIMITS } from '../limits.ts';
import type { Peek } from '../wires/peek.ts';
import type { CountedPrompt, PromptCounter } from './counting/counted-prompt.ts';

/** Hardly any text has fewer tokens than this, so a longer prompt is known to exceed the window from its beginning. */
const FAR_BYTES_PER_TOKEN = 8;
/** A word and the white space after it have at least this many bytes on average; shorter prompts need not be read. */
const LEAST_BYTES_PER_TOKEN = 4;

/** No text has more tokens than bytes. The window applies to each prompt of a batch, so batches are left to the host. */
export function mayExceedWindow({ contextWindow }: CatalogModel, peek: Peek): boolean {
  const { size, prompts = 1 } = peek;
  return (bytesRead(peek) > contextWindow || size.tokenIds > contextWindow) && prompts <= 1;
}

/** An upper bound on the bytes of the texts that `leastTokens` reads. */
function bytesRead({ size, countsAsSchema }: Peek): number {
  return countsAsSchema === true ? size.toolBytes : size.textBytes;
}

/** Refuses a prompt that no tokenizer could fit into the window. Token ids are counted already. */
export function refuseFarOver(model: CatalogModel, peek: Peek, counter: PromptCounter): void {
  const { tokenizer, contextWindow } = model;
  checkWindow(model, peek, peek.size.tokenIds);
  const bytesPerToken = tokenizer === null ? LEAST_BYTES_PER_TOKEN : FAR_BYTES_PER_TOKEN;
  if (bytesRead(peek) <= contextWindow * bytesPerToken) return;
  checkWindow(model, peek, counter.leastTokens(contextWindow));
}

/**
 * Counts a prompt with the model's own tokenizer, and refuses it if it exceeds the window. A much longer one is refused
 * by its beginning. Without a count, the host decides.
 */
export async function countWithinWindow(
  model: CatalogModel,
  peek: Peek,
  counter: PromptCounter,
): Promise<CountedPrompt | null> {
  const { contextWindow } = model;
  if (peek.size.textBytes > contextWindow * FAR_BYTES_PER_TOKEN) {
    const chars = Math.min(contextWindow * FAR_BYTES_PER_TOKEN, LIMITS.tokenCountCharsMax);
    const beginning = await counter.countPrefix(model, chars);
    if (beginning !== null) checkWindow(model, peek, beginning);
  }
  const prompt = await counter.count(model);
  if (prompt !== null && prompt.textTokens > contextWindow) checkWindow(model, peek, prompt.leastTextTokens());
  return prompt;
}

/** The words "maximum context length" are what clients recognise this error by. */
function checkWindow({ id, contextWindow }: CatalogModel, { promptParam }: Peek, leastTokens: number): void {
  if (leastTokens <= contextWindow) return;
  throw new GatewayError('context_length_exceeded', {
    param: promptParam ?? 'messages',
    message: `The maximum context length of ${id} is ${contextWindow} tokens, but the prompt has at least ${leastTokens} tokens. Shorten the prompt.`,
  });
}
