import { randomBytes } from 'node:crypto';
import { StoreUnavailable } from '../store.ts';
import type { Statement } from './pipeline.ts';

/** Numbers by name, as the database gives them to this process. */
export type Facts = ReadonlyMap<string, bigint>;

/** Commits that the database has confirmed to this process, by the number of the connection. */
type Confirmed = readonly (bigint | undefined)[];

interface RegistrationTerms {
  readonly epoch: bigint;
  readonly token: bigint;
  /** The ledger's generation and, if the server tells them, its system identifier and timeline. */
  readonly began: Facts;
}

/**
 * One registration of this process, and what it knows to be committed. It ends when the database turns out to have been
 * put back to an older state, by a restored backup or by a standby that had not received the last commits.
 */
export class Registration {
  readonly epoch: bigint;
  readonly token: bigint;
  readonly #began: Facts;
  readonly #confirmed: (bigint | undefined)[] = [];
  #ended: string | null = null;

  constructor({ epoch, token, began }: RegistrationTerms) {
    this.epoch = epoch;
    this.token = token;
    this.#began = began;
  }

  get generation(): bigint {
    return this.#began.get('generation')!;
  }

  /** Why it ended, in one sentence; null while it is in force. */
  get ended(): string | null {
    return this.#ended;
  }

  end(reason: string): void {
    this.#ended ??= reason;
  }

  /** Call after a commit was confirmed. A commit without a reply does not count. */
  confirm(line: number, commits: bigint): void {
    this.#confirmed[line] = commits;
  }

  /** Counts a commit of the connection with that number. No row in the answer means that commits are missing. */
  countCommit(line: number): Statement {
    const confirmed = this.#confirmed[line];
    if (confirmed === undefined) return { text: COUNT_FIRST, values: [this.token, line] };
    return { text: COUNT_NEXT, values: [this.token, line, confirmed] };
  }

  /** The stored numbers of commits, by the number of the connection. */
  readCommits(): Statement {
    return { text: READ_COMMITS, values: [this.token] };
  }

  /** What the database must contain from now on. Take it before the query is sent, because commits continue in the meantime. */
  confirmed(): Confirmed {
    return [...this.#confirmed];
  }

  /** Why these facts cannot come from the database that this registration began in; null if they can. */
  whyReplaced(facts: Facts, confirmed: Confirmed): string | null {
    const other = this.whyOther(facts);
    if (other !== null || facts.get('token') !== this.token) return other ?? OLDER;
    const stored = new Map(confirmed.map((_, line) => [BigInt(line), facts.get(`line ${line}`) ?? 0n]));
    return isAnyMissing(confirmed, stored) ? OLDER : null;
  }

  /** By the generation and the server alone. A server that hides its identity proves nothing. */
  whyOther(facts: Facts): string | null {
    const generation = facts.get('generation') ?? 0n;
    if (generation > this.generation) return OTHERS_NOTICED;
    if (generation < this.generation) return OLDER;
    for (const [name, reason] of SERVER_REASONS) {
      const [before, now] = [this.#began.get(name), facts.get(name)];
      if (before !== undefined && now !== undefined && before !== now) return reason;
    }
    return null;
  }
}

/** Whether fewer commits are stored for any connection than the database had confirmed. */
export function isAnyMissing(confirmed: Confirmed, stored: ReadonlyMap<bigint, bigint>): boolean {
  return confirmed.some((commits, line) => commits !== undefined && (stored.get(BigInt(line)) ?? 0n) < commits);
}

export const OLDER = 'The database was put back to an older state: commits that it had confirmed are missing.';
const OTHERS_NOTICED = 'Another process found that the database was put back to an older state.';

/** Why a batch could not be written as this process had numbered its names and price lists. */
export const RENUMBERED =
  'The database was put back to an older state: its names or price lists are not those that this process knows.';
const SERVER_REASONS: readonly (readonly [string, string])[] = [
  ['system', 'Another database server took over: its system identifier is different.'],
  ['timeline', 'The database was restored, or a standby took over: its timeline is different.'],
];

/** The registration in force, and the caches that end with it. */
export class Registrations {
  readonly #forget: (() => void)[] = [];
  #current: Registration | null = null;

  /** Null before this process registers. */
  get current(): Registration | null {
    return this.#current;
  }

  /** Throws if the registration has ended and no new one has begun. */
  usable(): Registration | null {
    const ended = this.#current?.ended ?? null;
    if (ended !== null) throw new StoreUnavailable(ended);
    return this.#current;
  }

  /** Calls back when everything that was read from the database has to be forgotten. */
  onForget(forget: () => void): void {
    this.#forget.push(forget);
  }

  begin(registration: Registration): void {
    this.#current = registration;
  }

  /** Ends it, once. Without a registration, only what was read is forgotten. */
  end(registration: Registration | null, reason: string): void {
    if (registration !== null && registration.ended !== null) return;
    registration?.end(reason);
    for (const forget of this.#forget) forget();
  }

  /** Ends the registration if these facts cannot come from its database, and returns why. */
  check(registration: Registration, facts: Facts, confirmed: Confirmed): string | null {
    return this.#endFor(registration, registration.whyReplaced(facts, confirmed));
  }

  /** The same by the generation and the server alone, for a connection that was just opened. */
  checkServer(registration: Registration, facts: Facts): string | null {
    return this.#endFor(registration, registration.whyOther(facts));
  }

  #endFor(registration: Registration, why: string | null): string | null {
    const reason = registration.ended ?? why;
    if (reason !== null) this.end(registration, reason);
    return reason;
  }
}

/** A number that no other registration has. */
export function newToken(): bigint {
  return randomBytes(8).readBigUInt64BE() >> 2n;
}

/** The facts about a registration, as rows of a name and a number. */
export function factsOf({ epoch, token }: Registration): string {
  return `SELECT name, value FROM meta UNION ALL SELECT 'token', token FROM instance WHERE epoch = ${epoch}
    UNION ALL SELECT 'line ' || line, commits FROM instance_commit WHERE token = ${token}`;
}

/**
 * The identity of the server and of its history. The timeline is that of the log being written, because the one in the
 * control file changes only with the first checkpoint after a promotion.
 */
export const SERVER_FACTS = `SELECT 'system', system_identifier FROM pg_control_system() UNION ALL
  SELECT 'timeline', ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int8
  WHERE NOT pg_is_in_recovery()`;

/** A connection with the same number may have committed before without a reply. */
const COUNT_FIRST = `INSERT INTO instance_commit (token, line, commits) VALUES ($1, $2, 1)
  ON CONFLICT (token, line) DO UPDATE SET commits = instance_commit.commits + 1 RETURNING commits`;

/** Does not raise a count that is too small: later commits would make up for the missing ones, and hide that. */
const COUNT_NEXT = `UPDATE instance_commit SET commits = commits + 1
  WHERE token = $1 AND line = $2 AND commits >= $3 RETURNING commits`;

const READ_COMMITS = 'SELECT line, commits FROM instance_commit WHERE token = $1';

/** Only the first process that notices raises it: for the others, the stored generation is then above their own. */
export const RAISE_GENERATION = `UPDATE meta SET value = $1::int8 + 1 WHERE name = 'generation' AND value <= $1::int8`;
