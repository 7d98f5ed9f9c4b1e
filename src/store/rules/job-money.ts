import type { Settlement } from '../../canonical/receipt.ts';
import type { Clock } from '../../kit/clock.ts';
import type { JobEnd, JobStart, ReleaseOperation, ReserveOperation, ReserveRefusal, StartRefusal } from '../jobs.ts';
import type { HoldOperation, LedgerOutcome } from '../store.ts';
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
  type Windows,
  whyNotReleased,
  whyNotStarted,
} from './job-rules.ts';
import { addOpenCall } from './open-call.ts';
import { isActive, type LedgerRows, nameOfPersonWindow, nameOfWindow, type Spend, spendsIn } from './rows.ts';

/** A job or a group that is to be accepted. */
type Staged = { readonly job: JobRow } | { readonly group: GroupRow };

/** What the operations on money do to jobs and to what is reserved for them. */
export class JobMoney {
  readonly #rows: LedgerRows;
  readonly #clock: Pick<Clock, 'nowMs'>;

  constructor(rows: LedgerRows, clock: Pick<Clock, 'nowMs'>) {
    this.#rows = rows;
    this.#clock = clock;
  }

  /** Null if it was dropped, or accepted before. */
  staged({ id, isGroup, accountId, amountNanousd }: ReserveOperation): Staged | null {
    const job = isGroup ? undefined : this.#rows.jobs.get(id);
    const group = isGroup ? this.#rows.jobGroups.get(id) : undefined;
    const row = job ?? group;
    const isStaged = job?.state === 'staged' || group?.acceptedMs === null;
    if (row === undefined || !isStaged || row.accountId !== accountId) return null;
    if (row.reservedNanousd !== amountNanousd) {
      throw new Error(`The amount ${amountNanousd} differs from ${row.reservedNanousd}, which was staged for ${id}.`);
    }
    return job === undefined ? { group: group! } : { job };
  }

