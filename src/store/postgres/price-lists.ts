import type { Connections } from './connections.ts';
import { takeLock } from './locks.ts';
import { numbers } from './values.ts';

/** A price list that this process uses. */
export interface PriceList {
  readonly version: string;
  /** Its id in the database; null if the database was put back to an older state since it was read. */
  readonly id: bigint | null;
  /** Null if another process registered it. */
  readonly pricesJson: string | null;
}

/** By the number that holds refer to them by, from zero: the list with the number 1 is the first. */
export type NumberedLists = readonly (PriceList | undefined)[];

/**
 * The price lists that this process has numbered. A number is the id in the database, and keeps its meaning even if the
 * database is put back to an older state: then the list is found or registered again by its version.
 */
export class PriceLists {
  readonly #connections: Pick<Connections, 'query' | 'transaction'>;
  /** Replaced when ids become unknown; loads that have begun fill the old one. */
  #lists: (PriceList | undefined)[] = [];

  constructor(connections: Pick<Connections, 'query' | 'transaction'>) {
    this.#connections = connections;
  }

  /** Stores the list if it is new, and returns its number. */
  async register(version: string, pricesJson: string): Promise<number> {
    const before = this.#lists;
    const id = await this.#store(version, pricesJson);
    const number = this.#numberFor(version, id);
    this.#lists[number - 1] = { version, id: before === this.#lists ? id : null, pricesJson };
    return number;
  }

  /** Finds the ids of these lists; lists that do not exist stay unknown. */
  async load(wanted: readonly number[]): Promise<NumberedLists> {
    const lists = this.#lists;
    const unknown = wanted.filter((number) => lists[number - 1] === undefined && Number.isInteger(number));
    if (unknown.length > 0) await this.#readById(unknown, lists);
    for (const number of wanted) {
      const list = lists[number - 1];
      if (list?.id === null) lists[number - 1] = await this.#findAgain(list);
    }
    return lists;
  }

  forgetIds(): void {
    this.#lists = this.#lists.map((list) => (list === undefined ? undefined : { ...list, id: null }));
  }

  /** The id, unless it already is the number of another list. */
  #numberFor(version: string, id: bigint): number {
    const at = this.#lists.findIndex((list) => list?.version === version);
    if (at >= 0) return at + 1;
    return this.#lists[Number(id) - 1] === undefined ? Number(id) : this.#lists.length + 1;
  }

  async #readById(ids: readonly number[], lists: (PriceList | undefined)[]): Promise<void> {
    const rows = await this.#connections.query<{ readonly id: bigint; readonly version: string }>(
      'SELECT id, version FROM price_list WHERE id = ANY($1::int4[])',
      [numbers(ids.filter((id) => id < 2 ** 31))],
    );
    for (const { id, version } of rows) lists[Number(id) - 1] = { version, id, pricesJson: null };
  }

  async #findAgain(list: PriceList): Promise<PriceList | undefined> {
    const { version, pricesJson } = list;
    if (pricesJson !== null) return { ...list, id: await this.#store(version, pricesJson) };
    const [row] = await this.#connections.query<{ id: bigint }>('SELECT id FROM price_list WHERE version = $1', [
      version,
    ]);
    return row === undefined ? undefined : { ...list, id: row.id };
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
