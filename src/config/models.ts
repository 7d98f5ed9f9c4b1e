import { loadSimulatedFile } from '../catalog/load.ts';
import type { ModelRow } from '../catalog/schema.ts';
import type { HostSelection } from '../hosts/configure.ts';
import { nearestName } from '../kit/nearest.ts';
import type { ConfigProblem } from './problems.ts';
import type { ConfigFile } from './schema.ts';

/** The models of the catalog in use, read only where they are needed. */
export type CatalogRows = () => readonly ModelRow[];

/** A model that names an unknown host could never be served there. */
export function strayHosts(draft: ConfigFile, known: ReadonlySet<string>, source: string): ConfigProblem[] {
  return draft.models.flatMap((row, at) =>
    row.hosts.flatMap(({ host }, place) => {
      const message = `no host has this name (known: ${[...known].join(', ')})`;
      return known.has(host) ? [] : [{ source, path: `models[${at}].hosts[${place}].host`, message }];
    }),
  );
}

/** Of two entries with one id only one could be in force, with one of two prices. */
export function repeatedModels(draft: ConfigFile, source: string): ConfigProblem[] {
  const lists = [
    { path: 'models', ids: draft.models.map(({ id }) => id) },
    ...draft.hosts.map((entry, at) => ({ path: `hosts[${at}].models`, ids: servedIds(entry) })),
  ];
  return lists.flatMap(({ path, ids }) =>
    ids.flatMap((id, at) => {
      const message = `${id} appears twice; each model has one entry`;
      return ids.indexOf(id) === at ? [] : [{ source, path: `${path}[${at}]`, message }];
    }),
  );
}

/** What of the settings does not go with the catalog in use. */
export function catalogProblems(
  draft: ConfigFile,
  catalog: CatalogRows,
  selection: Pick<HostSelection, 'configured' | 'withoutKey'>,
  source: string,
): ConfigProblem[] {
  return [
    ...sharedAliases(draft, catalog, source),
    ...modelProblems(draft, catalog, source),
    ...defaultProblems(draft, catalog, selection, source),
  ];
}

/**
 * An alias that is also another model's name would lead to one of two prices. A model of the catalog gives its aliases up to own
 * models, but not its id.
 */
function sharedAliases(draft: ConfigFile, catalog: CatalogRows, source: string): ConfigProblem[] {
  if (draft.models.every(({ aliases = [] }) => aliases.length === 0)) return [];
  const known = [...rowsBeside(draft, catalog), ...draft.models].map(({ id }) => id);
  const owners = new Map([...draft.hosts.flatMap(servedIds), ...known].map((id) => [id, id]));
  return draft.models.flatMap(({ id, aliases = [] }, at) =>
    aliases.flatMap((alias, place) => {
      const owner = owners.get(alias);
      if (owner === undefined) owners.set(alias, id);
      const message = `${alias} is already ${owner === alias ? 'the id of a model' : `an alias of ${owner}`}; choose another one`;
      return owner === undefined ? [] : [{ source, path: `models[${at}].aliases[${place}]`, message }];
    }),
  );
}

/** Reports prices and defaults of models that do not exist; these are usually typos. */
function modelProblems(draft: ConfigFile, catalog: CatalogRows, source: string): ConfigProblem[] {
  const priced = Object.keys(draft.prices);
  if (priced.length === 0 && draft.default_model === undefined) return [];
  const { ids, names } = knownModels(draft, catalog);
  const strays = priced
    .filter((id) => !ids.has(id))
    .map((id) => ({ source, path: `prices.${id}`, message: unknown(id, 'id', ids) }));
  if (draft.default_model === undefined || names.has(knownAs(draft.default_model, names))) return strays;
  const message = unknown(draft.default_model, 'name', new Set(names.keys()));
  return [...strays, { source, path: 'default_model', message }];
}

/** Reports a default model that no configured host serves. */
function defaultProblems(
  draft: ConfigFile,
  catalog: CatalogRows,
  { configured, withoutKey }: Pick<HostSelection, 'configured' | 'withoutKey'>,
  source: string,
): ConfigProblem[] {
  if (draft.default_model === undefined) return [];
  const { names } = knownModels(draft, catalog);
  const model = names.get(knownAs(draft.default_model, names));
  if (model === undefined) return [];
  const problem = (message: string): ConfigProblem[] => [{ source, path: 'default_model', message }];
  const places = [...model.hosts, ...draft.hosts.filter((entry) => servedIds(entry).includes(model.id)).map(nameOf)];
  const serving = configured.filter(({ row }) => places.includes(row.name));
  if (serving.length === 0) {
    const lacking = withoutKey.filter(({ name }) => places.includes(name));
    const remedy = lacking.map(({ keyVariables }) => keyVariables[0]).join(' or ');
    return problem(`no configured host serves ${model.id}${remedy === '' ? '' : `; set ${remedy}`}`);
  }
  const isPriced = model.isPriced || draft.prices[model.id] !== undefined || serving.every(({ local }) => local);
  return isPriced ? [] : problem(`${model.id} has no price, so it is not served; give it one under "prices"`);
}

function nameOf({ name }: ConfigFile['hosts'][number]): string {
  return name;
}

interface KnownModel {
  readonly id: string;
  readonly hosts: readonly string[];
  readonly isPriced: boolean;
}

/** Finds a name as requests do: in full, then by its last path segment. */
function knownAs(name: string, names: ReadonlyMap<string, KnownModel>): string {
  return names.has(name) ? name : name.slice(name.lastIndexOf('/') + 1);
}

function unknown(word: string, what: string, known: ReadonlySet<string>): string {
  const nearest = nearestName(word, [...known]);
  return `no model has this ${what}${nearest === null ? '' : `; did you mean "${nearest}"?`}`;
}

function knownModels(
  draft: ConfigFile,
  catalog: CatalogRows,
): { ids: ReadonlySet<string>; names: ReadonlyMap<string, KnownModel> } {
  const rows = [...rowsBeside(draft, catalog), ...draft.models];
  const names = new Map<string, KnownModel>();
  for (const name of draft.hosts.flatMap(servedIds)) names.set(name, { id: name, hosts: [], isPriced: false });
  for (const { id, aliases = [], hosts, price } of rows) {
    const known = { id, hosts: hosts.map(({ host }) => host), isPriced: price !== undefined };
    for (const name of [id, ...aliases]) names.set(name, known);
  }
  return { ids: new Set([...names.values()].map(({ id }) => id)), names };
}

/** The rows of the catalog that own models do not replace. */
function rowsBeside({ models }: ConfigFile, catalog: CatalogRows): ModelRow[] {
  const own = new Set(models.map(({ id }) => id));
  return [...catalog(), ...loadSimulatedFile().models].filter(({ id }) => !own.has(id));
}

function servedIds({ models = [] }: ConfigFile['hosts'][number]): string[] {
  return models.map((model) => (typeof model === 'string' ? model : model.id));
}
