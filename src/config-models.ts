import { loadCatalogFile, loadSimulatedFile } from './catalog/load.ts';
import type { ConfigProblem } from './config-problems.ts';
import type { ConfigFile } from './config-schema.ts';
import { nearestName } from './kit/nearest.ts';

/** A model row that only names hosts nobody knows could never be served. */
export function strayHosts(draft: ConfigFile, known: ReadonlySet<string>, source: string): ConfigProblem[] {
  return draft.models.flatMap((row, at) =>
    row.hosts.flatMap(({ host }, place) => {
      const message = `no host has this name (known: ${[...known].join(', ')})`;
      return known.has(host) ? [] : [{ source, path: `models[${at}].hosts[${place}].host`, message }];
    }),
  );
}

/** A price or a default for a model that does not exist is a spelling mistake; the catalog is read only to find one. */
export function modelProblems(draft: ConfigFile, source: string): ConfigProblem[] {
  const priced = Object.keys(draft.prices);
  if (priced.length === 0 && draft.default_model === undefined) return [];
  const { ids, names } = knownModels(draft);
  const strays = priced
    .filter((id) => !ids.has(id))
    .map((id) => ({ source, path: `prices.${id}`, message: unknown(id, 'id', ids) }));
  if (draft.default_model === undefined || names.has(draft.default_model)) return strays;
  return [...strays, { source, path: 'default_model', message: unknown(draft.default_model, 'name', names) }];
}

function unknown(word: string, what: string, known: ReadonlySet<string>): string {
  const nearest = nearestName(word, [...known]);
  return `no model has this ${what}${nearest === null ? '' : `; did you mean "${nearest}"?`}`;
}

function knownModels(draft: ConfigFile): { ids: ReadonlySet<string>; names: ReadonlySet<string> } {
  const rows = [...loadCatalogFile().models, ...loadSimulatedFile().models, ...draft.models];
  const served = draft.hosts.flatMap(({ models = [] }) =>
    models.map((model) => (typeof model === 'string' ? model : model.id)),
  );
  const ids = new Set([...rows.map(({ id }) => id), ...served]);
  return { ids, names: new Set([...ids, ...rows.flatMap(({ aliases = [] }) => aliases)]) };
}
