import { GatewayError } from '../canonical/errors.ts';
import type { CatalogModel } from '../catalog/model.ts';
import type { Peek } from '../wires/peek.ts';
import { type Admission, admit, type TextCounter } from './admit.ts';
import type { Resolution } from './resolve.ts';

/** What a model must survive beyond admission: ways to its hosts that can carry the request. */
export type FindWays<Ways> = (admission: Admission) => Ways;

export interface Chosen<Ways> {
  readonly admission: Admission;
  readonly ways: Ways;
}

/** Admits the model that was named, or the one that the service chooses; the usual call waits for nothing here. */
export function admitResolved<Ways>(
  resolution: Exclude<Resolution, { kind: 'unknown' }>,
  peek: Peek,
  count: TextCounter,
  findWays: FindWays<Ways>,
): Chosen<Ways> | Promise<Chosen<Ways>> {
  if (resolution.kind === 'choice') return chooseModel(resolution.among, peek, count, findWays);
  const choose = (admission: Admission): Chosen<Ways> => ({ admission, ways: findWays(admission) });
  const admission = admit(resolution.model, peek, count);
  return admission instanceof Promise ? admission.then(choose) : choose(admission);
}

/**
 * The cheapest model, by its worst case, that can serve this call: on this route, with the capabilities it needs, in a
 * window that holds it. What fits a ceiling at all then fits it with this model; equals are taken in order of their ids.
 */
async function chooseModel<Ways>(
  among: readonly CatalogModel[],
  peek: Peek,
  count: TextCounter,
  findWays: FindWays<Ways>,
): Promise<Chosen<Ways>> {
  const refusals: GatewayError[] = [];
  const able = await admitted(among, peek, countedOnce(count), refusals);
  for (const admission of able.toSorted(byWorstCase)) {
    const ways = refusedInto(refusals, () => findWays(admission));
    if (ways !== null) return { admission, ways };
  }
  throw nothingFits(peek, refusals);
}

async function admitted(
  among: readonly CatalogModel[],
  peek: Peek,
  count: TextCounter,
  refusals: GatewayError[],
): Promise<Admission[]> {
  const able: Admission[] = [];
  for (const model of among) {
    try {
      const admission = await admit(model, peek, count);
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

/** Where nobody can count, the estimate decides: the choice is ours, so it should not lead to a host's refusal. */
function fitsWindow({ model, inputEstimateTokens, outputLimit }: Admission): boolean {
  return inputEstimateTokens + outputLimit <= model.contextWindow;
}

function byWorstCase(a: Admission, b: Admission): number {
  if (a.worstNanousd !== b.worstNanousd) return a.worstNanousd < b.worstNanousd ? -1 : 1;
  return a.model.id < b.model.id ? -1 : 1;
}

/** Many models share a tokenizer, and counting is dear. */
function countedOnce(count: TextCounter): TextCounter {
  const counts = new Map<string, ReturnType<TextCounter>>();
  return (encoding) => {
    const known = counts.get(encoding) ?? count(encoding);
    counts.set(encoding, known);
    return known;
  };
}

function tooSmall(model: CatalogModel, { promptParam = 'messages' }: Peek): GatewayError {
  return new GatewayError('context_length_exceeded', {
    param: promptParam,
    message: `The prompt and its answer do not fit into the window of ${model.id}, which is ${model.contextWindow}.`,
  });
}

/** A refusal about the request itself says more than that no model was found. */
function nothingFits(peek: Peek, refusals: readonly GatewayError[]): GatewayError {
  const told = refusals.find(({ kind }) => kind !== 'wrong_wire');
  if (told === undefined) {
    return new GatewayError('model_not_found', {
      param: 'model',
      message: `No model that this key may use serves this route, so ${JSON.stringify(peek.model)} has nothing to choose from. GET /v1/models lists what there is.`,
    });
  }
  return new GatewayError(told.kind, {
    param: told.param,
    message: `No model that this key may use can serve this request. ${told.message}`,
  });
}
