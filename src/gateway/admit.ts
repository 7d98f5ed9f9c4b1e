import type { CacheWrites } from '../canonical/cache-writes.ts';
import { ROUTE_OF_CAPABILITY } from '../canonical/capability.ts';
import { GatewayError } from '../canonical/errors.ts';
import type { PromptSize } from '../canonical/prompt-size.ts';
import { effortOfBudget, nearestEffort } from '../canonical/reasoning.ts';
import type { CatalogModel } from '../catalog/model.ts';
import { boundInputTokens, boundOutputTokens, withCountedText } from '../money/bound-tokens.ts';
import { estimateInputTokens } from '../money/estimate-tokens.ts';
import { worstCase } from '../money/worst-case.ts';
import type { Clamped } from '../wires/adjustments.ts';
import type { CapabilityNeed, Peek } from '../wires/peek.ts';

/** Counts the tokens of a prompt's text exactly; null if that is not possible. */
export type TextCounter = (encoding: NonNullable<CatalogModel['tokenizer']>) => Promise<{ tokens: number } | null>;

/** The admitted model with its output limit and worst case. The hold and the host's request are built from it. */
export interface Admission {
  readonly model: CatalogModel;
  readonly outputLimit: number;
  /** The caller's output limit, if it was lowered to the model's maximum. */
  readonly clamped: Clamped | null;
  readonly reasoningEffort: string | null;
  readonly answers: number;
  readonly size: PromptSize;
  readonly inputBound: number;
  readonly outputBound: number;
  readonly cacheWrites: CacheWrites;
  readonly inputEstimateTokens: number;
  readonly worstNanousd: bigint;
}

/**
 * Checks the request against the model, in the documented order, and throws the first refusal. Only token counting is
 * asynchronous. With `mayClamp`, an output limit above the model's maximum is lowered instead of refused.
 */
export function admit(
  model: CatalogModel,
  peek: Peek,
  count: TextCounter,
  mayClamp = false,
): Admission | Promise<Admission> {
  checkNeeds(model, peek.needs);
  checkDimensions(model, peek);
  const clamped = mayClamp ? clampedLimit(model, peek) : null;
  const outputLimit = clamped?.tokens ?? outputLimitOf(model, peek);
  const reasoningEffort = effortFor(model, peek, outputLimit);
  const chosen = { model, outputLimit, clamped, reasoningEffort };
  const { tokenizer } = model;
  if (tokenizer === null || !mayExceedWindow(model, peek)) return boundsFor(peek, peek.size, chosen);
  return count(tokenizer).then((counted) => boundsFor(peek, sizeWithinWindow(model, peek, counted), chosen));
}

/** The same admission with the text counted by the model's tokenizer, for when the bound by bytes costs too much. */
export async function admitByCount(admission: Admission, peek: Peek, count: TextCounter): Promise<Admission | null> {
  const { model } = admission;
  if (model.tokenizer === null || admission.size !== peek.size) return null;
  const counted = await count(model.tokenizer);
  if (counted === null) return null;
  const size = withCountedText(peek.size, counted.tokens);
  return boundsFor(peek, size, admission);
}

type Chosen = Pick<Admission, 'model' | 'outputLimit' | 'clamped' | 'reasoningEffort'>;

/** The most this call can use, and so the most it can cost. */
function boundsFor(peek: Peek, size: PromptSize, chosen: Chosen): Admission {
  const { model, outputLimit, clamped, reasoningEffort } = chosen;
  const { answers } = peek;
  const inputBound = boundInputTokens(size, model, peek.prompts);
  const outputBound = boundOutputTokens(outputLimit, { choices: answers });
  const cacheWrites = cacheWritesOf(model, peek);
  const { worstNanousd } = worstCase({ price: model.price, inputBound, outputBound, cacheWrites });
  const inputEstimateTokens = Math.min(estimateInputTokens(peek.size), inputBound);
  return {
    model,
    outputLimit,
    clamped,
    reasoningEffort,
    answers,
    size,
    inputBound,
    outputBound,
    cacheWrites,
    inputEstimateTokens,
    worstNanousd,
  };
}

/** The cache writes that this call can be billed for: those that it asks for, and those that its hosts do unasked. */
function cacheWritesOf({ cacheWriter }: CatalogModel, { cacheWrites = 'none' }: Peek): CacheWrites {
  return cacheWrites === 'none' && cacheWriter === 'automatic' ? 'default' : cacheWrites;
}