  overLimits(staged: Staged): ReserveRefusal | null {
    if ('job' in staged) return overLimits(this.#totalsOf(staged.job.accountId), 1, staged.job.requestBytes);
    const { accountId, lines, bytes } = staged.group;
    return overLimits(this.#totalsOf(accountId), lines, bytes);
  }

  accept(staged: Staged, { windowId, personWindowId }: Windows): void {
    const windows = { windowId, personWindowId };
    if ('job' in staged) acceptJob(staged.job, this.#totalsOf(staged.job.accountId), windows);
    else acceptGroup(staged.group, this.#totalsOf(staged.group.accountId), windows, this.#clock.nowMs());
  }

  /** Turns the reservation into an ordinary hold. */
  start(hold: HoldOperation, { id, claim }: JobStart): LedgerOutcome {
    const nowMs = this.#clock.nowMs();
    if (!this.#rows.epochs.has(hold.epoch)) return startRefused('stale_epoch');
    const job = this.#rows.jobs.get(id);
    const { accountId, amountNanousd } = hold;
    const why = whyNotStarted(job, { accountId, amountNanousd, claim }, nowMs);
    if (why !== null) return startRefused(why);
    const parts = this.#partsOf(job!);
    const inactive = this.#whyInactive(parts.job, nowMs);
    if (inactive !== null) return startRefused(inactive);
    if (hold.keyId !== parts.job.keyId || (hold.personId ?? null) !== parts.job.personId) {
      throw new Error(`Call ${hold.id} belongs to another key or person than job ${id}.`);
    }

    const { windowName, personWindowName } = windowNames(parts.job);
    const spends = this.#spendsOf(parts.job);
    addOpenCall(this.#rows, hold, windowName, personWindowName);
    for (const spend of spends) {
      spend.reservedNanousd -= amountNanousd;
      spend.heldNanousd += amountNanousd;
    }
    startJob(parts, hold.id, nowMs);
    return { kind: 'held' };
  }

  #whyInactive(job: JobRow, nowMs: number): StartRefusal | null {
    const account = this.#rows.accounts.get(job.accountId)!;
    const key = job.keyId === null ? null : this.#rows.keys.get(job.keyId);
    if (key === undefined || (key !== null && key.revokedMs !== null)) return 'key_revoked';
    if (key !== null && !isActive(key, account, nowMs)) return 'key_inactive';
    return account.status === 'active' ? null : `account_${account.status}`;
  }

  /** The job whose attempt this settlement ends. */
  running({ jobId }: JobEnd, callId: bigint): JobParts {
    const job = this.#rows.jobs.get(jobId);
    if (job === undefined || job.callId !== callId || !isUnderWay(job)) {
      throw new Error(`Call ${callId} is not the running attempt of job ${jobId}.`);
    }
    return this.#partsOf(job);
  }

  /** After the hold has ended. */
  end(parts: JobParts, end: JobEnd, { costNanousd, httpStatus }: Settlement): void {
    const nowMs = this.#clock.nowMs();
    const ending = endingOf(end, costNanousd, httpStatus, nowMs);
    if (goesBack(parts.job, ending)) this.#reserveAgain(parts.job);
    this.#rows.jobEvents.push(...endAttempt(parts, ending, nowMs));
  }

  /** The job whose attempt this call is; null for any other call. */
  attempted(callId: bigint): JobParts | null {
    const job = this.#rows.jobOfCall(callId);
    return job === undefined || !isUnderWay(job) ? null : this.#partsOf(job);
  }

  /** After the hold of its attempt was voided. */
  lose(parts: JobParts): void {
    const { isBack, events } = loseAttempt(parts, this.#clock.nowMs());
    if (isBack) this.#reserveAgain(parts.job);
    this.#rows.jobEvents.push(...events);
  }

  release(release: ReleaseOperation): LedgerOutcome {
    const job = this.#rows.jobs.get(release.id);
    const why = whyNotReleased(job, release);
    if (why !== null) return { kind: 'release_refused', reason: why };

    const parts = this.#partsOf(job!);
    for (const spend of this.#spendsOf(parts.job)) spend.reservedNanousd -= parts.job.reservedNanousd;
    const { state, events } = releaseJob(parts, release, this.#clock.nowMs());
    this.#rows.jobEvents.push(...events);
    return { kind: 'released', state };
  }

  #reserveAgain(job: JobRow): void {
    for (const spend of this.#spendsOf(job)) spend.reservedNanousd += job.reservedNanousd;
  }

  #partsOf(job: JobRow): JobParts {
    const group = job.groupId === null ? null : this.#rows.jobGroups.get(job.groupId);
    if (group === undefined) throw new Error(`There is no group ${job.groupId}.`);
    return { job, group, totals: this.#totalsOf(job.accountId) };
  }

  #totalsOf(accountId: bigint): JobTotals {
    const known = this.#rows.jobTotals.get(accountId);
    if (known !== undefined) return known;
    const totals = { accountId, waiting: 0, running: 0, bytes: 0 };
    this.#rows.jobTotals.set(accountId, totals);
    return totals;
  }

  /** The account and the windows in which the job's reservation counts. */
  #spendsOf(job: JobRow): Spend[] {
    const { windowName, personWindowName } = windowNames(job);
    return spendsIn(this.#rows, job.accountId, windowName, personWindowName);
  }
}

function startRefused(reason: StartRefusal): LedgerOutcome {
  return { kind: 'start_refused', reason };
}

function windowNames({ accountId, keyId, personId, windowId, personWindowId }: JobRow): {
  readonly windowName: string | null;
  readonly personWindowName: string | null;
} {
  return {
    windowName: keyId === null || windowId === null ? null : nameOfWindow(keyId, windowId),
    personWindowName:
      personId === null || personWindowId === null ? null : nameOfPersonWindow(accountId, personId, personWindowId),
  };
}
