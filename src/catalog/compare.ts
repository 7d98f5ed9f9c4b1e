import { ratesFor } from '../money/cost.ts';
import type { Rates } from '../money/price.ts';
import { describeLoss, EFFECTIVE_RATES, findLoss } from './loss.ts';
import { readPrice } from './rows.ts';
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
  const risks = [...risksOfPrice(before?.price, after.price), ...risksOfHosts(before, after), ...risksOfFields(fields)];
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

/** Rates that fall to less than half or to zero, at any size of a request. */
function risksOfPrice(before: PriceRow | undefined, after: PriceRow | undefined): string[] {
  if (after === undefined) return before === undefined ? [] : ['its price is removed'];
  const now = readPrice(after);
  const old = before === undefined ? null : readPrice(before);
  const sizes = [0, ...[...now.tiers, ...(old?.tiers ?? [])].map(({ aboveInputTokens }) => aboveInputTokens + 1)];
  const risks = sizes.flatMap((size) => risksAt(size, old === null ? null : ratesFor(old, size), ratesFor(now, size)));
  return [...new Set(risks)];
}

function risksAt(size: number, before: Rates | null, after: Rates): string[] {
  const at = size === 0 ? '' : ` above ${size - 1} input tokens`;
  return EFFECTIVE_RATES.flatMap(([name, read]) => {
    const [old, now] = [before === null ? null : read(before), read(after)];
    if (now === 0n) return old === 0n ? [] : [`${name}${at} becomes 0, which makes it free`];
    return old !== null && now * 2n < old ? [`${name}${at} falls to less than half`] : [];
  });
}

/** Hosts that calls could not go to before, and those that would cost more than callers pay. */
function risksOfHosts(before: ModelRow | undefined, after: ModelRow): string[] {
  const known = new Set((before?.hosts ?? []).map(placeOf));
  const added = before === undefined ? [] : after.hosts.map(placeOf).filter((place) => !known.has(place));
  const losses = after.hosts.flatMap(({ host, price }) => {
    const loss =
      price === undefined || after.price === undefined ? null : findLoss(readPrice(price), readPrice(after.price));
    return loss === null ? [] : [`${host} ${describeLoss(loss, after.id)}`];
  });
  return [...added.map((place) => `calls may go to ${place}`), ...losses];
}

function placeOf({ host, model, wire }: ModelRow['hosts'][number]): string {
  return `${host} as ${model}${wire === undefined ? '' : ` over ${wire}`}`;
}

/** Fields from which a hold is computed: another value may make it smaller than the bill. */
const HELD_BY = [
  ...['context_window', 'max_output_tokens', 'tokenizer', 'token_factor', 'framing', 'image_tokens_max'],
  ...['cache_writes', 'embedding', 'caps'],
];

function risksOfFields(fields: readonly string[]): string[] {
  const held = fields.filter((field) => HELD_BY.includes(field)).map((field) => `${field} changes what is held`);
  return fields.includes('aliases') ? [...held, 'its aliases change'] : held;
}
