import type { CacheSize } from '../../kit/caches.ts';
import { LIMITS } from '../../limits.ts';
import { fitsInt64 } from '../int64.ts';
import { MoneyRules } from '../rules/money-rules.ts';
import { type LedgerOperation, type LedgerOutcome, PartlyApplied, StoreUnavailable } from '../store.ts';
import { endUnused } from '../unused-hold.ts';
import { startOfDayMs } from '../windows.ts';
import { BatchRows, Touched } from './batch-rows.ts';
import { BatchWrites } from './batch-writes.ts';
import { commitMarkerOf, isDurable } from './commit-marker.ts';
import type { Connections } from './connections.ts';
import type { Dictionary, Loaded } from './dictionary.ts';
import { asUnavailable, blamed, ConnectionLost, isCollision, isPoison } from './faults.ts';
import { BEGIN_BRIEF } from './locks.ts';
import { OpenHolds } from './open-holds.ts';
import type { PipelinedConnection, Statement } from './pipeline.ts';
import { OLDER, type Registration, type Registrations } from './registration.ts';
import { isStorable } from './values.ts';
import { sameWindows } from './window-reads.ts';

const BEGIN: Statement = { text: BEGIN_BRIEF };
const COMMIT: Statement = { text: 'COMMIT' };
const ROLLBACK: Statement = { text: 'ROLLBACK' };

const NONE: ReadonlySet<bigint> = new Set();

/** The outcome of an operation, or why it is unknown. */
type Place = LedgerOutcome | StoreUnavailable;

/** What a batch is decided with: the registration is that of the process when the batch began. */
interface Basis extends Loaded {
  readonly registration: Registration | null;
  /** Holds that this process has taken, but that an earlier attempt did not find open. */
  readonly taken: ReadonlySet<bigint>;
}

/** A batch that is ready to commit. */
interface Decided {
  readonly statements: Statement[];
  readonly outcomes: LedgerOutcome[];
  readonly writes: BatchWrites;
  readonly rows: BatchRows;
}

/**
 * Applies batches in two round trips. The first locks and reads every row that the operations touch; the operations are
 * then decided here, one after the other; the second writes the changes and commits.
 */
export class BatchRunner {
  readonly #connections: Connections;
  readonly #dictionary: Dictionary;
  readonly #registrations: Registrations;
  readonly #nowMs: () => number;
  readonly #openHolds = new OpenHolds();
  /** The latest day on which this process saw a batch applied; the row in the database decides. */
  #todayMs = 0;
  /** The highest id of a hold; and the id up to which holds may be gone, because the database is in an older state now. */
  #lastHoldId = 0n;
  #goneUpTo = 0n;

  constructor(connections: Connections, dictionary: Dictionary, registrations: Registrations, nowMs: () => number) {
    this.#connections = connections;
    this.#dictionary = dictionary;
    this.#registrations = registrations;
    this.#nowMs = nowMs;
    registrations.onForget(() => this.#forget());
  }

  #forget(): void {
    this.#dictionary.forget();
    this.#openHolds.forget();
    this.#goneUpTo = this.#lastHoldId;
    this.#todayMs = 0;
  }

