import { counted } from '../../kit/counted.ts';
import { LIMITS } from '../../limits.ts';
import { CALL_STATE } from '../codes.ts';
import { pauseAll } from '../programs/jobs.ts';
import { type Beat, DIED_REASON, type Instance, type Reaping } from '../store.ts';
import type { BatchRunner } from './batch.ts';
import type { Connections, ReadFacts, RunSql } from './connections.ts';
import { refuseUnfinished } from './copy-mark.ts';
import { runProgram } from './directory.ts';
import { takeLock, tryLock, underLock } from './locks.ts';
import {
  type Facts,
  factsOf,
  newToken,
  RAISE_GENERATION,
  Registration,
  type Registrations,
  SERVER_FACTS,
} from './registration.ts';
import { type DatabaseTime, NOW_MS } from './time.ts';

/** States of an instance: alive; fenced, so that it can take no more holds; ended, with all its holds. */
const ALIVE = 1;
const FENCED = 2;
const BURIED = 3;

const NUMBERS = 1024;

/** This many milliseconds ago, on the database's clock. */
const ago = (ms: number) => `clock_timestamp() - ${ms} * interval '1 millisecond'`;
const DEAD = ago(LIMITS.instanceDeadMs);

/**
 * A process that finds no row of its own takes that for an older state, so rows stay for much longer than any process is
 * suspended. The last epoch stays, because the row that was just inserted has it.
 */
const FORGET_BURIED = `
  WITH gone AS (
    DELETE FROM instance WHERE state = ${BURIED} AND greatest(started_at, beat_at) < ${ago(LIMITS.instanceForgottenMs)}
    RETURNING token)
  DELETE FROM instance_commit WHERE token IN (SELECT token FROM gone)`;

/**
 * Registration of processes that share the database. Each sends heartbeats, timed by the database's clock. One that is
 * silent too long is fenced first, which waits for its running batches; then its open holds are voided at no cost to
 * the callers.
 */
export class Instances {
  readonly #connections: Connections;
  readonly #registrations: Registrations;
  readonly #runner: BatchRunner;
  readonly #time: DatabaseTime;
  /** Empty if the server does not tell who it is. */
  #serverFacts = '';

  constructor(connections: Connections, registrations: Registrations, runner: BatchRunner, time: DatabaseTime) {
    this.#connections = connections;
    this.#registrations = registrations;
    this.#runner = runner;
    this.#time = time;
    connections.checkEach((read) => this.#checkConnection(read));
  }

  /**
   * Ends the previous registration of this process and those that shut down properly; silent ones are left to `reap`.
   * The first process that registers after the database was put back raises the generation, and so ends all older ones;
   * also if none was running when it was put back.
   */
  async begin(): Promise<Instance> {
    const before = this.#registrations.current;
    const token = newToken();
    this.#serverFacts = await readableServerFacts(this.#connections);
    const registered = await this.#connections.transaction(async (sql) => {
      await takeLock(sql, 'instances');
      await refuseUnfinished(sql);
      const found = await readFacts(sql, `SELECT name, value FROM meta ${this.#serverFacts}`);
      if (before !== null) this.#registrations.checkServer(before, found);
      const replaced = before?.ended ?? null;
      if (replaced !== null) await sql(RAISE_GENERATION, [before!.generation]);
      else if (isRestored(found)) await sql(RAISE_GENERATION, [found.get('generation')]);
      await fence(sql, "epoch = $1 AND token = $2 OR beat_at = '-infinity'", [before?.epoch, before?.token]);
      const [row] = await sql<{ epoch: bigint }>('SELECT coalesce(max(epoch), 0) + 1 AS epoch FROM instance');
      const { epoch } = row!;
      const number = await freeNumber(sql, epoch);
      await sql(
        `INSERT INTO instance (epoch, number, token, state, started_at, beat_at, beating_since)
         VALUES ($1, $2, $3, ${ALIVE}, clock_timestamp(), clock_timestamp(), clock_timestamp())`,
        [epoch, number, token],
      );
      await sql(FORGET_BURIED);
      const began = await readFacts(sql, `SELECT name, value FROM meta ${this.#serverFacts}`);
      await pauseRestoredJobs(sql, began);
      return { epoch, number, lastCallId: await lastCallId(sql), replaced, began };
    });
    const { began, ...instance } = registered;
    this.#registrations.begin(new Registration({ epoch: instance.epoch, token, began }));
    return { ...instance, voidedHolds: await this.#clearUp() };
  }

