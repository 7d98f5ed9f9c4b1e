import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { CacheSize } from '../../kit/caches.ts';
import { IdMap } from '../../kit/id-map.ts';
import { LIMITS } from '../../limits.ts';
import { readMeta, writeMeta } from './meta.ts';
import { RowWriter } from './row-writer.ts';

/** Calls that their account has not got in its list yet. */
interface Unlisted {
  readonly accountId: bigint;
  readonly ids: bigint[];
}

type CallsByAccount = IdMap<Unlisted>;

/**
 * Which calls belong to an account, for listings. An index of the table would be written with every call, each time on
 * another page, which doubles the cost of a hold. So calls wait here until they fill a slice, which is then listed in the order
 * of the table's key, some rows with each batch: all at once, it would keep calls waiting. Until the whole slice is listed, a
 * reader finds its calls at the end of `call`, after `listed_up_to`.
 */
export class AccountIndex {
  readonly #database: DatabaseSync;
  readonly #sliceRows: number;
  readonly #rowsAtOnce: number;
  readonly #writer: RowWriter;
  readonly #readUnlisted: StatementSync;
  /** Cells of calls with an older id than the slice's last: ids are made when a request begins, and bodies may be slow. */
  readonly #late: bigint[] = [];
  /** Null until they are read. */
  #unlisted: CallsByAccount | null = null;
  #unlistedRows = 0;
  #newestId = 0n;
  #notedRows = 0;
  /** Cells of the slice that is being listed, from `#sliceAt` on. */
  #slice: bigint[] = [];
  #sliceAt = 0;
  /** The last id of the slice that is being listed, or was listed last. */
  #sliceUpTo = 0n;

  constructor(database: DatabaseSync, sliceRows: number = LIMITS.storeListedRows, rowsAtOnce = LISTED_AT_ONCE) {
    this.#database = database;
    this.#sliceRows = sliceRows;
    this.#rowsAtOnce = rowsAtOnce;
    this.#writer = new RowWriter(database, 'INSERT OR IGNORE', 'account_call', ['account_id', 'id']);
    this.#readUnlisted = database.prepare('SELECT account_id, id FROM call WHERE id > ? LIMIT ?');
    this.#readUnlisted.setReturnArrays(true);
    this.forget();
  }

  note(accountId: bigint, id: bigint): void {
    this.#notedRows += 1;
    if (id <= this.#sliceUpTo) this.#late.push(accountId, id);
    else if (this.#unlisted !== null) this.#add(this.#unlisted, accountId, id);
  }

  #add(unlisted: CallsByAccount, accountId: bigint, id: bigint): void {
    const known = unlisted.get(accountId);
    if (known === undefined) unlisted.set(accountId, { accountId, ids: [id] });
    else known.ids.push(id);
    this.#unlistedRows += 1;
    if (id > this.#newestId) this.#newestId = id;
  }

  /** Call it when the calls of a batch are in their table. */
  flush(): void {
    this.#writer.write(this.#late);
    this.#late.length = 0;
    this.#unlisted ??= this.#read();
    if (this.#slice.length === 0 && this.#unlistedRows >= this.#sliceRows) this.#beginSlice(this.#unlisted);
    // Faster than calls arrive, so that the slice ends before the next one is full.
    if (this.#slice.length > 0) this.#listRows(Math.max(this.#rowsAtOnce, 2 * this.#notedRows));
    this.#notedRows = 0;
  }

  /** Reads again what was stored, after a rollback. */
  forget(): void {
    this.#late.length = 0;
    this.#unlisted = null;
    this.#unlistedRows = 0;
    this.#endSlice();
    this.#sliceUpTo = readMeta(this.#database, 'listed_up_to');
  }

  /** Call it after deleting calls: those that wait to be listed must not be listed any more. */
  callsDeleted(upTo: bigint): void {
    if (upTo > readMeta(this.#database, 'listed_up_to')) this.forget();
  }

  /** The calls that wait to be listed. */
  size(): CacheSize {
    const entries = this.#unlistedRows + (this.#slice.length - this.#sliceAt) / CELLS;
    return { cache: 'writer_unlisted_calls', entries, entriesMax: MANY_SLICES * this.#sliceRows };
  }

  #read(): CallsByAccount {
    const unlisted: CallsByAccount = new IdMap();
    this.#newestId = this.#sliceUpTo;
    const rowsMax = MANY_SLICES * this.#sliceRows;
    const rows = this.#readUnlisted.all(this.#sliceUpTo, rowsMax) as unknown as [bigint, bigint][];
    if (rows.length === rowsMax) this.#listAll();
    else for (const [accountId, id] of rows) this.#add(unlisted, accountId, id);
    return unlisted;
  }

  #beginSlice(unlisted: CallsByAccount): void {
    const slice: bigint[] = [];
    for (const { accountId, ids } of unlisted.values().sort((a, b) => (a.accountId < b.accountId ? -1 : 1))) {
      for (const id of ids) slice.push(accountId, id);
    }
    this.#slice = slice;
    this.#sliceUpTo = this.#newestId;
    unlisted.clear();
    this.#unlistedRows = 0;
  }

  #listRows(rows: number): void {
    const end = this.#sliceAt + rows * CELLS;
    this.#writer.write(this.#slice.slice(this.#sliceAt, end));
    this.#sliceAt = end;
    if (end < this.#slice.length) return;
    writeMeta(this.#database, 'listed_up_to', this.#sliceUpTo);
    this.#endSlice();
  }

  #endSlice(): void {
    this.#slice = [];
    this.#sliceAt = 0;
  }

  /** Lists all calls at once, if none or few were listed: those of a ledger that was copied from another engine. */
  #listAll(): void {
    this.#database
      .prepare(
        'INSERT OR IGNORE INTO account_call SELECT account_id, id FROM call WHERE id > ? ORDER BY account_id, id',
      )
      .run(this.#sliceUpTo);
    this.#sliceUpTo = this.#database.prepare('SELECT max(id) AS id FROM call').get()?.id as bigint;
    this.#newestId = this.#sliceUpTo;
    writeMeta(this.#database, 'listed_up_to', this.#sliceUpTo);
  }
}

/** Few enough for a batch to take no longer than others. */
const LISTED_AT_ONCE = 128;
/** More than wait while a slice is being listed. */
const MANY_SLICES = 4;
/** A row's account and its id. */
const CELLS = 2;
