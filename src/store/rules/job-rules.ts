import { LIMITS } from '../../limits.ts';
import {
  type FinalJobState,
  type Job,
  type JobContent,
  type JobCounts,
  type JobEnd,
  type JobEvent,
  type JobGroup,
  OUTCOME_UNKNOWN,
  type ReleaseOperation,
  type ReserveRefusal,
  type StartRefusal,
} from '../jobs.ts';
import type { Mutable } from './mutable.ts';

/** What operations on money read and change of a job, wherever it was read from. */
export type JobRow = Mutable<
  Pick<
    Job,
    | 'id'
    | 'accountId'
    | 'keyId'
    | 'personId'
    | 'groupId'
    | 'expiresMs'
    | 'resultTtlMs'
    | 'onUnknown'
    | 'reservedNanousd'
    | 'state'
    | 'dueMs'
    | 'claim'
    | 'attempts'
    | 'startedMs'
    | 'finishedMs'
    | 'resultExpiresMs'
    | 'callId'
    | 'costNanousd'
    | 'httpStatus'
    | 'errorCode'
    | 'errorMessage'
    | 'result'
  >
> & {
  readonly requestBytes: number;
  /** The cap windows in which its reservation counts; null until it is accepted. */
  windowId: bigint | null;
  personWindowId: bigint | null;
};

export type GroupRow = Mutable<
  Pick<
    JobGroup,
    'id' | 'accountId' | 'acceptedMs' | 'finishedMs' | 'lines' | 'bytes' | 'reservedNanousd' | 'chargedNanousd'
  >
> & {
  readonly counts: Mutable<JobCounts>;
  windowId: bigint | null;
  personWindowId: bigint | null;
};

/** An account's counters, which limits are checked against. */
export interface JobTotals {
  readonly accountId: bigint;
  waiting: number;
  running: number;
  bytes: number;
}

/** A job with what changes together with it. */
export interface JobParts {
  readonly job: JobRow;
  /** Null for a job without a group. */
  readonly group: GroupRow | null;
  readonly totals: JobTotals;
}

/** The windows in which a reservation counts. */
export interface Windows {
  readonly windowId: bigint | null;
  readonly personWindowId: bigint | null;
}

/** Null if the account may have this many more waiting jobs and stored bytes. */
export function overLimits(totals: JobTotals, jobs: number, bytes: number): ReserveRefusal | null {
  if (totals.waiting + jobs > LIMITS.jobsWaitingMax) return 'too_many_jobs';
  return totals.bytes + bytes > LIMITS.jobBytesMax ? 'too_many_bytes' : null;
}

export function acceptJob(job: JobRow, totals: JobTotals, windows: Windows): void {
  Object.assign(job, windows, { state: 'queued' });
  totals.waiting += 1;
  totals.bytes += job.requestBytes;
}

/** Its lines become jobs afterwards, some at a time. */
export function acceptGroup(group: GroupRow, totals: JobTotals, windows: Windows, nowMs: number): void {
  Object.assign(group, windows, { acceptedMs: nowMs });
  group.counts.waiting = group.lines;
  totals.waiting += group.lines;
  totals.bytes += group.bytes;
}

/** The checks of a start that concern the job itself, in documented order; null if it may start. */
export function whyNotStarted(
  job: JobRow | undefined,
  start: { readonly accountId: bigint; readonly amountNanousd: bigint; readonly claim: number },
  nowMs: number,
): StartRefusal | null {
  if (job === undefined || job.state !== 'queued' || job.claim !== start.claim) return 'not_claimed';
  if (job.accountId !== start.accountId) return 'not_claimed';
  if (job.expiresMs <= nowMs) return 'expired';
  return start.amountNanousd === job.reservedNanousd ? null : 'exceeds_reservation';
}

/** The caller moves the amount from what is reserved to what is held. */
export function startJob({ job, group, totals }: JobParts, callId: bigint, nowMs: number): void {
  job.state = 'running';
  job.callId = callId;
  // Before the first attempt the error says why the job waited.
  if (job.attempts === 0) Object.assign(job, { errorCode: null, errorMessage: null });
  job.attempts += 1;
  job.startedMs ??= nowMs;
  count({ group, totals }, -1, 1);
  if (group !== null) group.reservedNanousd -= job.reservedNanousd;
}

interface Ending {
  readonly end: FinalJobState | 'queued';
  readonly dueMs: number;
  readonly costNanousd: bigint;
  readonly httpStatus: number | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly result: JobContent | null;
}

/** What a settlement says about the end of its attempt. */
export function endingOf(end: JobEnd, costNanousd: bigint, httpStatus: number | null, nowMs: number): Ending {
  const { resultDigest = null, resultChunks = null, resultBytes = null } = end;
  const hasResult = resultDigest !== null && resultChunks !== null && resultBytes !== null;
  return {
    end: end.end,
    dueMs: end.dueMs ?? nowMs,
    costNanousd,
    httpStatus,
    errorCode: end.errorCode ?? null,
    errorMessage: end.errorMessage ?? null,
    result: hasResult ? { digest: resultDigest, chunks: resultChunks, bytes: resultBytes } : null,
  };
}

/** Whether the job has an attempt with an open hold. */
export function isUnderWay({ state }: Pick<JobRow, 'state'>): boolean {
  return state === 'running' || state === 'cancelling' || state === 'pausing';
}

