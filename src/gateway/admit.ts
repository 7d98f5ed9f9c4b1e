import type { CacheWrites } from '../canonical/cache-writes.ts';
import { ROUTE_OF_CAPABILITY } from '../canonical/capability.ts';
import { GatewayError } from '../canonical/errors.ts';
import { effortOfBudget, nearestEffort } from '../canonical/reasoning.ts';
import type { CanonicalReasoning } from '../canonical/request.ts';
import type { CatalogModel } from '../catalog/model.ts';
import { counted } from '../kit/counted.ts';
import { boundCountedTokens, boundInputTokens, boundOutputTokens } from '../money/bound-tokens.ts';
import { estimateInputTokens } from '../money/estimate-tokens.ts';
import { worstCase } from '../money/worst-case.ts';
import type { Clamped } from '../wires/adjustments.ts';
import type { CapabilityNeed, Peek } from '../wires/peek.ts';
import { countWithinWindow, mayExceedWindow, refuseFarOver } from './check-window.ts';
import type { CountedPrompt, PromptCounter } from './counting/counted-prompt.ts';

/** The admitted model with its output limit and worst case. The hold and the host's request are built from it. */
export interface Admission {
  readonly model: CatalogModel;
  readonly outputLimit: number;
  /** The caller's output limit, if it was lowered to the model's maximum. */
  readonly clamped: Clamped | null;
  readonly reasoningEffort: string | null;
  readonly answers: number;
  readonly inputBound: number;
  /** Price tiers up to this input can be reached. */
  readonly tierBound: number;
  readonly outputBound: number;
  readonly cacheWrites: CacheWrites;
  readonly inputEstimateTokens: number;
  readonly worstNanousd: bigint;
  /** The part of the worst case that is for the input. */
  readonly inputNanousd: bigint;
  /** The count that the bounds are computed from; null if they are computed from the bytes. */
  readonly counted: CountedAdmission | null;
}

interface CountedAdmission {
  readonly prompt: CountedPrompt;
  /** The same admission by bytes: a host cannot bill more than that. */
  readonly byBytes: Admission;
}

/**
 * Checks the request against the model, in the documented order, and throws the first refusal. Only token counting is
 * asynchronous. With `mayAdjust`, an output limit above the model's maximum is lowered instead of refused.
 */
export function admit(
  model: CatalogModel,
  peek: Peek,
  counter: PromptCounter,
  mayAdjust = false,
): Admission | Promise<Admission> {
  checkNeeds(model, peek.needs);
  checkDimensions(model, peek);
  const clamped = mayAdjust ? clampedLimit(model, peek) : null;
  const outputLimit = clamped?.tokens ?? outputLimitOf(model, peek);
  const reasoningEffort = effortFor(model, peek, outputLimit);
  const byBytes = boundsFor({ model, outputLimit, clamped, reasoningEffort }, peek);
  if (!mayExceedWindow(model, peek)) return byBytes;
  refuseFarOver(model, peek, counter);
  if (model.tokenizer === null) return byBytes;
  return countWithinWindow(model, peek, counter).then((prompt) =>
    prompt === null ? byBytes : admissionByCount(byBytes, peek, prompt),
  );
}

/** The same admission with the prompt counted, for when the bound by bytes costs too much; null if it cannot be lower. */
export async function admitByCount(
  admission: Admission,
  peek: Peek,
  counter: PromptCounter,
): Promise<Admission | null> {
  if (admission.counted !== null) return null;
  const prompt = await counter.count(admission.model);
  return prompt === null ? null : admissionByCount(admission, peek, prompt);
}

function admissionByCount(byBytes: Admission, peek: Peek, prompt: CountedPrompt): Admission {
  return boundsFor(byBytes, peek, { prompt, byBytes });
}

/** An admission whose bounds are still to be computed. */
type Unbounded = Pick<Admission, 'model' | 'outputLimit' | 'clamped' | 'reasoningEffort'>;

