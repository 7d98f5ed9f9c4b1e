import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { ACCOUNT_STATUS, CALL_STATE } from '../codes.ts';
import { keptKeyMs } from '../idempotency.ts';
import { isAmount } from '../int64.ts';
import type { JobEnd, JobEvent, ReleaseOperation, ReserveRefusal, StartRefusal } from '../jobs.ts';
import {
  GROUP_CELLS,
  type GroupColumns,
  groupRowOf,
  JOB_CELLS,
  type JobColumns,
  jobRowOf,
  type TotalsColumns,
  totalsOf,
} from '../programs/job-columns.ts';
import {
  acceptGroup,
  acceptJob,
  endAttempt,
  endingOf,
  type GroupRow,
  goesBack,
  isUnderWay,
  type JobParts,
  type JobRow,
  type JobTotals,
  loseAttempt,
  overLimits,
  releaseJob,
  startJob,
  whyNotReleased,
  whyNotStarted,
} from '../rules/job-rules.ts';
import type { IdempotencyMark, LedgerOutcome } from '../store.ts';
import type { readJobEnd, readRelease, readReserve } from './batch-buffer.ts';
import type { BalanceRow, CallRow } from './cached-rows.ts';
import { callCells, holdRefused, isActive, ownerOf, roomFor, type StoredHold } from './hold-checks.ts';
import type { IdempotencyKeys } from './idempotency-keys.ts';
import type { RowCache } from './row-cache.ts';

/**
 * What the operations on money do to jobs and to what is reserved for them. The rows of jobs are not cached: each is read
 * and written by the operation that changes it.
 */
export class JobOperations {
  readonly #cache: RowCache;
  readonly #idempotencyKeys: IdempotencyKeys;
  readonly #readJob: StatementSync;
  readonly #readJobOfCall: StatementSync;
  readonly #readGroup: StatementSync;
  readonly #readTotals: StatementSync;
  readonly #writeJob: StatementSync;
  readonly #writeGroup: StatementSync;
  readonly #writeTotals: StatementSync;
  readonly #addEvent: StatementSync;
  readonly #isRevoked: StatementSync;