  /** Failures, and work that would delay the first heartbeat, are left to `reap`. */
  async #clearUp(): Promise<number> {
    const voided = this.#voidFenced().then(
      (reaping) => reaping.voided,
      () => 0,
    );
    return (await this.#connections.within(LIMITS.instanceSilentMs, voided)) ?? 0;
  }

  /**
   * Null if the instance was declared dead, or if the database turns out to have been put back to an older state. After a
   * silence of its own, an instance must send heartbeats for a while before it may declare others dead: the same cause
   * may keep them silent a little longer.
   */
  async heartbeat(epoch: bigint): Promise<Beat | null> {
    const registration = this.#registrations.current;
    if (registration === null || registration.epoch !== epoch || registration.ended !== null) return null;
    const confirmed = registration.confirmed();
    const rows = await this.#connections.pulse<FactRow>(
      `WITH beat AS (
         UPDATE instance SET beat_at = clock_timestamp(),
           beating_since = CASE WHEN beat_at < ${ago(LIMITS.instanceSilentMs)} THEN clock_timestamp() ELSE beating_since END
         WHERE epoch = ${epoch} AND token = ${registration.token} AND state = ${ALIVE} RETURNING 1)
       ${factsOf(registration)} ${this.#serverFacts}
       UNION ALL SELECT 'beats', count(*) FROM beat UNION ALL SELECT 'last_call_id', ${LAST_CALL_ID}
       UNION ALL SELECT 'now_ms', now_ms FROM (SELECT ${NOW_MS}) AS clock`,
    );
    const facts = asFacts(rows);
    this.#time.set(facts.get('now_ms')!);
    if (this.#registrations.check(registration, facts, confirmed) !== null) return null;
    return facts.get('beats') === 1n ? { lastCallId: facts.get('last_call_id')! } : null;
  }

  async #checkConnection(read: ReadFacts): Promise<void> {
    const registration = this.#registrations.current;
    if (registration === null || registration.ended !== null) return;
    const facts = new Map(await read(`SELECT name, value FROM meta ${this.#serverFacts}`));
    this.#registrations.checkServer(registration, facts);
  }

  /**
   * Declares instances dead that were silent too long, and voids their open holds. One process at a time does this, and
   * only if its own heartbeats succeeded for as long: while the database was unavailable, no heartbeat could succeed.
   */
  reap(): Promise<Reaping> {
    let isOurs = false;
    const take = async (sql: RunSql) => {
      isOurs = await tryLock(sql, 'reaper');
    };
    return underLock(this.#connections, take, async () => {
      if (!isOurs || !(await this.#fenceSilent())) return NOTHING_VOIDED;
      return this.#voidFenced();
    });
  }

  /** Marks this instance as shut down, so that others need not wait for it to be declared dead. */
  async leave(): Promise<void> {
    const { current } = this.#registrations;
    if (current === null || this.#connections.down !== null) return;
    const leave = `UPDATE instance SET beat_at = '-infinity' WHERE epoch = $1 AND token = $2 AND state = ${ALIVE}`;
    await this.#connections.query(leave, [current.epoch, current.token]).catch(() => undefined);
  }

  /** Whether any instance is fenced; false also while this process may not declare others dead. */
  #fenceSilent(): Promise<boolean> {
    const { current } = this.#registrations;
    return this.#connections.transaction(async (sql) => {
      const [own] = await sql(
        `SELECT 1 FROM instance WHERE epoch = $1 AND token = $2 AND state = ${ALIVE}
           AND beat_at >= ${DEAD} AND beating_since < ${DEAD}`,
        [current?.epoch, current?.token],
      );
      if (own === undefined) return false;
      await fence(sql, `beat_at < ${DEAD}`);
      const [fenced] = await sql(`SELECT 1 FROM instance WHERE state = ${FENCED} LIMIT 1`);
      return fenced !== undefined;
    });
  }

  /** A hold that cannot be voided only keeps its instance in the fenced state. */
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
    return {
      voided,
      stuck: stuck === 0 ? null : `${counted(stuck, 'hold')} of dead processes cannot be voided: ${why}`,
    };
  }
}