  sizes(): CacheSize[] {
    const entriesMax = LIMITS.storeCachedRowsMax;
    return [
      { cache: 'stored_names', entries: this.#dictionary.size, entriesMax },
      { cache: 'stored_holds', entries: this.#openHolds.size, entriesMax },
    ];
  }

  async run(operations: readonly LedgerOperation[]): Promise<LedgerOutcome[]> {
    const unwritable = operations.map(whyUnwritable);
    const writable = operations.filter((_, at) => unwritable[at] === null);
    const applied = writable.length === 0 ? [] : await this.#runWritable(writable);
    let next = 0;
    const places = unwritable.map((message) => (message === null ? applied[next++]! : failed(message)));
    const away = applied.find((place) => place instanceof StoreUnavailable);
    if (away !== undefined) throw new PartlyApplied(places, away);
    return places as LedgerOutcome[];
  }

  /** Throws if no operation was applied. */
  async #runWritable(operations: readonly LedgerOperation[]): Promise<Place[]> {
    try {
      return await this.#runTogether(operations, await this.#load(operations));
    } catch (error) {
      if (!isPoison(error)) throw asUnavailable(error);
      if (operations.length === 1) return [failed(String(error))];
    }
    // One operation cannot be written: splitting in halves finds it, and the others keep their order.
    const middle = operations.length >> 1;
    const first = await this.#runWritable(operations.slice(0, middle));
    return first.concat(await this.#runRest(first, operations.slice(middle)));
  }

  /** The first half stands: its operations keep their outcomes even if the store has become unavailable since. */
  async #runRest(before: readonly Place[], operations: readonly LedgerOperation[]): Promise<Place[]> {
    const away = before.find((place) => place instanceof StoreUnavailable);
    if (away !== undefined) return operations.map(() => away);
    try {
      return await this.#runWritable(operations);
    } catch (error) {
      return operations.map(() => asUnavailable(error));
    }
  }

  async #load(operations: readonly LedgerOperation[]): Promise<Basis> {
    try {
      const registration = this.#registrations.usable();
      return { ...(await this.#dictionary.load(operations)), registration, taken: NONE };
    } catch (error) {
      throw blamed(error);
    }
  }

  async #runTogether(operations: readonly LedgerOperation[], basis: Basis): Promise<LedgerOutcome[]> {
    let taken = basis.taken;
    for (let attempt = 1; ; attempt++) {
      // Read before the attempt: a concurrent batch may end the same hold, and so forget it.
      const remembered = operations.filter(({ kind, id }) => kind !== 'hold' && this.#openHolds.find(id) !== null);
      try {
        return await this.#attempt(operations, { ...basis, taken });
      } catch (error) {
        const isStale = isPoison(error) && remembered.length > 0;
        if (isStale) this.#openHolds.forgetAll(operations);
        if (isStale) taken = new Set([...taken, ...remembered.map(({ id }) => id)]);
        if (!isStale && (!isCollision(error) || attempt >= LIMITS.postgresCollisionsMax)) throw error;
      }
    }
  }

  async #attempt(operations: readonly LedgerOperation[], basis: Basis): Promise<LedgerOutcome[]> {
    let decided: Decided | null = null;
    try {
      return await this.#connections.withLine(async (line) => {
        const work = await rolledBack(line, this.#decide(line, operations, basis));
        decided = work;
        await this.#commit(line, work, basis);
        this.#openHolds.note(work.writes, work.rows);
        return work.outcomes;
      });
    } catch (error) {
      if (decided === null || !(error instanceof ConnectionLost)) throw error;
      return this.#findOutcome(decided, error);
    }
  }

