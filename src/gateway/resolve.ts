import type { Caller } from '../accounts/authenticate.ts';
import { GatewayError } from '../canonical/errors.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { CatalogModel } from '../catalog/model.ts';

/** What a model name in a request stands for. The catalog comes before deployments of the same name. */
export type Resolution =
  | { readonly kind: 'model'; readonly model: CatalogModel }
  /** The caller leaves the choice to the gateway, among these models. The list may be empty. */
  | { readonly kind: 'choice'; readonly among: readonly CatalogModel[] }
  /** Not in the catalog, so perhaps the caller's own deployment; `refusal` is for when there is none. */
  | { readonly kind: 'unknown'; readonly refusal: GatewayError };

/** Throws for a name in the catalog that this caller may not use. `serves` tells whether a model serves this route. */
export function resolve(
  catalog: Catalog,
  caller: Caller,
  requested: string,
  serves: (model: CatalogModel) => boolean = () => true,
): Resolution {
  if (requested === 'auto') return choiceFor(catalog, caller);
  if (requested === 'default') return defaultFor(catalog, caller, serves);
  const resolved = catalog.resolve(requested);
  if ('model' in resolved) {
    if (mayUse(caller, resolved.model)) return { kind: 'model', model: resolved.model };
    throw notServed(requested);
  }
  if (resolved.refused === 'not_priced') throw notPriced(requested);
  refuseSuffix(requested);
  return { kind: 'unknown', refusal: notServed(requested) };
}

/** The one model that a name stands for, on routes without automatic choice and without deployments. */
export function resolveModel(catalog: Catalog, caller: Caller, requested: string): CatalogModel {
  const resolution = resolve(catalog, caller, requested);
  if (resolution.kind === 'model') return resolution.model;
  throw resolution.kind === 'unknown' ? resolution.refusal : chosenPerCall(requested);
}

/** Whether a name leads to a model of the catalog that the caller may use, perhaps one that the gateway chooses. */
export function isUsable(catalog: Catalog, caller: Caller, requested: string): boolean {
  if (requested === 'auto' || requested === 'default') return true;
  const resolved = catalog.resolve(requested);
  return 'model' in resolved && mayUse(caller, resolved.model);
}

function mayUse({ key }: Caller, model: CatalogModel): boolean {
  return key === null || key.models === null || key.models.includes(model.id);
}

function choiceFor(catalog: Catalog, caller: Caller): Resolution {
  return { kind: 'choice', among: catalog.choices().filter((model) => mayUse(caller, model)) };
}

/** The operator's default model, if it serves this route and the key may use it; otherwise the gateway chooses. */
function defaultFor(catalog: Catalog, caller: Caller, serves: (model: CatalogModel) => boolean): Resolution {
  const model = catalog.defaultModel();
  if (model === null || !mayUse(caller, model) || !serves(model)) return choiceFor(catalog, caller);
  return { kind: 'model', model };
}

/** Suffixes with which users of another gateway choose a host or a plugin. */
const HOST_SUFFIX = /:(online|nitro|floor|free|exacto)$/;

function refuseSuffix(requested: string): void {
  const suffix = HOST_SUFFIX.exec(requested);
  if (suffix === null) return;
  throw new GatewayError('unsupported_feature', {
    param: 'model',
    message: `The suffix "${suffix[0]}" is not supported: the host is chosen by price and health. Send the model's id alone.`,
  });
}

function notFound(message: string): GatewayError {
  return new GatewayError('model_not_found', { param: 'model', message });
}

const WHERE_LISTED = 'GET /v1/models lists what this key may use.';

function notServed(requested: string): GatewayError {
  const choice = /\/(auto|default)$/.exec(requested)?.[1];
  const remedy = choice === undefined ? WHERE_LISTED : `Send "${choice}" alone to leave the choice to the gateway.`;
  return notFound(`The model ${JSON.stringify(requested)} is not served here. ${remedy}`);
}

function notPriced(requested: string): GatewayError {
  const why = 'is not priced, so it is not served; give it a price in the config file';
  return notFound(`The model ${JSON.stringify(requested)} ${why}. ${WHERE_LISTED}`);
}

function chosenPerCall(requested: string): GatewayError {
  return notFound(
    `${JSON.stringify(requested)} is chosen again for every call, so it cannot be used here. ${WHERE_LISTED}`,
  );
}
