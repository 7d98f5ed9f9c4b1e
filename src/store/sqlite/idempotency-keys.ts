import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { LIMITS } from '../../limits.ts';
import { IDEMPOTENCY_STATE } from '../codes.ts';
import { freesKey, isOver, repeatOf } from '../idempotency.ts';
import type { IdempotencyMark, LedgerOutcome } from '../store.ts';

const { running, finished, unknown } = IDEMPOTENCY_STATE.of;

/** Idempotency keys; they change in the same commit as their call. */
export class IdempotencyKeys {
  readonly #find: StatementSync;
  readonly #take: StatementSync;
  readonly #finish: StatementSync;
  readonly #free: StatementSync;
  readonly #lose: StatementSync;

  constructor(database: DatabaseSync) {
    const own = 'account_id = ? AND key = ? AND call_id = ?';
    this.#find = database.prepare('SELECT * FROM idempotency_key WHERE account_id = ? AND key = ?');
    this.#take = database.prepare(`REPLACE INTO idempotency_key VALUES (?, ?, ?, ?, ${running}, ?, NULL)`);
    this.#finish = database.prepare(`UPDATE idempotency_key SET state = ${finished}, kept = ? WHERE ${own}`);
    this.#free = database.prepare(`DELETE FROM idempotency_key WHERE ${own}`);
    this.#lose = database.prepare(`UPDATE idempotency_key SET state = ${unknown} WHERE ${own}`);
  }

  /** The outcome for a hold whose key belongs to another call; null if the key is free. */
  repeatOf(accountId: bigint, mark: IdempotencyMark, nowMs: bigint): LedgerOutcome | null {
    const columns = this.#find.get(accountId, mark.key) as unknown as IdempotencyColumns | undefined;
    if (columns === undefined) return null;
    const row = {
      callId: columns.call_id,
      bodySha256: columns.body_sha256,
      state: IDEMPOTENCY_STATE.word(columns.state),
      kept: columns.kept,
      createdMs: Number(columns.created_ms),
    };
    return isOver(row, Number(nowMs)) ? null : repeatOf(row, mark);
  }

  /** Replaces an expired one. */
  take(accountId: bigint, mark: IdempotencyMark, callId: bigint, nowMs: bigint): void {
    this.#take.run(accountId, mark.key, callId, mark.bodySha256, nowMs);
  }

  /** For a job: it is finished at once. */
  keep(accountId: bigint, mark: IdempotencyMark, jobId: bigint, createdMs: number): void {
    this.#take.run(accountId, mark.key, jobId, mark.bodySha256, BigInt(createdMs));
    this.#finish.run(null, accountId, mark.key, jobId);
  }

  settle(own: OwnKey, cost: bigint, answered: boolean, kept: Uint8Array | null): void {
    const { accountId, key, callId } = own;
    if (freesKey(cost, answered, kept)) this.#free.run(accountId, key, callId);
    else this.#finish.run(kept, accountId, key, callId);
  }

  lose({ accountId, key, callId }: OwnKey): void {
    this.#lose.run(accountId, key, callId);
  }
}

export interface OwnKey {
  readonly accountId: bigint;
  readonly key: string;
  readonly callId: bigint;
}

interface IdempotencyColumns {
  readonly call_id: bigint;
  readonly body_sha256: Uint8Array;
  readonly state: bigint;
  readonly created_ms: bigint;
  readonly kept: Uint8Array | null;
}

/** One step: deletes some expired keys and returns how many. */
export function sweepSlice(database: DatabaseSync, nowMs: number): number {
  const { changes } = database
    .prepare(`
      DELETE FROM idempotency_key WHERE rowid IN (
        SELECT rowid FROM idempotency_key WHERE state <> ${running} AND created_ms <= ? ORDER BY created_ms LIMIT ?)`)
    .run(BigInt(nowMs - LIMITS.idempotencyKeyMs), BigInt(LIMITS.idempotencySweepRows));
  return Number(changes);
}
