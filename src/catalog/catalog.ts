import { FREE, type Price } from '../money/price.ts';
import type { CatalogModel } from './model.ts';
import { type PriceList, writePriceList } from './price-version.ts';
import { CatalogError, findNameClash, readModel, readPrice } from './rows.ts';
import type { ModelRow } from './schema.ts';

export type Resolution = { model: CatalogModel } | { refused: 'not_found' | 'not_priced' };

const NOT_FOUND: Resolution = { refused: 'not_found' };
const NOT_PRICED: Resolution = { refused: 'not_priced' };

export interface CatalogSource {
  rows: readonly ModelRow[];
  /** The hosts that can be called; a model that none of them serves is not in the catalog. */
  hosts: ReadonlySet<string>;
  /** Hosts on the operator's own machine: what only they serve is free unless it is priced. */
  localHosts?: ReadonlySet<string>;
  /** Hosts that only pretend; what they alone serve is never chosen once there is any other host. */
  simulatedHosts?: ReadonlySet<string>;
  /** What "default" means: a name as callers write it. */
  defaultModel?: string | null;
  /** Version of the file the rows came from; its date stands in the price version. */
  version: string;
}

interface CatalogTerms {
  prices: PriceList;
  isChoice: (model: CatalogModel) => boolean;
  defaultName: string | null;
}

/** The models that can be asked for now, at the prices now in force. Never changes; a reload builds another. */
export class Catalog {
  /** Stands in every receipt: it differs whenever a price differs. */
  readonly priceVersion: string;
  /** What that version means, for whoever reads a receipt years later. */
  readonly pricesJson: string;
  /** Ids of models that some host serves, but that nobody gave a price; sorted. */
  readonly unpriced: readonly string[];
  readonly #models: readonly CatalogModel[];
  readonly #byId: ReadonlyMap<string, CatalogModel>;
  /** Every id and alias; what is known but has no price is here as a refusal. */
  readonly #byName: ReadonlyMap<string, Resolution>;
  readonly #choices: readonly CatalogModel[];
  readonly #defaultName: string | null;

  constructor(
    models: readonly CatalogModel[],
    unpriced: readonly ModelRow[],
    { prices, isChoice, defaultName }: CatalogTerms,
  ) {
    this.priceVersion = prices.version;
    this.pricesJson = prices.json;
    this.unpriced = unpriced.map(({ id }) => id).toSorted();
    this.#models = models.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    this.#byId = new Map(models.map((model) => [model.id, model]));
    this.#byName = indexNames(models, unpriced);
    this.#choices = this.#models.filter(isChoice);
    this.#defaultName = defaultName;
  }

  /** Sorted by id. */
  list(): readonly CatalogModel[] {
    return this.#models;
  }

  /** The models the service may choose itself when a caller leaves the choice to it, sorted by id. */
  choices(): readonly CatalogModel[] {
    return this.#choices;
  }

  /** What the operator chose for callers who leave the choice to the service; null where that is nothing served now. */
  defaultModel(): CatalogModel | null {
    const resolved = this.#defaultName === null ? NOT_FOUND : this.resolve(this.#defaultName);
    return 'model' in resolved ? resolved.model : null;
  }

  find(id: string): CatalogModel | undefined {
    return this.#byId.get(id);
  }

  /** By id or alias, in full and then by the last path segment; never by prefix, which would price one model as another. */
  resolve(requested: string): Resolution {
    const whole = this.#byName.get(requested);
    if (whole !== undefined) return whole;
    const slash = requested.lastIndexOf('/');
    if (slash === -1) return NOT_FOUND;
    return this.#byName.get(requested.slice(slash + 1)) ?? NOT_FOUND;
  }
}

export function buildCatalog(source: CatalogSource): Catalog {
  const clash = findNameClash(source.rows);
  if (clash !== undefined) throw new CatalogError(clash);
  const models: CatalogModel[] = [];
  const unpriced: ModelRow[] = [];
  const prices: [string, Price][] = [];
  for (const row of source.rows) {
    const hosts = row.hosts.filter(({ host }) => source.hosts.has(host));
    const price = priceInForce(row, hosts, source.localHosts);
    if (price !== undefined) prices.push([row.id, price]);
    if (hosts.length === 0) continue;
    if (price === undefined) unpriced.push(row);
    else models.push(readModel({ ...row, hosts }, price));
  }
  return new Catalog(models, unpriced, {
    prices: writePriceList(source.version.slice(0, 'YYYY-MM-DD'.length), prices),
    isChoice: choiceRule(source),
    defaultName: source.defaultModel ?? null,
  });
}

/** Nobody with a real host may be given a made-up answer by a choice that was not the caller's. */
function choiceRule({ hosts, simulatedHosts = new Set() }: CatalogSource): (model: CatalogModel) => boolean {
  const hasRealHost = [...hosts].some((host) => !simulatedHosts.has(host));
  return (model) => !hasRealHost || model.hosts.some(({ host }) => !simulatedHosts.has(host));
}

function priceInForce(
  row: ModelRow,
  hosts: ModelRow['hosts'],
  localHosts: ReadonlySet<string> | undefined,
): Price | undefined {
  if (row.price !== undefined) return readPrice(row.price);
  const isLocal = hosts.length > 0 && hosts.every(({ host }) => localHosts?.has(host));
  return isLocal ? FREE : undefined;
}

function indexNames(models: readonly CatalogModel[], unpriced: readonly ModelRow[]): Map<string, Resolution> {
  const names = new Map<string, Resolution>();
  for (const row of unpriced) {
    for (const name of [row.id, ...(row.aliases ?? [])]) names.set(name, NOT_PRICED);
  }
  for (const model of models) {
    const resolution = { model };
    for (const name of [model.id, ...model.aliases]) names.set(name, resolution);
  }
  return names;
}