/** Whether the job, whose attempt ended like this, gets its reservation back and is tried again. */
export function goesBack(job: JobRow, { end, costNanousd }: Ending): boolean {
  return end === 'queued' && costNanousd === 0n && job.state !== 'cancelling';
}

/** Ends the attempt of a running job. The caller ends the hold, and reserves the amount again if the job goes back. */
export function endAttempt(parts: JobParts, ending: Ending, nowMs: number): JobEvent[] {
  const { job } = parts;
  if (goesBack(job, ending)) {
    putBack(parts, ending.dueMs);
    Object.assign(job, errorOf(ending));
    return [];
  }
  count(parts, 0, -1);
  job.result = ending.result;
  parts.totals.bytes += ending.result?.bytes ?? 0;
  if (ending.end !== 'queued') return endJob(parts, ending.end, ending, nowMs);
  // The attempt could have been repeated, so its error is not why the job ended.
  return endJob(parts, 'cancelled', { ...ending, errorCode: null, errorMessage: null }, nowMs);
}

/**
 * The process of the attempt died, so nobody knows whether the host was asked: the job fails, unless its caller wants it
 * to be tried again. If the ledger was put back to an older state, it is paused.
 */
export function loseAttempt(parts: JobParts, nowMs: number): { readonly isBack: boolean; readonly events: JobEvent[] } {
  const { job } = parts;
  const isRetried = job.state === 'running' && job.onUnknown === 'retry';
  if (job.state === 'pausing' || isRetried) {
    putBack(parts, nowMs);
    Object.assign(job, { errorCode: OUTCOME_UNKNOWN, errorMessage: UNKNOWN_MESSAGE });
    return { isBack: true, events: [] };
  }
  const ending = { ...NO_ENDING, errorCode: OUTCOME_UNKNOWN, errorMessage: UNKNOWN_MESSAGE };
  count(parts, 0, -1);
  return { isBack: false, events: endJob(parts, 'failed', ending, nowMs) };
}

const UNKNOWN_MESSAGE =
  'The process that ran the job ended before the response was stored. The host may have been called. Nothing was charged.';

const NO_ENDING = { costNanousd: 0n, httpStatus: null, errorCode: null, errorMessage: null };

function putBack({ job, group, totals }: JobParts, dueMs: number): void {
  job.state = job.state === 'pausing' ? 'paused' : 'queued';
  job.dueMs = dueMs;
  count({ group, totals }, 1, -1);
  if (group !== null) group.reservedNanousd += job.reservedNanousd;
}

/** Null if the job can be released. */
export function whyNotReleased(job: JobRow | undefined, release: ReleaseOperation): 'no_job' | 'not_waiting' | null {
  if (job === undefined || job.state === 'staged' || job.accountId !== release.accountId) return 'no_job';
  if (job.state !== 'queued' && job.state !== 'paused') return 'not_waiting';
  return release.claim != null && release.claim !== job.claim ? 'not_waiting' : null;
}

/** Ends a job that waits. The caller frees the amount. */
export function releaseJob(
  parts: JobParts,
  { end, errorCode = null, errorMessage = null }: ReleaseOperation,
  nowMs: number,
): { readonly state: FinalJobState; readonly events: JobEvent[] } {
  const { job, group } = parts;
  const isLate = end === 'expired' && job.attempts > 0;
  const state = isLate ? 'failed' : end;
  // A job that expires keeps its last error, or the reason why it waited, if it has one.
  const isKept = end === 'expired' && job.errorCode !== null;
  const error = isKept ? errorOf(job) : { httpStatus: job.httpStatus, errorCode, errorMessage };
  count(parts, -1, 0);
  if (group !== null) group.reservedNanousd -= job.reservedNanousd;
  return { state, events: endJob(parts, state, { ...error, costNanousd: 0n }, nowMs) };
}

function errorOf({ httpStatus, errorCode, errorMessage }: Pick<Ending, 'httpStatus' | 'errorCode' | 'errorMessage'>) {
  return { httpStatus, errorCode, errorMessage };
}

/** Its event, or that of its group if it was the last: the events of 50,000 lines would keep those of others waiting. */
function endJob(
  { job, group }: JobParts,
  state: FinalJobState,
  ending: Omit<Ending, 'end' | 'dueMs' | 'result'>,
  nowMs: number,
): JobEvent[] {
  Object.assign(job, errorOf(ending), { state, finishedMs: nowMs, resultExpiresMs: nowMs + job.resultTtlMs });
  job.costNanousd = ending.costNanousd;
  const { accountId } = job;
  if (group === null) return [{ subjectId: job.id, accountId, type: `job.${state}`, createdMs: nowMs }];
  group.counts[state] += 1;
  group.chargedNanousd += ending.costNanousd;
  if (group.counts.waiting + group.counts.running > 0) return [];
  group.finishedMs = nowMs;
  return [{ subjectId: group.id, accountId, type: 'group.finished', createdMs: nowMs }];
}

function count({ group, totals }: Pick<JobParts, 'group' | 'totals'>, waiting: number, running: number): void {
  for (const counts of group === null ? [totals] : [totals, group.counts]) {
    counts.waiting += waiting;
    counts.running += running;
  }
}
