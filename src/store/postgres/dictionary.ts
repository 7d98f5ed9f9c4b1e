import { CALL_FIELDS, type Fields, SETTLEMENT_FIELDS } from '../../canonical/receipt.ts';
import { LIMITS } from '../../limits.ts';
import type { LedgerOperation } from '../store.ts';
import type { Connections } from './connections.ts';
import type { NumberedLists, PriceList, PriceLists } from './price-lists.ts';
import { storable, texts } from './values.ts';

/** What a batch needs to know about its names and price lists. */
export interface Loaded {
  /** The number of a name; only for names of the operations that were loaded. */
  readonly nameId: NameId;
  /** The names of the batch with their numbers, for the batch to prove. */
  readonly names: readonly Numbered[];
  readonly prices: NumberedLists;
  /** The versions of the batch's price lists with their ids in the database. */
  readonly priceLists: readonly Numbered[];
}

/** A text and its number in the database. Two texts have the same number if one was read before the database was put back. */
export type Numbered = readonly [id: bigint, text: string];

export type NameId = (text: string) => bigint;

/**
 * Names and price lists never change, so they are loaded outside the money transactions and cached: no batch holds a
 * lock on a name together with one on an account.
 */
export class Dictionary {
  readonly #connections: Pick<Connections, 'queryToAdmit'>;
  readonly #prices: Pick<PriceLists, 'load' | 'forgetIds'>;
  /** Replaced when it has grown too large; callers that loaded from the old map continue with it. */
  #names = new Map<string, bigint>();

  constructor(connections: Pick<Connections, 'queryToAdmit'>, prices: Pick<PriceLists, 'load' | 'forgetIds'>) {
    this.#connections = connections;
    this.#prices = prices;
  }

  /** Names that are cached. */
  get size(): number {
    return this.#names.size;
  }

  /** Loads, and creates if necessary, the names and price lists that these operations refer to. */
  async load(operations: readonly LedgerOperation[]): Promise<Loaded> {
    const names = new Set<string>();
    const numbers = new Set<number>();
    for (const operation of operations) {
      if (operation.kind === 'hold') {
        addNames(names, operation, CALL_NAMES);
        if (operation.priceId > 0) numbers.add(operation.priceId);
      } else if (operation.kind === 'settle') addNames(names, operation.settlement, SETTLEMENT_NAMES);
    }
    if (this.#names.size + names.size > LIMITS.storeCachedRowsMax) this.#names = new Map();
    const known = this.#names;
    const missing = [...names].filter((name) => !known.has(name));
    if (missing.length > 0) await this.#loadNames(missing.sort(), known);
    const prices = await this.#prices.load([...numbers]);
    return {
      nameId: (text) => idIn(known, text),
      names: [...names].map((name): Numbered => [idIn(known, name), name]),
      prices,
      priceLists: [...prices.values()].flatMap(pairOf),
    };
  }

  /** The numbers are those of a database that was put back to an older state. */
  forget(): void {
    this.#names = new Map();
    this.#prices.forgetIds();
  }

  async #loadNames(names: readonly string[], known: Map<string, bigint>): Promise<void> {
    const wanted = texts(names);
    type Row = { readonly id: bigint; readonly text: string };
    const find = 'SELECT id, text FROM name WHERE text = ANY($1::text[])';
    let rows = await this.#connections.queryToAdmit<Row>(find, [wanted]);
    if (rows.length < names.length) {
      const there = new Set(rows.map((row) => row.text));
      const unknown = texts(names.filter((name) => !there.has(name)));
      await this.#connections.queryToAdmit(
        'INSERT INTO name (text) SELECT unnest($1::text[]) ORDER BY 1 ON CONFLICT (text) DO NOTHING',
        [unknown],
      );
      rows = await this.#connections.queryToAdmit<Row>(find, [wanted]);
    }
    for (const { id, text } of rows) known.set(text, id);
  }
}

function pairOf({ id, version }: PriceList): Numbered[] {
  return id === null ? [] : [[id, version]];
}

type NameFields<All extends Fields> = {
  [Name in keyof All]: All[Name]['kind'] extends 'name' ? Name : never;
}[keyof All];

function nameFields<All extends Fields>(fields: All): readonly NameFields<All>[] {
  return Object.keys(fields).filter((name) => fields[name]!.kind === 'name') as NameFields<All>[];
}

const CALL_NAMES = nameFields(CALL_FIELDS);
const SETTLEMENT_NAMES = nameFields(SETTLEMENT_FIELDS);

function addNames<Field extends string>(
  names: Set<string>,
  values: Readonly<Record<Field, string | null>>,
  fields: readonly Field[],
): void {
  for (const field of fields) {
    const text = values[field];
    if (text !== null) names.add(nameOf(text));
  }
}

function idIn(names: ReadonlyMap<string, bigint>, text: string): bigint {
  const id = names.get(nameOf(text));
  if (id === undefined) throw new Error(`The name ${text} was not loaded.`);
  return id;
}

/** The text as it is stored in the index. */
function nameOf(text: string): string {
  return storable(text.length > LIMITS.storedNameCharsMax ? text.slice(0, LIMITS.storedNameCharsMax) : text);
}