  /** A batch that writes nothing is not counted: it would have to be written to disk only for that. */
  async #commit(line: PipelinedConnection, { statements }: Decided, { registration }: Basis): Promise<void> {
    if (registration === null || statements.length === 0) {
      await line.together([...statements, COMMIT]);
      return;
    }
    const answers = await line.together([...statements, registration.countCommit(line.number), COMMIT]);
    const [counted] = answers.at(-2)!.rows as readonly (readonly [commits: bigint])[];
    if (counted === undefined) this.#registrations.end(registration, OLDER);
    else registration.confirm(line.number, counted[0]);
  }

  /** Leaves the transaction open for the writes. */
  async #decide(line: PipelinedConnection, operations: readonly LedgerOperation[], basis: Basis): Promise<Decided> {
    const { registration, nameId, taken } = basis;
    const rows = new BatchRows(new Touched(operations, this.#openHolds), basis, registration);
    const nowMs = this.#nowMs();
    const isNewDay = await this.#lockAndRead(line, rows, nowMs);
    this.#refuseOlder(registration, registration?.whyOther(rows.facts) ?? rows.whyOlder);
    const writes = new BatchWrites(rows, nameId, nowMs);
    const rules = new MoneyRules(rows, { nowMs: () => nowMs });
    const outcomes = operations.map((operation) => this.#decideOne(rules, writes, operation));
    const isHoldGone = operations.some(({ id }, at) => taken.has(id) && isWithoutHold(outcomes[at]!));
    this.#refuseOlder(registration, isHoldGone ? OLDER : null);
    return { outcomes, writes, rows, statements: writes.statements(isNewDay ? rows.todayMs : null) };
  }

  /** Ends the registration, and with it all caches, if the database turns out to be in an older state. */
  #refuseOlder(registration: Registration | null, why: string | null): void {
    if (why === null) return;
    this.#registrations.end(registration, why);
    throw new StoreUnavailable(why);
  }

  #decideOne(rules: MoneyRules, writes: BatchWrites, operation: LedgerOperation): LedgerOutcome {
    try {
      const outcome = rules.apply(operation);
      if (outcome.kind === 'held' && operation.id > this.#lastHoldId) this.#lastHoldId = operation.id;
      if (operation.id <= this.#goneUpTo && isWithoutHold(outcome)) return { kind: 'settle_found_void' };
      writes.note(operation, outcome);
      return outcome;
    } catch (error) {
      return failed(String(error));
    }
  }

  /** Returns whether this batch begins a new day. */
  async #lockAndRead(line: PipelinedConnection, rows: BatchRows, nowMs: number): Promise<boolean> {
    const assumedMs = Math.max(this.#todayMs, nowMs);
    const reads = rows.reads(assumedMs);
    const [, ...answers] = await line.together([BEGIN, ...reads.map(({ statement }) => statement)]);
    reads.forEach(({ load }, at) => {
      load(answers[at]!.rows);
    });
    const isNewDay = startOfDayMs(nowMs) > rows.todayMs;
    this.#todayMs = Math.max(rows.todayMs, startOfDayMs(nowMs));
    rows.todayMs = this.#todayMs;
    const windowsMs = Math.max(rows.todayMs, nowMs);
    if (!sameWindows(assumedMs, windowsMs)) {
      const again = rows.windowReads(windowsMs);
      const read = await line.together(again.map(({ statement }) => statement));
      again.forEach(({ load }, at) => {
        load(read[at]!.rows);
      });
    }
    return isNewDay;
  }

  /**
   * The reply to the commit was lost, so the rows are read to find out whether it succeeded. If the database stays
   * unavailable the outcome is unknown; holds that later turn out to be on disk are ended without a charge.
   */
  async #findOutcome({ outcomes, writes, rows }: Decided, lost: ConnectionLost): Promise<LedgerOutcome[]> {
    const marker = commitMarkerOf(writes, rows);
    if (marker === null) return outcomes;
    const finding = isDurable(this.#connections, marker);
    const found = await this.#connections.within(LIMITS.postgresDoubtMs, finding);
    if (found === true) this.#openHolds.note(writes, rows);
    if (found === true) return outcomes;
    if (found === null)
      void finding.then((durable) => (durable ? this.#undoUnconfirmed(writes) : undefined)).catch(() => undefined);
    throw lost;
  }

  /**
   * Ends holds, and cancels jobs, that no caller knows of. Failures to do so are left to the next `reap`. A job with an
   * idempotency key stays, because its caller can find it; so does a group, which has to be cancelled job by job.
   */
  async #undoUnconfirmed({ holds, reserves }: BatchWrites): Promise<void> {
    const nowMs = this.#nowMs();
    const ends = holds.map((hold) => endUnused(hold, nowMs));
    const lost = reserves.filter(({ idempotency, isGroup }) => idempotency === null && !isGroup);
    const releases = lost.map(({ id, accountId }) => ({ kind: 'release', id, accountId, end: 'cancelled' }) as const);
    if (ends.length + releases.length > 0) await this.run([...ends, ...releases]);
  }
}

function failed(message: string): LedgerOutcome {
  return { kind: 'operation_failed', message };
}

function isWithoutHold(outcome: LedgerOutcome): boolean {
  return outcome.kind === 'settle_refused' && outcome.reason === 'no_hold';
}

/** Rolls back on any error, so that no transaction stays open. */
async function rolledBack<Result>(line: PipelinedConnection, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ConnectionLost)) await line.together([ROLLBACK]);
    throw blamed(error);
  }
}

/** Numbers that do not fit a column, and texts that must be stored exactly but cannot be. */
function whyUnwritable(operation: LedgerOperation): string | null {
  const ids = [operation.id];
  if (operation.kind === 'hold') {
    ids.push(operation.epoch, operation.accountId, operation.keyId ?? 0n, operation.personId ?? 0n);
  }
  if (operation.kind === 'reserve') ids.push(operation.accountId, operation.keyId ?? 0n, operation.personId ?? 0n);
  if (operation.kind === 'release') ids.push(operation.accountId);
  if (operation.kind === 'credit') ids.push(operation.accountId, operation.callId ?? 0n, operation.audit?.id ?? 0n);
  const tooLarge = ids.find((id) => !fitsInt64(id));
  if (tooLarge !== undefined) return `${tooLarge} does not fit 64 bits.`;
  const hasKey = operation.kind === 'hold' || operation.kind === 'reserve';
  const exact = operation.kind === 'credit' ? operation.reference : hasKey && operation.idempotency?.key;
  if (typeof exact !== 'string' || isStorable(exact)) return null;
  return 'A reference or key contains a null character or an unpaired surrogate.';
}
