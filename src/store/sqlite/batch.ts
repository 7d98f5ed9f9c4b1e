import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { LedgerOutcome } from '../store.ts';
import { type BatchBuffer, BatchBufferReader } from './batch-buffer.ts';
import { describeFault, hasWrongTables } from './faults.ts';
import type { Operations } from './operations.ts';
import type { Progress } from './progress.ts';
import type { RowCache } from './row-cache.ts';

/** The disk or the file can no longer be trusted. Nothing may be answered after this; the process should exit. */
export class StoreBroken extends Error {
  override readonly name = 'StoreBroken';
}

/** What is done around the writer's commits. */
export interface CommitGuard {
  beginning(): void;
  committing(): void;
  /** Called between a commit and the report of its outcomes; if it throws, they are not reported. */
  committed(progress: Progress): void;
  /** The commit has changed nothing, so there is nothing to report. */
  committedNothing(): void;
  refuseIfGone(): void;
}

export const NO_GUARD: CommitGuard = {
  beginning: () => undefined,
  committing: () => undefined,
  committed: () => undefined,
  committedNothing: () => undefined,
  refuseIfGone: () => undefined,
};

/** Runs a batch in one commit. An operation that throws fails alone. */
export class BatchRunner {
  readonly #database: DatabaseSync;
  readonly #cache: RowCache;
  readonly #operations: Operations;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #dataVersion: StatementSync;
  readonly #guard: CommitGuard;
  #seenDataVersion: bigint | null = null;
  #committedTip = 0n;

  constructor(database: DatabaseSync, cache: RowCache, operations: Operations, guard: CommitGuard) {
    this.#database = database;
    this.#guard = guard;
    this.#cache = cache;
    this.#operations = operations;
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
    this.#dataVersion = database.prepare('PRAGMA data_version');
    this.#dataVersion.setReturnArrays(true);
  }

  run(buffer: BatchBuffer, nowMs: number): LedgerOutcome[] {
    return this.runAll([buffer], nowMs)[0]!;
  }

  /** Runs the batches of several clients in one commit. After a defect each has a commit of its own. */
  runAll(buffers: readonly BatchBuffer[], nowMs: number): LedgerOutcome[][] {
    this.#beginAt(nowMs);
    try {
      this.#cache.moveWindowsTo(nowMs);
      const outcomes = buffers.map((buffer) => this.#applyAll(new BatchBufferReader(buffer)));
      this.#cache.flush();
      this.#commitNow();
      return outcomes;
    } catch (error) {
      this.#rollBack(error);
    }
    return buffers.map((buffer) => this.#runOneByOne(buffer, nowMs));
  }

  #applyAll(reader: BatchBufferReader): LedgerOutcome[] {
    const outcomes: LedgerOutcome[] = [];
    while (outcomes.length < reader.operations) outcomes.push(this.#operations.applyNext(reader));
    return outcomes;
  }

  /** Runs the writer's other work on the same rows in one transaction. */
  transaction<Result>(nowMs: number, run: () => Result): Result {
    this.#beginAt(nowMs);
    try {
      const result = run();
      this.#cache.flush();
      this.#commitNow();
      return result;
    } catch (error) {
      this.#rollBack(error);
      throw error;
    }
  }

  /** The slow path after a defect: each operation in its own savepoint, still in one commit. */
  #runOneByOne(buffer: BatchBuffer, nowMs: number): LedgerOutcome[] {
    this.#beginAt(nowMs);
    try {
      this.#cache.moveWindowsTo(nowMs);
      const reader = new BatchBufferReader(buffer);
      const outcomes: LedgerOutcome[] = [];
      while (outcomes.length < reader.operations) outcomes.push(this.#applyAlone(reader, nowMs));
      this.#commitNow();
      return outcomes;
    } catch (error) {
      this.#rollBack(error);
      throw error;
    }
  }

  #applyAlone(reader: BatchBufferReader, nowMs: number): LedgerOutcome {
    this.#database.exec('SAVEPOINT operation');
    try {
      const outcome = this.#operations.applyNext(reader);
      this.#cache.flush();
      this.#database.exec('RELEASE operation');
      return outcome;
    } catch (error) {
      if (isBroken(error)) throw error;
      this.#database.exec('ROLLBACK TO operation; RELEASE operation');
      this.#cache.undo();
      this.#cache.moveWindowsTo(nowMs);
      return { kind: 'operation_failed', message: String(error) };
    }
  }

  #beginAt(nowMs: number): void {
    this.#guard.beginning();
    this.#begin.run();
    const [version] = this.#dataVersion.get() as unknown as [bigint];
    if (version !== this.#seenDataVersion) this.#cache.forget();
    this.#seenDataVersion = version;
    this.#cache.trim();
    this.#cache.nowMs = BigInt(nowMs);
  }

  #commitNow(): void {
    this.#guard.committing();
    try {
      this.#commit.run();
    } catch (error) {
      throw new StoreBroken(`The commit failed: ${describeFault(error) ?? error}`, { cause: error });
    }
    const { progress } = this.#cache;
    if (progress.tip === this.#committedTip) this.#guard.committedNothing();
    else this.#report(progress);
  }

  /** The commit cannot be undone, so whatever fails now must not make its operations run again. */
  #report(progress: Progress): void {
    this.#committedTip = progress.tip;
    try {
      this.#guard.committed(progress);
    } catch (error) {
      if (error instanceof StoreBroken) throw error;
      throw new StoreBroken(`The mark of a commit was not written: ${describeFault(error) ?? error}`, { cause: error });
    }
  }

  #rollBack(error: unknown): void {
    if (error instanceof StoreBroken) throw error;
    if (isBroken(error)) throw new StoreBroken(describeFault(error) ?? String(error), { cause: error });
    if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    this.#cache.forget();
  }
}

/** SQLite result codes after which the file, the disk or the memory may be faulty. */
const BROKEN_CODES = new Set([7, 8, 10, 11, 13, 14, 26]);

export function isBroken(error: unknown): boolean {
  if (error instanceof StoreBroken || hasWrongTables(error)) return true;
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
  return typeof code === 'number' && BROKEN_CODES.has(code & 0xff);
}
