import type { CatalogFile, ModelRow, PriceRow } from './schema.ts';

/** A rate that differs, in nanodollars per million tokens; null where there is none. */
export interface RateChange {
  /** As in the file, like `input` or `tiers[0].output`. */
  readonly rate: string;
  readonly before: number | null;
  readonly after: number | null;
}

export interface ModelChange {
  readonly id: string;
  readonly kind: 'added' | 'removed' | 'changed';
  readonly rates: readonly RateChange[];
  /** Other fields that differ, by name. */
  readonly fields: readonly string[];
  /** Why somebody must confirm it: such a change may cost the operator money or send calls elsewhere. */
  readonly risks: readonly string[];
}

/** What differs between two catalogs, by model, in the order of their ids. */
export function compareCatalogs(before: CatalogFile, after: CatalogFile): ModelChange[] {
  const old = new Map(before.models.map((row) => [row.id, row]));
  const ids = new Set([...old.keys(), ...after.models.map(({ id }) => id)]);
  const now = new Map(after.models.map((row) => [row.id, row]));
  return [...ids].sort().flatMap((id) => {
    const change = compareModels(id, old.get(id), now.get(id));
    return change === null ? [] : [change];
  });
}

function compareModels(id: string, before: ModelRow | undefined, after: ModelRow | undefined): ModelChange | null {
  const rates = [...ratesOf(before), ...ratesOf(after)].map(([rate]) => rate);
  const [old, now] = [new Map(ratesOf(before)), new Map(ratesOf(after))];
  const changes = [...new Set(rates)].flatMap((rate) => {
    const change = { rate, before: old.get(rate) ?? null, after: now.get(rate) ?? null };
    return change.before === change.after ? [] : [change];
  });
  if (after === undefined) return { id, kind: 'removed', rates: changes, fields: [], risks: ['the model is removed'] };
  const fields = before === undefined ? [] : changedFields(before, after);
  if (before !== undefined && changes.length === 0 && fields.length === 0) return null;
  const kind = before === undefined ? 'added' : 'changed';
  const risks = [...changes.flatMap(riskOfRate), ...riskOfHosts(before, after)];
  return { id, kind, rates: changes, fields, risks };
}

/** Every rate of a model, those of its tiers and of its hosts included. */
function ratesOf(row: ModelRow | undefined): [string, number][] {
  if (row === undefined) return [];
  const places = row.hosts.map(({ host, price }) => [`${host}: `, price] as const);
  return [['', row.price] as const, ...places].flatMap(([prefix, price]) => ratesOfPrice(prefix, price));
}

function ratesOfPrice(prefix: string, price: PriceRow | undefined): [string, number][] {
  if (price === undefined) return [];
  const { tiers = [], ...rates } = price;
  const all = [['', rates] as const, ...tiers.map((tier, at) => [`tiers[${at}].`, tier] as const)];
  return all.flatMap(([place, members]) =>
    Object.entries(members).flatMap(([name, rate]): [string, number][] =>
      typeof rate === 'number' ? [[prefix + place + name, rate]] : [],
    ),
  );
}

/** `price_source` is only a note. */
const NOTES = ['price', 'price_source'];

function changedFields(before: ModelRow, after: ModelRow): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)].filter((name) => !NOTES.includes(name)));
  const textOf = (row: ModelRow, name: string): string => JSON.stringify(row[name as keyof ModelRow]) ?? '';
  return [...names].filter((name) => textOf(before, name) !== textOf(after, name)).sort();
}

function riskOfRate({ rate, before, after }: RateChange): string[] {
  if (rate.endsWith('above_input_tokens'))
    return [`${rate} changes from ${before ?? 'nothing'} to ${after ?? 'nothing'}`];
  if (after === 0) return [`${rate} becomes 0, so that it is free`];
  if (before !== null && after === null) return [`${rate} is removed`];
  if (before !== null && after !== null && after * 2 < before) return [`${rate} falls to less than half`];
  return [];
}

function riskOfHosts(before: ModelRow | undefined, after: ModelRow): string[] {
  if (before === undefined) return [];
  const known = new Set(before.hosts.map(({ host, model }) => `${host} as ${model}`));
  const added = after.hosts.map(({ host, model }) => `${host} as ${model}`).filter((place) => !known.has(place));
  return added.map((place) => `calls may go to ${place}`);
}
