import type { DatabaseSync } from 'node:sqlite';
import { CALL_STATE } from '../codes.ts';

/**
 * What is held is written nowhere: it is the sum of the open calls. To be put behind `SELECT … sum(held) …`; the index of
 * open calls has every column that is asked for, so that no call is read.
 */
export const FROM_OPEN_CALLS = `FROM call WHERE state = ${CALL_STATE.of.open}`;

/** For a statement that selects from `balance`. */
export const HELD_OF_ACCOUNT = `(SELECT coalesce(sum(held), 0) ${FROM_OPEN_CALLS} AND call.account_id = balance.account_id)`;

/** For a statement that selects from `key_window`. */
export const HELD_OF_WINDOW = `(SELECT coalesce(sum(held), 0) ${FROM_OPEN_CALLS}
  AND call.key_id = key_window.key_id AND call.window_id = key_window.window_id)`;

/** For a statement that selects from `person_window`. */
export const HELD_OF_PERSON_WINDOW = `(SELECT coalesce(sum(held), 0) ${FROM_OPEN_CALLS} AND call.person_id IS NOT NULL
  AND call.account_id = person_window.account_id AND call.person_id = person_window.person_id
  AND call.person_window_id = person_window.window_id)`;

/** All held amounts at one moment. */
export class HeldSums {
  readonly #accounts = new Map<bigint, bigint>();
  readonly #windows = new Map<string, bigint>();

  constructor(database: DatabaseSync) {
    const statement = database.prepare(
      `SELECT account_id, key_id, window_id, sum(held) ${FROM_OPEN_CALLS} GROUP BY account_id, key_id, window_id`,
    );
    statement.setReturnArrays(true);
    type Row = [accountId: bigint, keyId: bigint | null, windowId: bigint | null, held: bigint];
    for (const [accountId, keyId, windowId, held] of statement.iterate() as unknown as Iterable<Row>) {
      this.#accounts.set(accountId, this.ofAccount(accountId) + held);
      if (keyId === null || windowId === null) continue;
      this.#windows.set(nameOf(keyId, windowId), this.ofWindow(keyId, windowId) + held);
    }
  }

  ofAccount(id: bigint): bigint {
    return this.#accounts.get(id) ?? 0n;
  }

  ofWindow(keyId: bigint, windowId: bigint): bigint {
    return this.#windows.get(nameOf(keyId, windowId)) ?? 0n;
  }
}

function nameOf(keyId: bigint, windowId: bigint): string {
  return `${keyId}/${windowId}`;
}