/** Whether the model serves this route at all, apart from what else the request needs. */
export function servesRoute(model: CatalogModel, needs: Peek['needs']): boolean {
  return needs.every((need) => need.param !== 'model' || meets(model, need));
}

function meets(model: CatalogModel, { capability }: CapabilityNeed): boolean {
  return typeof capability === 'string' ? model.caps.has(capability) : capability.some((one) => model.caps.has(one));
}

export function checkNeeds(model: CatalogModel, needs: Peek['needs']): void {
  for (const need of needs) {
    if (meets(model, need)) continue;
    const { param } = need;
    const capability = [need.capability].flat().join(' or ');
    if (param === 'model') {
      throw new GatewayError('wrong_wire', {
        param,
        message: `${model.id} is not a model for ${capability}. Send it to ${routesOf(model)}, or name another model.`,
      });
    }
    throw new GatewayError('missing_capability', {
      param,
      message: `${model.id} has no capability "${capability}", which \`${param}\` needs. GET /v1/models lists the capabilities of each model.`,
    });
  }
}

function routesOf({ caps }: CatalogModel): string {
  return [...caps].flatMap((capability) => ROUTE_OF_CAPABILITY[capability] ?? []).join(' or ');
}

/** Only Matryoshka embeddings can be shortened. If the host cannot do it, we do. */
function checkDimensions({ id, embedding }: CatalogModel, { dimensions }: Peek): void {
  if (dimensions === undefined || dimensions === null || embedding === null) return;
  const { dimensions: whole, matryoshka } = embedding;
  if (dimensions === whole || (matryoshka && (whole === null || dimensions < whole))) return;
  const allowed = matryoshka ? `at most ${whole}` : `${whole ?? 'left out'}`;
  throw new GatewayError('invalid_value', {
    param: 'dimensions',
    message: `\`dimensions\` is ${dimensions}, but for ${id} it must be ${allowed}.`,
  });
}

function outputLimitOf(model: CatalogModel, peek: Peek): number {
  if (peek.outputLimit === null) return Math.min(peek.defaultOutputLimit, model.maxOutputTokens);
  const { tokens, field } = peek.outputLimit;
  if (tokens <= model.maxOutputTokens) return tokens;
  throw new GatewayError('invalid_value', {
    param: field,
    message: `\`${field}\` is ${tokens}, but ${model.id} writes at most ${model.maxOutputTokens} tokens.`,
  });
}

/** The model's maximum, if the caller's limit exceeds it; null if not, or if a reasoning budget would not fit into it. */
function clampedLimit({ maxOutputTokens }: CatalogModel, { outputLimit, reasoning }: Peek): Clamped | null {
  if (outputLimit === null || outputLimit.tokens <= maxOutputTokens) return null;
  const budgetTokens = reasoning?.budgetTokens ?? 0;
  return budgetTokens < maxOutputTokens ? { field: outputLimit.field, tokens: maxOutputTokens } : null;
}

/** The reasoning effort to send; null if the model has no effort setting or the caller set none. */
function effortFor(model: CatalogModel, peek: Peek, outputLimit: number): string | null {
  const ask = peek.reasoning;
  if (ask === null) return null;
  const asked = ask.effort ?? (ask.budgetTokens === null ? null : effortOfBudget(ask.budgetTokens, outputLimit));
  return asked === null ? null : nearestEffort(asked, model.reasoningEfforts);
}

/** No text has more tokens than bytes. */
function mayExceedWindow(model: CatalogModel, { size, prompts = 1 }: Peek): boolean {
  return size.textBytes > model.contextWindow && prompts <= 1;
}

/** A request is refused for the context window only by an exact count. Without one, the host decides. */
function sizeWithinWindow(
  model: CatalogModel,
  { size, promptParam = 'messages' }: Peek,
  counted: { tokens: number } | null,
): PromptSize {
  if (counted === null) return size;
  if (counted.tokens > model.contextWindow) {
    throw new GatewayError('context_length_exceeded', {
      param: promptParam,
      message: `The prompt has at least ${counted.tokens} tokens; the window of ${model.id} is ${model.contextWindow}. Shorten the prompt.`,
    });
  }
  return withCountedText(size, counted.tokens);
}
