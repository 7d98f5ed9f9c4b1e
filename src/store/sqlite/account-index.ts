import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { LIMITS } from '../../limits.ts';
import { readMeta, writeMeta } from './meta.ts';

/**
 * Which calls belong to an account, for listings. An index of the table would be written with every call, each time on
 * another page, which doubles the cost of a hold. Calls are listed here many at a time instead, in the order of the table's
 * key; until then a reader finds them at the end of `call`, after `listed_up_to`.
 */
export class AccountIndex {
  readonly #database: DatabaseSync;
  readonly #sliceRows: number;
  readonly #add: StatementSync;
  readonly #addAll: StatementSync;
  /** Calls with an older id than the last one listed: ids are made when a request begins, and bodies may be slow. */
  readonly #late: bigint[] = [];
  #listedUpTo = 0n;
  /** Null until it is counted. */
  #unlisted: number | null = null;

  constructor(database: DatabaseSync, sliceRows: number = LIMITS.storeListedRows) {
    this.#database = database;
    this.#sliceRows = sliceRows;
    this.#add = database.prepare('INSERT OR IGNORE INTO account_call VALUES (?, ?)');
    this.#addAll = database.prepare(
      'INSERT OR IGNORE INTO account_call SELECT account_id, id FROM call WHERE id > ? ORDER BY account_id, id',
    );
    this.forget();
  }

  note(accountId: bigint, id: bigint): void {
    if (id <= this.#listedUpTo) this.#late.push(accountId, id);
    else if (this.#unlisted !== null) this.#unlisted++;
  }

  /** Call it when the calls of a batch are in their table. */
  flush(): void {
    for (let at = 0; at < this.#late.length; at += 2) this.#add.run(this.#late[at]!, this.#late[at + 1]!);
    this.#late.length = 0;
    this.#unlisted ??= this.#count();
    if (this.#unlisted >= this.#sliceRows) this.#listAll();
  }

  /** Reads again what was stored, after a rollback. */
  forget(): void {
    this.#late.length = 0;
    this.#listedUpTo = readMeta(this.#database, 'listed_up_to');
    this.#unlisted = null;
  }

  #count(): number {
    const sql = 'SELECT count(*) AS calls FROM (SELECT 1 FROM call WHERE id > ? LIMIT ?)';
    return Number(this.#database.prepare(sql).get(this.#listedUpTo, this.#sliceRows)?.calls);
  }

  #listAll(): void {
    this.#addAll.run(this.#listedUpTo);
    const last = this.#database.prepare('SELECT max(id) AS id FROM call').get()?.id as bigint;
    writeMeta(this.#database, 'listed_up_to', last);
    this.#listedUpTo = last;
    this.#unlisted = 0;
  }
}
