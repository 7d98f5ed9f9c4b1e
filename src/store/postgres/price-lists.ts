import type { CacheSize } from '../../kit/caches.ts';
import { LIMITS } from '../../limits.ts';
import type { Connections } from './connections.ts';
import { takeLock } from './locks.ts';
import { numbers } from './values.ts';

/** A price list that this process uses. */
export interface PriceList {
  readonly version: string;
  /** Its id in the database; null if the database was put back to an older state since it was read. */
  readonly id: bigint | null;
}

/** By the number that holds refer to them by. */
export type NumberedLists = ReadonlyMap<number, PriceList>;

/** Of the list in force and of those that jobs were accepted under. */
const PRICES_KEPT = 1 + LIMITS.jobPriceListsKept;

/**
 * The price lists that this process has numbered. A number is the id in the database, and keeps its meaning even if the
 * database is put back to an older state: then the list is found or registered again by its version.
 */
export class PriceLists {
  readonly #connections: Pick<Connections, 'queryToAdmit' | 'transaction'>;
  /** The one used last is the last. Replaced when ids become unknown; loads that have begun fill the old one. */
  #lists = new Map<number, PriceList>();
  /** The prices, as JSON, of the lists that this process registered and used last, by version. */
  readonly #prices = new Map<string, string>();
  #highest = 0;
  /** The highest number when the database was last put back: as ids, numbers up to here may be those of other lists now. */
  #highestPutBack = 0;

  constructor(connections: Pick<Connections, 'queryToAdmit' | 'transaction'>) {
    this.#connections = connections;
  }

  sizes(): CacheSize[] {
    return [
      { cache: 'stored_price_lists', entries: this.#lists.size, entriesMax: LIMITS.storePriceListsMax },
      { cache: 'stored_price_texts', entries: this.#prices.size, entriesMax: PRICES_KEPT },
    ];
  }

  /** Stores the list if it is new, and returns its number. */
  async register(version: string, pricesJson: string): Promise<number> {
    const before = this.#lists;
    const id = await this.#store(version, pricesJson);
    const number = this.#numberFor(version, id);
    this.#prices.set(version, pricesJson);
    this.#use(this.#lists, number, { version, id: before === this.#lists ? id : null });
    return number;
  }

  /** Finds the ids of these lists; lists that do not exist are left out. */
  async load(wanted: readonly number[]): Promise<NumberedLists> {
    const lists = this.#lists;
    const loaded = new Map<number, PriceList>();
    const unknown = wanted.filter((number) => !lists.has(number) && Number.isInteger(number));
    if (unknown.length > 0) await this.#readById(unknown, lists);
    // Taken together, because using one list may forget another one that is wanted too.
    for (const [number, known] of wanted.map((each) => [each, lists.get(each)] as const)) {
      const list = known?.id === null ? await this.#findAgain(known) : known;
      if (list === undefined) continue;
      this.#use(lists, number, list);
      loaded.set(number, list);
    }
    return loaded;
  }

  forgetIds(): void {
    this.#highestPutBack = this.#highest;
    this.#lists = new Map([...this.#lists].map(([number, { version }]) => [number, { version, id: null }]));
  }

  #use(lists: Map<number, PriceList>, number: number, list: PriceList): void {
    this.#highest = Math.max(this.#highest, number);
    putLast(lists, number, list);
    if (lists.size > LIMITS.storePriceListsMax) this.#forgetOne(lists);
    const pricesJson = this.#prices.get(list.version);
    if (pricesJson === undefined) return;
    putLast(this.#prices, list.version, pricesJson);
    if (this.#prices.size > PRICES_KEPT) this.#prices.delete(this.#prices.keys().next().value!);
  }

  /** The list that no batch has used for longest makes room, if it can be read again by its number. */
  #forgetOne(lists: Map<number, PriceList>): void {
    for (const [number, { id }] of lists) {
      if (!this.#mayReadById(number) || id !== BigInt(number)) continue;
      lists.delete(number);
      return;
    }
  }

  #mayReadById(number: number): boolean {
    return number > this.#highestPutBack && number < 2 ** 31;
  }

  /** The id, unless it is or was the number of another list. */
  #numberFor(version: string, id: bigint): number {
    const known = [...this.#lists].find(([, list]) => list.version === version);
    if (known !== undefined) return known[0];
    return this.#lists.has(Number(id)) || !this.#mayReadById(Number(id)) ? this.#highest + 1 : Number(id);
  }

  async #readById(ids: readonly number[], lists: Map<number, PriceList>): Promise<void> {
    const rows = await this.#connections.queryToAdmit<{ readonly id: bigint; readonly version: string }>(
      'SELECT id, version FROM price_list WHERE id = ANY($1::int4[])',
      [numbers(ids.filter((id) => this.#mayReadById(id)))],
    );
    for (const { id, version } of rows) lists.set(Number(id), { version, id });
  }

  async #findAgain({ version }: PriceList): Promise<PriceList | undefined> {
    const pricesJson = this.#prices.get(version);
    if (pricesJson !== undefined) return { version, id: await this.#store(version, pricesJson) };
    const [row] = await this.#connections.queryToAdmit<{ id: bigint }>('SELECT id FROM price_list WHERE version = $1', [
      version,
    ]);
    return row === undefined ? undefined : { version, id: row.id };
  }

  #store(version: string, pricesJson: string): Promise<bigint> {
    return this.#connections.transaction(async (sql) => {
      await takeLock(sql, 'prices');
      const [known] = await sql<{ id: bigint; prices: string }>(
        'SELECT id, prices FROM price_list WHERE version = $1',
        [version],
      );
      if (known !== undefined && known.prices !== pricesJson) {
        throw new Error(
          `The price list ${version} is already registered with other prices, and price lists never change.`,
        );
      }
      if (known !== undefined) return known.id;
      const [row] = await sql<{ id: bigint }>(
        `INSERT INTO price_list (id, version, prices)
         SELECT coalesce(max(id), 0) + 1, $1, $2 FROM price_list RETURNING id`,
        [version, pricesJson],
      );
      return row!.id;
    });
  }
}

function putLast<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  map.delete(key);
  map.set(key, value);
}
