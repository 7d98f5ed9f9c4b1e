import { LIMITS } from '../../limits.ts';
import { CALL_STATE } from '../codes.ts';
import { DIED_REASON, type Instance } from '../store.ts';
import type { BatchRunner } from './batch.ts';
import type { Connections, RunSql } from './connections.ts';
import { refuseUnfinished } from './copy-mark.ts';
import { takeLock, tryLock, underLock } from './locks.ts';
import { type DatabaseTime, NOW_MS } from './time.ts';

/** Of an instance's row: it lives; it is fenced, so that no hold of its enters any more; all its holds have ended. */
const LIVES = 1;
const FENCED = 2;
const BURIED = 3;

const NUMBERS = 1024;

/** `$1` milliseconds before now, on the database's clock. */
const MS_AGO = "clock_timestamp() - $1::int8 * interval '1 millisecond'";

/**
 * The lives of replicas. Each beats on the database's clock; one that is silent too long is fenced first, which waits for
 * its batches under way, and then its open holds are voided in their callers' favour.
 */
export class Instances {
  readonly #connections: Connections;
  readonly #runner: BatchRunner;
  readonly #time: DatabaseTime;
  #epoch: bigint | null = null;

  constructor(connections: Connections, runner: BatchRunner, time: DatabaseTime) {
    this.#connections = connections;
    this.#runner = runner;
    this.#time = time;
  }

  /** Of this life; null before it has begun. */
  get epoch(): bigint | null {
    return this.#epoch;
  }

  /** This process's earlier life ends here, and so do those that said farewell; the silent are left to the reaper. */
  async begin(): Promise<Instance> {
    const before = this.#epoch;
    const { epoch, number } = await this.#connections.transaction(async (sql) => {
      await takeLock(sql, 'instances');
      await refuseUnfinished(sql);
      await fence(sql, "epoch = $1 OR beat_at = '-infinity'", before);
      const [row] = await sql<{ epoch: bigint }>('SELECT coalesce(max(epoch), 0) + 1 AS epoch FROM instance');
      const number = await freeNumber(sql, row!.epoch);
      await sql(
        `INSERT INTO instance (epoch, number, state, started_at, beat_at, beating_since)
         VALUES ($1, $2, ${LIVES}, clock_timestamp(), clock_timestamp(), clock_timestamp())`,
        [row!.epoch, number],
      );
      return { epoch: row!.epoch, number };
    });
    this.#epoch = epoch;
    return { epoch, number, voidedHolds: await this.#voidFenced() };
  }

  /**
   * False once this life was declared dead. After a silence of its own it must be heard for a while before it may judge
   * others: what kept it silent may keep them silent a little longer.
   */
  async beat(): Promise<boolean> {
    const answer = await this.#time.learn(async () => {
      const [row] = await this.#connections.pulse<{ now_ms: bigint }>(
        `UPDATE instance SET beat_at = clock_timestamp(),
           beating_since = CASE WHEN beat_at < ${MS_AGO} THEN clock_timestamp() ELSE beating_since END
         WHERE epoch = $2 AND state = ${LIVES} RETURNING ${NOW_MS}`,
        [LIMITS.instanceSilentMs, this.#epoch],
      );
      return row;
    });
    return answer !== undefined;
  }

  /**
   * Declares dead who has been silent too long and voids their open holds; says how many. One process at a time does it,
   * and only after it has itself been heard for as long: when the database was away, nobody could be heard.
   */
  reap(): Promise<number> {
    let isOurs = false;
    const take = async (sql: RunSql) => {
      isOurs = await tryLock(sql, 'reaper');
    };
    return underLock(this.#connections, take, async () => {
      if (!isOurs || !(await this.#fenceSilent())) return 0;
      return this.#voidFenced();
    });
  }

  /** Says farewell: nobody needs to wait for this life to be declared dead. */
  async leave(): Promise<void> {
    if (this.#epoch === null || this.#connections.down !== null) return;
    const leave = `UPDATE instance SET beat_at = '-infinity' WHERE epoch = $1 AND state = ${LIVES}`;
    await this.#connections.query(leave, [this.#epoch]).catch(() => undefined);
  }

  /** Whether anyone is fenced now; false also while we may not judge. */
  #fenceSilent(): Promise<boolean> {
    return this.#connections.transaction(async (sql) => {
      const [own] = await sql(
        `SELECT 1 FROM instance WHERE epoch = $2 AND state = ${LIVES} AND beat_at >= ${MS_AGO} AND beating_since < ${MS_AGO}`,
        [LIMITS.instanceDeadMs, this.#epoch],
      );
      if (own === undefined) return false;
      await fence(sql, `beat_at < ${MS_AGO}`, LIMITS.instanceDeadMs);
      const [fenced] = await sql(`SELECT 1 FROM instance WHERE state = ${FENCED} LIMIT 1`);
      return fenced !== undefined;
    });
  }

  async #voidFenced(): Promise<number> {
    let voided = 0;
    for (;;) {
      const orphans = await this.#connections.query<{ id: bigint }>(
        `SELECT id FROM call WHERE state = ${CALL_STATE.of.open}
           AND epoch = ANY(ARRAY(SELECT epoch FROM instance WHERE state = ${FENCED})) ORDER BY id LIMIT $1`,
        [LIMITS.ledgerBatchMax],
      );
      if (orphans.length === 0) break;
      const outcomes = await this.#runner.run(orphans.map(({ id }) => ({ kind: 'void', id, reason: DIED_REASON })));
      voided += outcomes.filter(({ kind }) => kind === 'voided').length;
      const failed = outcomes.find((outcome) => outcome.kind === 'operation_failed');
      if (failed !== undefined) throw new Error(`A hold of a dead process cannot be voided: ${failed.message}`);
    }
    await this.#connections.query(
      `UPDATE instance SET state = ${BURIED} WHERE state = ${FENCED} AND NOT EXISTS (
         SELECT 1 FROM call WHERE call.state = ${CALL_STATE.of.open} AND call.epoch = instance.epoch)`,
    );
    return voided;
  }
}

/** The whole row is asked for, which no batch with a hold of that life under way lets us have. */
async function fence(sql: RunSql, condition: string, value: bigint | number | null): Promise<void> {
  const dead = await sql<{ epoch: bigint }>(
    `SELECT epoch FROM instance WHERE state = ${LIVES} AND (${condition}) ORDER BY epoch FOR UPDATE`,
    [value],
  );
  if (dead.length === 0) return;
  const fenced = `UPDATE instance SET state = ${FENCED} WHERE epoch = ANY($1::int8[])`;
  await sql(fenced, [dead.map(({ epoch }) => epoch)]);
}

/** The epoch's own, unless a life is still using it. */
async function freeNumber(sql: RunSql, epoch: bigint): Promise<number> {
  const [row] = await sql<{ number: bigint }>(
    `SELECT n AS number FROM generate_series(0, ${NUMBERS - 1}) AS n
     WHERE NOT EXISTS (SELECT 1 FROM instance WHERE number = n AND state = ${LIVES})
     ORDER BY (n - $1 + ${NUMBERS}) % ${NUMBERS} LIMIT 1`,
    [Number(epoch % BigInt(NUMBERS))],
  );
  if (row === undefined) throw new Error(`${NUMBERS} replicas run on this database, and no more can.`);
  return Number(row.number);
}
