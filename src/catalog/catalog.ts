import type { HostWire } from '../canonical/wire-names.ts';
import { tryParseJson } from '../json/json.ts';
import { FREE, type Price } from '../money/price.ts';
import type { CatalogModel } from './model.ts';
import { type PriceList, writePriceList } from './price-version.ts';
import { CatalogError, findNameClash, readModel, readPrice } from './rows.ts';
import type { ModelRow, PriceRow } from './schema.ts';

type Resolution = { model: CatalogModel } | { refused: 'not_found' | 'not_priced' };

const NOT_FOUND: Resolution = { refused: 'not_found' };
const NOT_PRICED: Resolution = { refused: 'not_priced' };

export interface CatalogSource {
  rows: readonly ModelRow[];
  /** The hosts that can be called. Models that none of them serves are not in the catalog. */
  hosts: ReadonlySet<string>;
  /** The wires of each host, for models whose row does not name one. */
  hostWires?: ReadonlyMap<string, readonly HostWire[]>;
  /** Hosts on the operator's own machine: models that only they serve are free unless they are priced. */
  localHosts?: ReadonlySet<string>;
  /** Simulated hosts. Their models are never chosen automatically if there is any other host. */
  simulatedHosts?: ReadonlySet<string>;
  /** What "default" means: a name as callers write it. */
  defaultModel?: string | null;
  /** Version of the file with the rows; its date is part of the price version. */
  version: string;
}

interface CatalogTerms {
  prices: PriceList;
  isChoice: (model: CatalogModel) => boolean;
  defaultName: string | null;
}

/** The models that can be called, with their prices. Immutable: a reload builds a new catalog. */
export class Catalog {
  /** Part of every receipt; changes whenever a price changes. */
  readonly priceVersion: string;
  /** The prices of that version, for anyone who reads a receipt later. */
  readonly pricesJson: string;
  /** Ids of models that a host serves but that have no price, sorted. */
  readonly unpriced: readonly string[];
  readonly #models: readonly CatalogModel[];
  readonly #byId: ReadonlyMap<string, CatalogModel>;
  /** Every id and alias; a model without a price maps to a refusal. */
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

  /** The models that `auto` may choose from, sorted by id. */
  choices(): readonly CatalogModel[] {
    return this.#choices;
  }

  /** The operator's default model; null if it is not set or not served. */
  defaultModel(): CatalogModel | null {
    const resolved = this.#defaultName === null ? NOT_FOUND : this.resolve(this.#defaultName);
    return 'model' in resolved ? resolved.model : null;
  }

  find(id: string): CatalogModel | undefined {
    return this.#byId.get(id);
  }

  /** The same models at the prices of another list; those without a price in it are left out. */
  pricedBy(prices: PriceList): Catalog {
    const priceOf = readPriceList(prices);
    const models = this.#models.flatMap((model) => {
      const price = priceOf(model.id);
      return price === undefined ? [] : [{ ...model, price }];
    });
    const choices = new Set(this.#choices.map(({ id }) => id));
    return new Catalog(models, [], {
      prices,
      isChoice: ({ id }) => choices.has(id),
      defaultName: this.#defaultName,
    });
  }

  /** By id or alias, in full and then by the last path segment. Never by prefix, which could bill the wrong model. */
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
    else models.push({ ...readModel({ ...row, hosts }, price), ...(lackStop(hosts, source) && { lacksStop: true }) });
  }
  return new Catalog(models, unpriced, {
    prices: writePriceList(source.version.slice(0, 'YYYY-MM-DD'.length), prices),
    isChoice: choiceRule(source),
    defaultName: source.defaultModel ?? null,
  });
}

/** With a real host, a simulated model is never chosen automatically. */
function choiceRule({ hosts, simulatedHosts = new Set() }: CatalogSource): (model: CatalogModel) => boolean {
  const hasRealHost = [...hosts].some((host) => !simulatedHosts.has(host));
  return (model) => !hasRealHost || model.hosts.some(({ host }) => !simulatedHosts.has(host));
}

/** Whether no host of a model takes the stop sequences of a chat request. */
function lackStop(hosts: ModelRow['hosts'], { hostWires }: CatalogSource): boolean {
  return hosts.every(({ host, wire }) => {
    const wires = wire === undefined ? (hostWires?.get(host) ?? []) : [wire];
    // A chat request to a host of other wires is translated to the first of these.
    const translated = wires.find((name) => name === 'messages' || name === 'responses');
    return translated === 'responses' && !wires.includes('chat');
  });
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

/** The price of a model in a stored list. */
function readPriceList({ version, json }: PriceList): (id: string) => Price | undefined {
  const rows = tryParseJson(json);
  if (typeof rows !== 'object' || rows === null) throw new CatalogError(`The price list ${version} cannot be read.`);
  return (id) => {
    const row = Object.hasOwn(rows, id) ? (rows as Record<string, PriceRow>)[id] : undefined;
    return row === undefined ? undefined : readPrice(row);
  };
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
