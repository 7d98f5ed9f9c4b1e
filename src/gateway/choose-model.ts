import { GatewayError } from '../canonical/errors.ts';
import type { CatalogModel } from '../catalog/model.ts';
import type { Peek } from '../wires/peek.ts';
import { type Admission, admit } from './admit.ts';
import type { PromptCounter } from './counting/counted-prompt.ts';
import type { HostCall } from './host-call.ts';
import type { Resolution } from './resolve.ts';

/** Prepares the calls to an admitted model's hosts; throws if no host can carry the request, without fields that may be dropped. */
type PrepareCalls = (admission: Admission, mayAdjust: boolean) => HostCall[];

/** An admitted model, and the calls to its hosts in the order to try them. */
export interface ChosenModel {
  readonly admission: Admission;
  readonly hostCalls: readonly HostCall[];
}

/** Admits the named model, or the one that the gateway chooses. A named model is usually admitted synchronously. */
export function admitResolved(
  resolution: Exclude<Resolution, { kind: 'unknown' }>,
  peek: Peek,
  counter: PromptCounter,
  prepareCalls: PrepareCalls,
  mayAdjust: boolean,
): ChosenModel | Promise<ChosenModel> {
  if (resolution.kind === 'choice') return chooseModel(resolution.among, peek, counter, prepareCalls, mayAdjust);
  const choose = (admission: Admission): ChosenModel => ({
    admission,
    hostCalls: prepareCalls(admission, mayAdjust),
  });
  const admission = admit(resolution.model, peek, counter, mayAdjust);
  return admission instanceof Promise ? admission.then(choose) : choose(admission);
}

/**
 * Chooses the cheapest model, by worst case, that serves this route, has the needed capabilities and a large enough
 * context window. If any model fits the cost ceiling, this one does. Ties are broken by id. A request is adjusted only if
 * no model can serve it as it is.
 */
async function chooseModel(
  among: readonly CatalogModel[],
  peek: Peek,
  counter: PromptCounter,
  prepareCalls: PrepareCalls,
  mayAdjust: boolean,
): Promise<ChosenModel> {
  const refusals: GatewayError[] = [];
  const able = await admitted(among, peek, countedOnce(counter), refusals, mayAdjust);
  const byCost = able.toSorted(byWorstCase);
  for (const adjusting of mayAdjust ? [false, true] : [false]) {
    for (const admission of byCost) {
      if (!adjusting && admission.clamped !== null) continue;
      const hostCalls = refusedInto(refusals, () => prepareCalls(admission, adjusting));
      if (hostCalls !== null) return { admission, hostCalls };
    }
  }
  throw nothingFits(peek, refusals);
}

async function admitted(
  among: readonly CatalogModel[],
  peek: Peek,
  counter: PromptCounter,
  refusals: GatewayError[],
  mayAdjust: boolean,
): Promise<Admission[]> {
  const able: Admission[] = [];
  for (const model of among) {
    try {
      const admission = await admit(model, peek, counter, mayAdjust);
      if (fitsWindow(admission)) able.push(admission);
      else refusals.push(tooSmall(model, peek));
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      refusals.push(error);
    }
  }
  return able;
}

function refusedInto<Result>(refusals: GatewayError[], run: () => Result): Result | null {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    refusals.push(error);
    return null;
  }
}

/** Uses the estimate, since not every model can count tokens: a model that we choose should not refuse the prompt. */
function fitsWindow({ model, inputEstimateTokens, outputLimit }: Admission): boolean {
  return inputEstimateTokens + outputLimit <= model.contextWindow;
}

function byWorstCase(a: Admission, b: Admission): number {
  if (a.worstNanousd !== b.worstNanousd) return a.worstNanousd < b.worstNanousd ? -1 : 1;
  return a.model.id < b.model.id ? -1 : 1;
}

/** Counts once per tokenizer: many models share one, and counting is slow. */
function countedOnce(counter: PromptCounter): PromptCounter {
  const counts = new Map<CatalogModel['tokenizer'], ReturnType<PromptCounter['count']>>();
  const count = (model: CatalogModel) => {
    const known = counts.get(model.tokenizer) ?? counter.count(model);
    counts.set(model.tokenizer, known);
    return known;
  };
  return { ...counter, count };
}

function tooSmall(model: CatalogModel, { promptParam = 'messages' }: Peek): GatewayError {
  return new GatewayError('context_length_exceeded', {
    param: promptParam,
    message: `The prompt and its answer do not fit into the maximum context length of ${model.id}, which is ${model.contextWindow} tokens.`,
  });
}

/**
 * Prefers the refusal of a model that could serve the request if one of its hosts were available: it passes. Next comes one
 * about the request itself, which says more than that no model was found.
 */
function nothingFits(peek: Peek, refusals: readonly GatewayError[]): GatewayError {
  const passing = refusals.find(({ status }) => status >= 500);
  const refusal = passing ?? refusals.find(({ kind }) => kind !== 'wrong_wire');
  if (refusal === undefined) {
    return new GatewayError('model_not_found', {
      param: 'model',
      message: `No model that this key may use serves this route, so ${JSON.stringify(peek.model)} has nothing to choose from. GET /v1/models lists the available models.`,
    });
  }
  return refusal.with({ message: `No model that this key may use can serve this request. ${refusal.message}` });
}
