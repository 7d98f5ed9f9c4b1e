import { LIMITS } from '../../limits.ts';
import type { LedgerOperation } from '../store.ts';
import type { Connections } from './connections.ts';
import { numbers, storable, texts } from './values.ts';

/**
 * Names and price lists never change once they are there, so they are learned outside the money's transactions and
 * remembered: no batch holds a lock on a name while it holds one on an account.
 */
export class Dictionary {
  readonly #connections: Connections;
  readonly #names = new Map<string, bigint>();
  /** Price lists by their number less one, as far as they are known. */
  readonly prices: ({ readonly version: string } | undefined)[] = [];

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** The number of a name that these operations use. */
  nameId(text: string): bigint {
    const id = this.#names.get(nameOf(text));
    if (id === undefined) throw new Error(`The name ${text} was not learned.`);
    return id;
  }

  /** Learns, and if need be writes down, what these operations refer to. */
  async learn(operations: readonly LedgerOperation[]): Promise<void> {
    const names = new Set<string>();
    const priceIds = new Set<number>();
    for (const operation of operations) {
      if (operation.kind === 'hold') {
        for (const text of [operation.route, operation.requestedModel, operation.effectiveModel])
          this.#miss(names, text);
        if (operation.priceId > 0 && this.prices[operation.priceId - 1] === undefined) priceIds.add(operation.priceId);
      } else if (operation.kind === 'settle' && operation.settlement.host !== null) {
        this.#miss(names, operation.settlement.host);
      }
    }
    if (names.size > 0) await this.#learnNames([...names].sort());
    if (priceIds.size > 0) await this.#learnPrices([...priceIds]);
  }

  #miss(missing: Set<string>, text: string): void {
    const name = nameOf(text);
    if (!this.#names.has(name)) missing.add(name);
  }

  async #learnNames(names: readonly string[]): Promise<void> {
    if (this.#names.size + names.length > LIMITS.storeCachedRowsMax) this.#names.clear();
    const wanted = texts(names);
    type Row = { readonly id: bigint; readonly text: string };
    const find = 'SELECT id, text FROM name WHERE text = ANY($1::text[])';
    let rows = await this.#connections.query<Row>(find, [wanted]);
    if (rows.length < names.length) {
      const known = new Set(rows.map((row) => row.text));
      const unknown = texts(names.filter((name) => !known.has(name)));
      await this.#connections.query(
        'INSERT INTO name (text) SELECT unnest($1::text[]) ORDER BY 1 ON CONFLICT (text) DO NOTHING',
        [unknown],
      );
      rows = await this.#connections.query<Row>(find, [wanted]);
    }
    for (const { id, text } of rows) this.#names.set(text, id);
  }

  async #learnPrices(ids: readonly number[]): Promise<void> {
    const rows = await this.#connections.query<{ readonly id: bigint; readonly version: string }>(
      'SELECT id, version FROM price_list WHERE id = ANY($1::int4[])',
      [numbers(ids.filter((id) => Number.isInteger(id) && id < 2 ** 31))],
    );
    for (const { id, version } of rows) this.prices[Number(id) - 1] = { version };
  }
}

/** As it stands in the index. */
function nameOf(text: string): string {
  return storable(text.length > LIMITS.storedNameCharsMax ? text.slice(0, LIMITS.storedNameCharsMax) : text);
}