  constructor(database: DatabaseSync, cache: RowCache, idempotencyKeys: IdempotencyKeys) {
    this.#cache = cache;
    this.#idempotencyKeys = idempotencyKeys;
    this.#readJob = database.prepare('SELECT * FROM job WHERE id = ?');
    this.#readJobOfCall = database.prepare('SELECT * FROM job WHERE call_id = ?');
    this.#readGroup = database.prepare('SELECT * FROM job_group WHERE id = ?');
    this.#readTotals = database.prepare('SELECT * FROM job_account WHERE account_id = ?');
    this.#writeJob = database.prepare(`UPDATE job SET ${assignments(JOB_CELLS)} WHERE id = ?`);
    this.#writeGroup = database.prepare(`UPDATE job_group SET ${assignments(GROUP_CELLS)} WHERE id = ?`);
    this.#writeTotals = database.prepare(
      'REPLACE INTO job_account (account_id, waiting, running, bytes) VALUES (?, ?, ?, ?)',
    );
    this.#addEvent = database.prepare(`
      INSERT INTO job_event (subject_id, account_id, type, created_ms) SELECT ?1, ?2, ?3, ?4
      WHERE EXISTS (SELECT 1 FROM webhook WHERE coalesce(account_id, 0) = ?2)`);
    this.#isRevoked = database.prepare('SELECT revoked_ms IS NOT NULL AS revoked FROM api_key WHERE id = ?');
  }

  reserve(reserve: StoredReserve, mark: IdempotencyMark | null): LedgerOutcome {
    const { id, accountId, amountNanousd: amount } = reserve;
    if (amount < 0n || !isAmount(amount)) return reserveRefused(holdRefused('out_of_range'));
    const owner = ownerOf(this.#cache, reserve);
    if ('reason' in owner) return reserveRefused(owner);
    const repeat = mark === null ? null : this.#idempotencyKeys.repeatOf(accountId, mark, this.#cache.nowMs);
    if (repeat !== null) return repeat;
    const staged = this.#staged(reserve);
    if (staged === null) return reserveRefused({ reason: 'not_staged' });
    const totals = this.#totalsOf(accountId);
    const overLimit = overLimits(totals, staged.jobs, staged.bytes);
    if (overLimit !== null) return reserveRefused({ reason: overLimit });
    const windows = roomFor(this.#cache, owner, reserve);
    if ('reason' in windows) return reserveRefused(windows);

    this.#cache.reserve(owner.balance, windows, amount);
    const ids = {
      windowId: windows.window === null ? null : windows.window.windowId,
      personWindowId: windows.personWindow === null ? null : windows.personWindow.windowId,
    };
    if (staged.job !== null) acceptJob(staged.job, totals, ids);
    else acceptGroup(staged.group, totals, ids, this.#nowMs);
    this.#write(staged.job, staged.group, totals, []);
    if (mark !== null) {
      this.#idempotencyKeys.keep(accountId, mark, id, keptKeyMs(this.#nowMs, reserve.keepKeyUntilMs));
    }
    return { kind: 'reserved' };
  }

  get #nowMs(): number {
    return Number(this.#cache.nowMs);
  }

  /** Null if it was dropped, or accepted before. */
  #staged({ id, isGroup, accountId, amountNanousd }: StoredReserve): Staged | null {
    const job = isGroup === 1 ? null : this.#job(id);
    const group = isGroup === 1 ? this.#group(id) : null;
    const row = job ?? group;
    const isStaged = job?.state === 'staged' || group?.acceptedMs === null;
    if (row === null || !isStaged || row.accountId !== accountId) return null;
    if (row.reservedNanousd !== amountNanousd) {
      throw new Error(`The amount ${amountNanousd} differs from ${row.reservedNanousd}, which was staged for ${id}.`);
    }
    if (job !== null) return { job, group: null, jobs: 1, bytes: job.requestBytes };
    return { job: null, group: group!, jobs: group!.lines, bytes: group!.bytes };
  }

  /** Turns the reservation into an ordinary hold. */
  start(hold: StoredHold, id: bigint, claim: number): LedgerOutcome {
    const { accountId, amountNanousd: amount } = hold;
    if (hold.epoch !== this.#cache.epoch) return startRefused('stale_epoch');
    const job = this.#job(id);
    const why = whyNotStarted(job ?? undefined, { accountId, amountNanousd: amount, claim }, this.#nowMs);
    if (why !== null) return startRefused(why);
    const parts = this.#partsOf(job!);
    const balance = this.#cache.balance(accountId);
    if (balance === null) throw new Error(`Job ${id} has no account.`);
    const inactive = this.#whyInactive(parts.job, balance);
    if (inactive !== null) return startRefused(inactive);
    if (hold.keyId !== parts.job.keyId || hold.personId !== parts.job.personId) {
      throw new Error(`Call ${hold.id} belongs to another key or person than job ${id}.`);
    }

    const windows = this.#cache.windowsOf(parts.job);
    const cells = callCells(this.#cache, hold, windows.window, windows.personWindow);
    this.#cache.reserve(balance, windows, -amount);
    const state = CALL_STATE.of.open;
    this.#cache.addOpen(
      { id: hold.id, state, balance, ...windows, held: amount, cost: 0n, idempotencyKey: null },
      cells,
    );
    startJob(parts, hold.id, this.#nowMs);
    this.#writeParts(parts, []);
    return { kind: 'held' };
  }

  #whyInactive({ keyId, accountId }: JobRow, { status }: BalanceRow): StartRefusal | null {
    if (keyId !== null && !isActive(this.#cache.key(keyId), accountId, this.#cache.nowMs)) {
      return (this.#isRevoked.get(keyId)?.revoked ?? 1n) === 1n ? 'key_revoked' : 'key_inactive';
    }
    if (status === ACCOUNT_STATUS.of.active) return null;
    return status === ACCOUNT_STATUS.of.closed ? 'account_closed' : 'account_suspended';
  }

  /** The job whose attempt this settlement ends. */
  running({ jobId }: StoredJobEnd, callId: bigint): JobParts {
    const job = this.#job(jobId);
    if (job === null || job.callId !== callId || !isUnderWay(job)) {
      throw new Error(`Call ${callId} is not the running attempt of job ${jobId}.`);
    }
    return this.#partsOf(job);
  }

  /** After the hold has ended. */
  end(parts: JobParts, end: StoredJobEnd, cost: bigint, httpStatus: number | null, call: CallRow): void {
    const ending = endingOf(end as JobEnd, cost, httpStatus, this.#nowMs);
    if (goesBack(parts.job, ending)) this.#cache.reserve(call.balance, call, parts.job.reservedNanousd);
    this.#writeParts(parts, endAttempt(parts, ending, this.#nowMs));
  }

  /** After the hold of a call was voided, which may be the attempt of a job. */
  lose(call: CallRow): void {
    const row = this.#readJobOfCall.get(call.id) as unknown as JobColumns | undefined;
    const job = row === undefined ? null : jobRowOf(row);
    if (job === null || !isUnderWay(job)) return;
    const parts = this.#partsOf(job);
    const { isBack, events } = loseAttempt(parts, this.#nowMs);
    if (isBack) this.#cache.reserve(call.balance, call, job.reservedNanousd);
    this.#writeParts(parts, events);
  }

  release(stored: StoredRelease): LedgerOutcome {
    const release = { ...stored, kind: 'release' } as ReleaseOperation;
    const job = this.#job(release.id);
    const why = whyNotReleased(job ?? undefined, release);
    if (why !== null) return { kind: 'release_refused', reason: why };

    const parts = this.#partsOf(job!);
    const balance = this.#cache.balance(parts.job.accountId);
    if (balance === null) throw new Error(`Job ${release.id} has no account.`);
    this.#cache.reserve(balance, this.#cache.windowsOf(parts.job), -parts.job.reservedNanousd);
    const { state, events } = releaseJob(parts, release, this.#nowMs);
    this.#writeParts(parts, events);
    return { kind: 'released', state };
  }

  #job(id: bigint): JobRow | null {
    const row = this.#readJob.get(id) as unknown as JobColumns | undefined;
    return row === undefined ? null : jobRowOf(row);
  }

  #group(id: bigint): GroupRow | null {
    const row = this.#readGroup.get(id) as unknown as GroupColumns | undefined;
    return row === undefined ? null : groupRowOf(row);
  }

  #totalsOf(accountId: bigint): JobTotals {
    const row = this.#readTotals.get(accountId) as unknown as TotalsColumns | undefined;
    return row === undefined ? { accountId, waiting: 0, running: 0, bytes: 0 } : totalsOf(row);
  }

  #partsOf(job: JobRow): JobParts {
    const group = job.groupId === null ? null : this.#group(job.groupId);
    if (job.groupId !== null && group === null) throw new Error(`There is no group ${job.groupId}.`);
    return { job, group, totals: this.#totalsOf(job.accountId) };
  }

  #writeParts({ job, group, totals }: JobParts, events: readonly JobEvent[]): void {
    this.#write(job, group, totals, events);
  }

  #write(job: JobRow | null, group: GroupRow | null, totals: JobTotals, events: readonly JobEvent[]): void {
    if (job !== null) this.#writeJob.run(...cellsOf(JOB_CELLS, job), job.id);
    if (group !== null) this.#writeGroup.run(...cellsOf(GROUP_CELLS, group), group.id);
    this.#writeTotals.run(totals.accountId, BigInt(totals.waiting), BigInt(totals.running), BigInt(totals.bytes));
    for (const { subjectId, accountId, type, createdMs } of events) {
      this.#addEvent.run(subjectId, accountId, type, BigInt(createdMs));
    }
  }
}

/** A job or a group that is to be accepted. */
type Staged = { readonly jobs: number; readonly bytes: number } & (
  | { readonly job: JobRow; readonly group: null }
  | { readonly job: null; readonly group: GroupRow }
);

type StoredReserve = ReturnType<typeof readReserve>;
type StoredRelease = ReturnType<typeof readRelease>;
type StoredJobEnd = ReturnType<typeof readJobEnd>;

function startRefused(reason: StartRefusal): LedgerOutcome {
  return { kind: 'start_refused', reason };
}

function reserveRefused(why: { readonly reason: string; readonly availableNanousd?: bigint | null }): LedgerOutcome {
  const { reason, availableNanousd = null } = why;
  return { kind: 'reserve_refused', reason: reason as ReserveRefusal, availableNanousd };
}

type CellsOf<Row> = Readonly<Record<string, (row: Row) => SQLInputValue>>;

function assignments(cells: Readonly<Record<string, unknown>>): string {
  return Object.keys(cells)
    .map((column) => `${column} = ?`)
    .join(', ');
}

function cellsOf<Row>(cells: CellsOf<Row>, row: Row): SQLInputValue[] {
  return Object.values(cells).map((cell) => cell(row));
}
