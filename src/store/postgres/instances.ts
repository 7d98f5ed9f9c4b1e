import { LIMITS } from '../../limits.ts';
import { CALL_STATE } from '../codes.ts';
import { DIED_REASON, type Instance, type Reaping } from '../store.ts';
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

/** So many milliseconds before now, on the database's clock. */
const ago = (ms: number) => `clock_timestamp() - ${ms} * interval '1 millisecond'`;
const DEAD = ago(LIMITS.instanceDeadMs);

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
      await fence(sql, "epoch = $1 OR beat_at = '-infinity'", [before]);
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
    return { epoch, number, voidedHolds: await this.#clearUp() };
  }

  /** What fails here, or takes too long for a life that has begun and must beat, is left to the reaper. */
  async #clearUp(): Promise<number> {
    const voided = this.#voidFenced().then(
      (reaping) => reaping.voided,
      () => 0,
    );
    return (await this.#connections.within(LIMITS.instanceSilentMs, voided)) ?? 0;
  }

  /**
   * False once that life was declared dead. After a silence of its own it must be heard for a while before it may judge
   * others: what kept it silent may keep them silent a little longer.
   */
  async heartbeat(epoch: bigint): Promise<boolean> {
    const answer = await this.#time.learn(async () => {
      const [row] = await this.#connections.pulse<{ now_ms: bigint }>(
        `UPDATE instance SET beat_at = clock_timestamp(),
           beating_since = CASE WHEN beat_at < ${ago(LIMITS.instanceSilentMs)} THEN clock_timestamp() ELSE beating_since END
         WHERE epoch = ${epoch} AND state = ${LIVES} RETURNING ${NOW_MS}`,
      );
      return row;
    });
    return answer !== undefined;
  }

  /**
   * Declares dead who has been silent too long and voids their open holds. One process at a time does it,
   * and only after it has itself been heard for as long: when the database was away, nobody could be heard.
   */
  reap(): Promise<Reaping> {
    let isOurs = false;
    const take = async (sql: RunSql) => {
      isOurs = await tryLock(sql, 'reaper');
    };
    return underLock(this.#connections, take, async () => {
      if (!isOurs || !(await this.#fenceSilent())) return NOBODY;
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
        `SELECT 1 FROM instance WHERE epoch = $1 AND state = ${LIVES} AND beat_at >= ${DEAD} AND beating_since < ${DEAD}`,
        [this.#epoch],
      );
      if (own === undefined) return false;
      await fence(sql, `beat_at < ${DEAD}`);
      const [fenced] = await sql(`SELECT 1 FROM instance WHERE state = ${FENCED} LIMIT 1`);
      return fenced !== undefined;
    });
  }

  /** A hold that cannot be voided keeps its life from being buried, and nothing else. */
  async #voidFenced(): Promise<Reaping> {
    let voided = 0;
    let stuck = 0;
    let why = '';
    for (let after: bigint | undefined = 0n; after !== undefined; ) {
      const orphans: { id: bigint }[] = await this.#connections.query<{ id: bigint }>(
        `SELECT id FROM call WHERE state = ${CALL_STATE.of.open} AND id > $1
           AND epoch = ANY(ARRAY(SELECT epoch FROM instance WHERE state = ${FENCED})) ORDER BY id LIMIT $2`,
        [after, LIMITS.ledgerBatchMax],
      );
      const outcomes = await this.#runner.run(orphans.map(({ id }) => ({ kind: 'void', id, reason: DIED_REASON })));
      for (const [at, outcome] of outcomes.entries()) {
        if (outcome.kind === 'voided') voided += 1;
        if (outcome.kind === 'operation_failed' && stuck++ === 0) why = `call ${orphans[at]!.id}, ${outcome.message}`;
      }
      after = orphans.at(-1)?.id;
    }
    await this.#connections.query(
      `UPDATE instance SET state = ${BURIED} WHERE state = ${FENCED} AND NOT EXISTS (
         SELECT 1 FROM call WHERE call.state = ${CALL_STATE.of.open} AND call.epoch = instance.epoch)`,
    );
    return { voided, stuck: stuck === 0 ? null : `${stuck} holds of dead processes cannot be voided: ${why}` };
  }
}

const NOBODY: Reaping = { voided: 0, stuck: null };

/** The whole row is asked for, which no batch with a hold of that life under way lets us have. */
async function fence(sql: RunSql, condition: string, values: readonly unknown[] = []): Promise<void> {
  const dead = await sql<{ epoch: bigint }>(
    `SELECT epoch FROM instance WHERE state = ${LIVES} AND (${condition}) ORDER BY epoch FOR UPDATE`,
    values,
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