/** The most this call can use, and so the most it can cost. */
function boundsFor(
  { model, outputLimit, clamped, reasoningEffort }: Unbounded,
  peek: Peek,
  counted: CountedAdmission | null = null,
): Admission {
  const { answers, size, prompts } = peek;
  const inputBound =
    counted === null
      ? boundInputTokens(size, model, prompts)
      : boundCountedTokens(size, model, counted.prompt, prompts);
  const tierBound =
    counted === null ? inputBound : Math.min(Math.ceil(inputBound * TIER_MARGIN), counted.byBytes.inputBound);
  const outputBound = boundOutputTokens(outputLimit, { choices: answers });
  const cacheWrites = cacheWritesOf(model, peek);
  const { worstNanousd, inputNanousd } = worstCase({
    price: model.price,
    inputBound,
    tierBound,
    outputBound,
    cacheWrites,
  });
  const inputEstimateTokens = Math.min(estimateInputTokens(size), inputBound);
  return {
    model,
    outputLimit,
    clamped,
    reasoningEffort,
    answers,
    inputBound,
    tierBound,
    outputBound,
    cacheWrites,
    inputEstimateTokens,
    worstNanousd,
    inputNanousd,
    counted,
  };
}

/** A count may fall short, and a price tier applies to the whole request, so a tier counts as reached earlier. */
const TIER_MARGIN = 1.25;

/** The cache writes that this call can be billed for: those that it asks for, and those that its hosts make on their own. */
function cacheWritesOf({ cacheWriter }: CatalogModel, { cacheWrites = 'none' }: Peek): CacheWrites {
  return cacheWrites === 'none' && cacheWriter === 'automatic' ? 'default' : cacheWrites;
}

/** Whether the model serves this route at all, apart from what else the request needs. */
export function servesRoute(model: CatalogModel, needs: Peek['needs']): boolean {
  return needs.every((need) => need.param !== 'model' || meets(model, need));
}

/** Whether the model has every capability that the request needs. */
export function meetsNeeds(model: CatalogModel, needs: Peek['needs']): boolean {
  return needs.every((need) => meets(model, need));
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
  if (peek.outputLimit.tokens <= model.maxOutputTokens) return peek.outputLimit.tokens;
  throw aboveMaximum(model, peek.outputLimit);
}

function aboveMaximum({ id, maxOutputTokens }: CatalogModel, { tokens, field }: Clamped): GatewayError {
  return new GatewayError('invalid_value', {
    param: field,
    message: `\`${field}\` is ${tokens}, but ${id} writes at most ${counted(maxOutputTokens, 'token')}.`,
  });
}

/** The same refusal of a limit that was lowered, for a budget in a field that admission does not read. */
export function checkClamped(
  { model, clamped }: Admission,
  { outputLimit }: Peek,
  asked: CanonicalReasoning | null,
): void {
  if (clamped === null || outputLimit === null || (asked?.budgetTokens ?? 0) < clamped.tokens) return;
  throw aboveMaximum(model, outputLimit);
}

/** The model's maximum, if the caller's limit exceeds it; null if not, or if a reasoning budget would not fit into it. */
function clampedLimit({ maxOutputTokens }: CatalogModel, { outputLimit, reasoning }: Peek): Clamped | null {
  if (outputLimit === null || outputLimit.tokens <= maxOutputTokens) return null;
  const budgetTokens = reasoning?.budgetTokens ?? 0;
  return budgetTokens < maxOutputTokens ? { field: outputLimit.field, tokens: maxOutputTokens } : null;
}

/** The reasoning effort to send; null if the model has no effort setting or the caller set none. */
export function effortFor(
  model: Pick<CatalogModel, 'reasoningEfforts'>,
  { reasoning: ask }: { readonly reasoning: CanonicalReasoning | null },
  outputLimit: number,
): string | null {
  if (ask === null) return null;
  if (ask.effort !== null) return nearestEffort(ask.effort, model.reasoningEfforts);
  if (ask.budgetTokens === null) return null;
  // A budget, however small, is a request to reason.
  const efforts = model.reasoningEfforts.filter((effort) => effort !== 'none');
  return nearestEffort(effortOfBudget(ask.budgetTokens, outputLimit), efforts);
}
