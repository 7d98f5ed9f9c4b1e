import type { DatabaseSync } from 'node:sqlite';
import { CALL_STATE } from '../codes.ts';
import { sumsByWindow, WINDOW_TABLES, type WindowTable } from '../window-tables.ts';

const IS_OPEN = `state = ${CALL_STATE.of.open}`;

/**
 * The held amount is not stored: it is the sum of the open calls. This goes after `SELECT … sum(held) …`. The index of
 * open calls has every column that is needed, so no call is read.
 */
export const FROM_OPEN_CALLS = `FROM call WHERE ${IS_OPEN}`;

/** For a statement that selects from `balance`. */
export const HELD_OF_ACCOUNT = `(SELECT coalesce(sum(held), 0) ${FROM_OPEN_CALLS} AND call.account_id = balance.account_id)`;

/** For a statement that selects from `key_window`. */
export const HELD_OF_WINDOW = `(SELECT coalesce(sum(held), 0) ${FROM_OPEN_CALLS}
  AND call.key_id = key_window.key_id AND call.window_id = key_window.window_id)`;

/** For a statement that selects from `person_window`. */
export const HELD_OF_PERSON_WINDOW = `(SELECT coalesce(sum(held), 0) ${FROM_OPEN_CALLS}
  AND call.account_id = person_window.account_id AND call.person_id = person_window.person_id
  AND call.person_window_id = person_window.window_id)`;

/** All held amounts at one moment. */
export class HeldSums {
  readonly #accounts = new Map<bigint, bigint>();
  readonly #windows = new Map<string, bigint>();

  constructor(database: DatabaseSync) {
    const rows = (sql: string): Iterable<bigint[]> => {
      const statement = database.prepare(sql);
      statement.setReturnArrays(true);
      return statement.iterate() as unknown as Iterable<bigint[]>;
    };
    for (const [accountId, held] of rows(`SELECT account_id, sum(held) ${FROM_OPEN_CALLS} GROUP BY account_id`)) {
      this.#accounts.set(accountId!, held!);
    }
    for (const table of WINDOW_TABLES) {
      for (const row of rows(sumsByWindow(table, 'sum(held)', IS_OPEN))) {
        const held = row.pop()!;
        const windowId = row.pop()!;
        this.#windows.set(nameOf(table, row, windowId), held);
      }
    }
  }

  ofAccount(id: bigint): bigint {
    return this.#accounts.get(id) ?? 0n;
  }

  ofWindow(table: WindowTable, owner: readonly bigint[], windowId: bigint): bigint {
    return this.#windows.get(nameOf(table, owner, windowId)) ?? 0n;
  }
}

function nameOf({ name }: WindowTable, owner: readonly bigint[], windowId: bigint): string {
  return [name, ...owner, windowId].join('/');
}