type KnownFact = readonly [name: string, known: string];

/** The identity of the server, and the names under which the last process remembered it. */
const FACTS_OF_SERVER: readonly KnownFact[] = [
  ['system', 'jobs_system'],
  ['timeline', 'jobs_timeline'],
];

/** What must be the same as when jobs last ran. */
const FACTS_OF_JOBS: readonly KnownFact[] = [['generation', 'jobs_generation'], ...FACTS_OF_SERVER];

function changedOf(known: readonly KnownFact[], facts: Facts): KnownFact[] {
  return known.filter(([name, as]) => facts.has(name) && facts.get(name) !== facts.get(as));
}

/** A restored server has another identity or timeline, which shows even if no process was running meanwhile. */
function isRestored(facts: Facts): boolean {
  return changedOf(FACTS_OF_SERVER, facts).some(([, known]) => facts.has(known));
}

/** Jobs of a database that was put back may have run since, so only an operator lets them run again. */
async function pauseRestoredJobs(sql: RunSql, facts: Facts): Promise<void> {
  const changed = changedOf(FACTS_OF_JOBS, facts);
  if (changed.some(([, known]) => facts.has(known))) await runProgram(sql, pauseAll());
  for (const [name, known] of changed) {
    const remember = 'INSERT INTO meta VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value';
    await sql(remember, [known, facts.get(name)]);
  }
}

interface FactRow {
  readonly name: string;
  readonly value: bigint;
}

function asFacts(rows: readonly FactRow[]): Facts {
  return new Map(rows.map(({ name, value }) => [name, value]));
}

async function readFacts(sql: RunSql, text: string): Promise<Facts> {
  return asFacts(await sql<FactRow>(text));
}

/** Some services do not allow these functions; then the rows alone show that the database was put back. */
async function readableServerFacts(connections: Connections): Promise<string> {
  const serverFacts = `UNION ALL ${SERVER_FACTS}`;
  try {
    await connections.query(`SELECT name, value FROM meta ${serverFacts}`);
    return serverFacts;
  } catch (error) {
    if (connections.down !== null) throw error;
    return '';
  }
}

const NOTHING_VOIDED: Reaping = { voided: 0, stuck: null };

/** The highest id of any call; deleted ones are in the closed part. */
const LAST_CALL_ID = `greatest((SELECT max(id) FROM call), (SELECT value FROM meta WHERE name = 'closed_up_to'), 0::int8)`;

async function lastCallId(sql: RunSql): Promise<bigint> {
  const [row] = await sql<{ id: bigint }>(`SELECT ${LAST_CALL_ID} AS id`);
  return row!.id;
}

/** Locks the whole row, which waits for running batches of that instance. */
async function fence(sql: RunSql, condition: string, values: readonly unknown[] = []): Promise<void> {
  const dead = await sql<{ epoch: bigint }>(
    `SELECT epoch FROM instance WHERE state = ${ALIVE} AND (${condition}) ORDER BY epoch FOR UPDATE`,
    values,
  );
  if (dead.length === 0) return;
  const fenced = `UPDATE instance SET state = ${FENCED} WHERE epoch = ANY($1::int8[])`;
  await sql(fenced, [dead.map(({ epoch }) => epoch)]);
}

/** The epoch's own number, unless a live instance uses it. */
async function freeNumber(sql: RunSql, epoch: bigint): Promise<number> {
  const [row] = await sql<{ number: bigint }>(
    `SELECT n AS number FROM generate_series(0, ${NUMBERS - 1}) AS n
     WHERE NOT EXISTS (SELECT 1 FROM instance WHERE number = n AND state = ${ALIVE})
     ORDER BY (n - $1 + ${NUMBERS}) % ${NUMBERS} LIMIT 1`,
    [Number(epoch % BigInt(NUMBERS))],
  );
  if (row === undefined) throw new Error(`${NUMBERS} processes are using this database, which is the maximum.`);
  return Number(row.number);
}
