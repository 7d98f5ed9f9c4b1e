import { expect, test } from 'vitest';
import { LIMITS } from '../../limits.ts';
import type { RunSql } from './connections.ts';
import { PriceLists } from './price-lists.ts';

/** The table of price lists, which can be put back to an older state. */
class Table {
  lists: { readonly version: string; readonly prices: string }[] = [];
  reads = 0;

  readonly query = async (text: string, values: readonly unknown[] = []): Promise<unknown[]> => {
    if (text.includes('INSERT')) {
      const [version, prices] = values as [string, string];
      return [{ id: BigInt(this.lists.push({ version, prices })) }];
    }
    if (!text.includes('FROM price_list')) return [];
    this.reads += 1;
    if (text.includes('version = $1')) return this.#rows(this.lists.findIndex(({ version }) => version === values[0]));
    const ids = String(values[0]).slice(1, -1).split(',');
    return ids.flatMap((id) => this.#rows(Number(id) - 1));
  };

  /** The row at this place, unless there is none. */
  #rows(at: number): unknown[] {
    const list = this.lists[at];
    return list === undefined ? [] : [{ ...list, id: BigInt(at + 1) }];
  }

  open(): PriceLists {
    const query = this.query as RunSql;
    return new PriceLists({ queryToAdmit: query, transaction: (run) => run(query) });
  }
}

const PRICES_KEPT = 1 + LIMITS.jobPriceListsKept;
const MORE = 10;

function sizesOf(lists: PriceLists): number[] {
  return lists.sizes().map(({ entries }) => entries);
}

test('lists that nobody has used for long are forgotten, and read again when a hold needs one', async () => {
  const table = new Table();
  const lists = table.open();
  const first = await lists.register('version 0', '{}');
  for (let at = 1; at < LIMITS.storePriceListsMax + MORE; at++) {
    await lists.register(`version ${at}`, '{}');
    await lists.load([first]);
  }
  expect(sizesOf(lists)).toEqual([LIMITS.storePriceListsMax, PRICES_KEPT]);
  const { reads } = table;
  expect([...(await lists.load([first]))]).toEqual([[first, { version: 'version 0', id: 1n }]]);
  expect(table.reads).toBe(reads);
  expect([...(await lists.load([2]))]).toEqual([[2, { version: 'version 1', id: 2n }]]);
  expect(table.reads).toBe(reads + 1);
});

test('a list that is in use is registered again after a database lost it, however many came later', async () => {
  const table = new Table();
  const lists = table.open();
  const number = await lists.register('in use', '{"prices":1}');
  for (let at = 0; at < PRICES_KEPT + MORE; at++) {
    await lists.register(`version ${at}`, '{}');
    await lists.load([number]);
  }
  table.lists = [{ version: 'of another process', prices: '{}' }];
  lists.forgetIds();
  expect([...(await lists.load([number]))]).toEqual([[number, { version: 'in use', id: 2n }]]);
  expect(table.lists[1]).toEqual({ version: 'in use', prices: '{"prices":1}' });
});

test('a list that is new after a database was put back gets a number that no other list ever had', async () => {
  const table = new Table();
  const lists = table.open();
  const known = [await lists.register('one', '{}'), await lists.register('two', '{}')];
  table.lists = [];
  lists.forgetIds();
  expect(known).not.toContain(await lists.register('three', '{}'));
});

test('a number never comes to mean another list, however many lists came before and after a database was put back', async () => {
  const table = new Table();
  const lists = table.open();
  const before = new Map<number, string>();
  for (let at = 0; at < LIMITS.storePriceListsMax + MORE; at++) {
    before.set(await lists.register(`version ${at}`, '{}'), `version ${at}`);
  }
  table.lists = [{ version: 'of another process', prices: '{}' }];
  lists.forgetIds();
  for (let at = 0; at < LIMITS.storePriceListsMax + MORE; at++) {
    const number = await lists.register(`later ${at}`, '{}');
    expect(before.has(number)).toBe(false);
    before.set(number, `later ${at}`);
  }
  const numbers = [...before.keys()];
  for (const [number, { version }] of await lists.load(numbers)) expect(version).toBe(before.get(number));
});

test('a batch gets all of its lists, although those that cannot be forgotten leave no room for them', async () => {
  const table = new Table();
  const lists = table.open();
  for (let at = 0; at < LIMITS.storePriceListsMax; at++) await lists.register(`version ${at}`, '{}');
  lists.forgetIds();
  const later = [await lists.register('later 1', '{}'), await lists.register('later 2', '{}')];
  expect([...(await lists.load(later)).values()].map(({ version }) => version)).toEqual(['later 1', 'later 2']);
});
