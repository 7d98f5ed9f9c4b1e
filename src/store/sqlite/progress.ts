import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { INT64_MAX } from '../int64.ts';
import { readMeta } from './meta.ts';

/** How far a ledger has come. It is stored in the database, and in a file beside it that outlives a lost log. */
export interface Progress {
  readonly booksId: bigint;
  /** Raised when a backup is restored or a loss is accepted: the other numbers may then be lower than before. */
  readonly generation: bigint;
  /** Raised by every commit that changes something. */
  readonly tip: bigint;
  /** Calls that have ended, deleted ones included. */
  readonly receipts: bigint;
  readonly spentNanousd: bigint;
}

export const NO_PROGRESS: Progress = { booksId: 0n, generation: 0n, tip: 0n, receipts: 0n, spentNanousd: 0n };

/** All zero for a database without tables, or one that an older version wrote. */
export function readProgress(database: DatabaseSync): Progress {
  const hasMeta = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get() !== undefined;
  if (!hasMeta) return NO_PROGRESS;
  return {
    booksId: readMeta(database, 'books_id'),
    generation: readMeta(database, 'generation'),
    tip: readMeta(database, 'tip'),
    receipts: readMeta(database, 'receipts'),
    spentNanousd: readMeta(database, 'spent'),
  };
}

/** The writer's progress: counted in memory, and written by the same transaction as what it counts. */
export class ProgressCounter implements Progress {
  readonly #database: DatabaseSync;
  readonly #totalChanges: StatementSync;
  readonly #write: StatementSync;
  #read: Progress = NO_PROGRESS;
  #seenChanges = 0n;
  #tip = 0n;
  #receipts = 0n;
  #spent = 0n;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#totalChanges = database.prepare('SELECT total_changes()');
    this.#totalChanges.setReturnArrays(true);
    // An update of all three rows would build a temporary index of their names in every commit.
    this.#write = database.prepare(
      "INSERT INTO meta VALUES ('tip', ?), ('receipts', ?), ('spent', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    );
    this.#seenChanges = this.#changes();
    this.reload();
  }

  get booksId(): bigint {
    return this.#read.booksId;
  }

  get generation(): bigint {
    return this.#read.generation;
  }

  get tip(): bigint {
    return this.#tip;
  }

  get receipts(): bigint {
    return this.#receipts;
  }

  get spentNanousd(): bigint {
    return this.#spent;
  }

  addReceipt(costNanousd: bigint): void {
    this.#receipts += 1n;
    this.#spent += costNanousd;
    if (this.#spent > INT64_MAX) this.#spent = INT64_MAX;
  }

  /** Does nothing after a transaction that changed nothing: a commit without changes needs no sync. */
  write(): void {
    const changes = this.#changes();
    if (changes === this.#seenChanges) return;
    this.#tip += 1n;
    const written = this.#write.run(this.#tip, this.#receipts, this.#spent);
    this.#seenChanges = changes + BigInt(written.changes);
  }

  /** Takes over what the database says, after a rollback or another connection's commit. */
  reload(): void {
    this.#read = readProgress(this.#database);
    this.#tip = this.#read.tip;
    this.#receipts = this.#read.receipts;
    this.#spent = this.#read.spentNanousd;
  }

  #changes(): bigint {
    const [changes] = this.#totalChanges.get() as unknown as [bigint];
    return changes;
  }
}
