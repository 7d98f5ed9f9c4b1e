import type { HoldRefusal, IdempotencyMark } from './hold-terms.ts';
import type { GivenValues, JOB_END_FIELDS, RELEASE_FIELDS, RESERVE_FIELDS } from './operation-fields.ts';
import type { WebhookEvent } from './webhooks.ts';

/**
 * States as they are stored. `staged`: written, but not accepted, and so not visible. `queued`: waits to run; its money is
 * reserved. `running`: its attempt has an ordinary hold. `cancelling`: runs, but its caller asked to cancel it. `paused`:
 * the ledger was put back to an older state, so the job may have run; only an operator moves it. `pausing`: it ran when that
 * happened, and is paused as soon as its hold is voided. The others are final.
 */
const JOB_STATES = [
  'staged',
  'queued',
  'running',
  'cancelling',
  'paused',
  'pausing',
  'succeeded',
  'failed',
  'cancelled',
  'expired',
] as const;
export type JobState = (typeof JOB_STATES)[number];

export const FINAL_JOB_STATES = ['succeeded', 'failed', 'cancelled', 'expired'] as const satisfies readonly JobState[];
export type FinalJobState = (typeof FINAL_JOB_STATES)[number];

/** What callers see: a queued job whose `not_before` lies ahead is `scheduled`. */
export type JobStatus = Exclude<JobState, 'staged' | 'pausing'> | 'scheduled';

export const ON_UNKNOWN = ['fail', 'retry'] as const;
export type OnUnknown = (typeof ON_UNKNOWN)[number];

/** The error code of a job whose process died after the host may have been asked. */
export const OUTCOME_UNKNOWN = 'job_outcome_unknown';

/** Names chunks of sealed bytes. The digest is the SHA-256 of the whole plain content, in hex. */
export interface JobContent {
  readonly digest: string;
  /** How many chunks there are. */
  readonly chunks: number;
  /** The size of all sealed chunks together, which is counted against the account's limit of stored bytes. */
  readonly bytes: number;
}

/** What a submission says about a job. */
export interface NewJob {
  /** A time-ordered id; unique among jobs and groups. */
  readonly id: bigint;
  readonly accountId: bigint;
  readonly keyId: bigint | null;
  readonly personId: bigint | null;
  readonly groupId: bigint | null;
  /** Its line in the group, from 1; 0 for a job without a group. */
  readonly line: number;
  readonly customId: string | null;
  /** Such as `/v1/chat/completions`. */
  readonly endpoint: string;
  readonly requestedModel: string;
  readonly effectiveModel: string;
  readonly createdMs: number;
  readonly notBeforeMs: number | null;
  /** The latest start. */
  readonly expiresMs: number;
  readonly resultTtlMs: number;
  readonly onUnknown: OnUnknown;
  /** The name of the account's webhook that gets the event when the job ends; null: all webhooks that subscribe to the event. */
  readonly webhook: string | null;
  readonly metadataJson: string | null;
  /** Headers of the submission that the call needs again, as JSON. */
  readonly headersJson: string | null;
  /** The price list that was in force when the job was accepted. */
  readonly priceVersion: string;
  /** The worst case of the call, which is reserved. */
  readonly reservedNanousd: bigint;
  readonly request: JobContent;
}

export interface Job extends NewJob {
  readonly state: JobState;
  /** When it is tried next, or until when its lease lasts. */
  readonly dueMs: number;
  /** Raised by every claim; a start proves with it that no other process has claimed the job since. */
  readonly claim: number;
  /** Starts so far. */
  readonly attempts: number;
  /** The first start. */
  readonly startedMs: number | null;
  readonly finishedMs: number | null;
  /** When request and result are deleted; null until the job ends. */
  readonly resultExpiresMs: number | null;
  /** When request and result were deleted; null while they are stored. */
  readonly contentGoneMs: number | null;
  /** The call of the last attempt, whose receipt it is. */
  readonly callId: bigint | null;
  readonly costNanousd: bigint | null;
  readonly httpStatus: number | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  /** The stored answer of the attempt `attempts`; null if there is none. */
  readonly result: JobContent | null;
}

/** Why a job failed, or why it waits. */
export interface JobError {
  readonly code: string;
  readonly message: string;
}

/** What a job has before its first start. */
export const NOT_STARTED = {
  claim: 0,
  attempts: 0,
  startedMs: null,
  finishedMs: null,
  resultExpiresMs: null,
  contentGoneMs: null,
  callId: null,
  costNanousd: null,
  httpStatus: null,
  errorCode: null,
  errorMessage: null,
  result: null,
} as const satisfies Partial<Job>;

/** A queued job that has not run and is not due because of its `not_before` is shown as scheduled. */
export function jobStatusOf({ state, attempts, notBeforeMs }: Job, nowMs: number): JobStatus {
  if (state === 'queued' && attempts === 0 && notBeforeMs !== null && notBeforeMs > nowMs) return 'scheduled';
  if (state === 'pausing') return 'paused';
  return state === 'staged' ? 'queued' : state;
}

export interface NewJobGroup {
  readonly id: bigint;
  readonly accountId: bigint;
  readonly keyId: bigint | null;
  readonly personId: bigint | null;
  readonly createdMs: number;
  readonly webhook: string | null;
  readonly metadataJson: string | null;
}

/** Its counts are kept by the commits that change its jobs, so reading it does not count them. */
export interface JobGroup extends NewJobGroup {
  /** Null while its lines are staged. */
  readonly acceptedMs: number | null;
  /** False until every line has become a job, which takes several commits after it was accepted. */
  readonly isActive: boolean;
  readonly finishedMs: number | null;
  readonly lines: number;
  /** Reserved for jobs that wait. */
  readonly reservedNanousd: bigint;
  readonly chargedNanousd: bigint;
  readonly bytes: number;
  readonly counts: JobCounts;
}

/** `waiting`: queued, scheduled and paused. `running`: also those that are being cancelled. */
export interface JobCounts {
  readonly waiting: number;
  readonly running: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly expired: number;
}

/** One sealed part of a request or a result, at most `1 MiB`. */
export interface JobChunk {
  readonly jobId: bigint;
  /** 0 for the request, otherwise the attempt whose answer it is. */
  readonly attempt: number;
  readonly digest: string;
  /** From 0. */
  readonly part: number;
  readonly sealed: Uint8Array;
}

export type JobChunkName = Omit<JobChunk, 'sealed'>;

/** Newest first, except the jobs of a group, which are in the order of their lines. */
export interface JobFilter {
  /** Null, for the operator, lists those of all accounts. */
  readonly accountId: bigint | null;
  readonly keyId?: bigint | null;
  readonly personId?: bigint | null;
  readonly groupId?: bigint | null;
  readonly states?: readonly JobState[] | null;
  /** Only jobs that are scheduled at that time, or only those that are not. */
  readonly scheduled?: { readonly is: boolean; readonly nowMs: number } | null;
}

export type JobGroupFilter = Pick<JobFilter, 'accountId' | 'keyId' | 'personId'>;

export interface JobPage {
  /** The id of the last job of the previous page. */
  readonly after: bigint | null;
  readonly limit: number;
}

/** Sums for metrics; they read counters and the ends of indexes, not the jobs. */
export interface JobSums {
  readonly waiting: number;
  readonly running: number;
  readonly paused: number;
  readonly storedBytes: number;
  /** When the oldest job that may run now became due; null if there is none. */
  readonly oldestDueMs: number | null;
}

/**
 * Jobs and groups: what moves no money. Money moves by `reserve`, a hold with `job`, a settlement with `job` and `release`
 * (see `LedgerOperation`). A job lives like this: `stage` writes it with its request, `reserve` accepts it, `claim` leases
 * it, a hold starts it, and a settlement ends it or returns it to the queue.
 */
export interface JobStore {
  /** Must be called before its lines are staged. */
  createGroup(group: NewJobGroup): Promise<void>;
  /**
   * Writes jobs with the chunks of their requests in one commit: at most `LIMITS.jobStageRowsMax` jobs. They are invisible
   * until they are accepted, and deleted if that takes longer than an hour. `no_group`: it was deleted.
   */
  stage(jobs: readonly NewJob[], chunks: readonly JobChunk[]): Promise<'staged' | 'no_group'>;
  /**
   * Drops what was staged and not accepted: one job, or a group with the next of its lines. True if lines may be left; call
   * it again until it returns false.
   */
  dropStaged(id: bigint): Promise<boolean>;
  /** After a group was accepted: turns the next lines into jobs, and returns how many; 0 when all are. */
  activate(groupId: bigint): Promise<number>;
  /** Accepted groups whose lines are not all jobs yet, because a process died. */
  groupsToActivate(limit: number): Promise<bigint[]>;

  /** Finds only jobs of this account; null, for the operator, finds any. */
  find(id: bigint, accountId: bigint | null): Promise<Job | null>;
  list(filter: JobFilter, page: JobPage): Promise<Job[]>;
  findGroup(id: bigint, accountId: bigint | null): Promise<JobGroup | null>;
  /** Newest first. */
  listGroups(filter: JobGroupFilter, page: JobPage): Promise<JobGroup[]>;

  /** Accounts that have jobs to run now and are not suspended, in the order of their ids after the given one. */
  accountsWithDueJobs(nowMs: number, after: bigint | null, limit: number): Promise<bigint[]>;
  /** When the next job is due, except those of suspended accounts; null if none waits. */
  nextDueMs(): Promise<number | null>;
  /** Leases due jobs of the account to this process, the one that waits longest first. Moves no money. */
  claim(accountId: bigint, nowMs: number, leaseMs: number, limit: number): Promise<Job[]>;
  /**
   * Ends a lease without a start, or extends it; false if another process has claimed the job since. The error says why the
   * job waits; without one, that of the job stays.
   */
  postpone(id: bigint, claim: number, dueMs: number, error?: JobError | null): Promise<boolean>;
  /**
   * Asks the process that runs the job to cancel it. `waiting`: it does not run, so use `release`. `ended`: it has ended.
   */
  requestCancel(id: bigint, accountId: bigint | null): Promise<'cancelling' | 'waiting' | 'ended' | 'no_job'>;
  /** Which of these running jobs are to be cancelled. */
  cancelling(ids: readonly bigint[]): Promise<bigint[]>;
  /** Queued jobs whose latest start has passed, to be ended by `release`. */
  expired(nowMs: number, limit: number): Promise<Job[]>;
  /** Waiting jobs of an account, or of one of its keys or groups, for ending them by `release`. */
  waitingOf(
    owner: { readonly accountId: bigint; readonly keyId?: bigint; readonly groupId?: bigint },
    limit: number,
  ): Promise<Job[]>;

  /**
   * Writes chunks of a staged request, or of the answer of an attempt before the settlement names it. A large content is
   * written in several commits. What no settlement names is deleted with the job's content.
   */
  putChunks(chunks: readonly JobChunk[]): Promise<void>;
  readChunk(name: JobChunkName): Promise<Uint8Array | null>;
  /** The chunks of all jobs, in the order of their names, for encrypting them again. */
  chunksAfter(after: JobChunkName | null, limit: number): Promise<JobChunk[]>;
  /** False, without a change, if the chunk is gone or was encrypted again meanwhile. */
  resealChunk(name: JobChunkName, before: Uint8Array, after: Uint8Array): Promise<boolean>;
  /** Deletes request and result of a job that has ended. */
  dropContent(id: bigint, accountId: bigint | null, nowMs: number): Promise<'dropped' | 'not_ended' | 'no_job'>;
  /**
   * One step of cleaning up: contents whose time has passed, staged rows that were never accepted, answers that no
   * settlement named, and rows of jobs that ended long ago. Returns how many rows it deleted; 0 when nothing is left.
   */
  sweep(nowMs: number): Promise<number>;

  /** Events of jobs and groups that are not handed to the webhooks yet; an account without webhooks has none. */
  events(limit: number): Promise<JobEvent[]>;
  /**
   * Stores the deliveries of the events and forgets them, in one commit, except those that another process handed over
   * before. With null the event is only forgotten. Returns how many were handed over.
   */
  handOver(events: readonly HandedEvent[]): Promise<number>;

  /** Moves paused jobs, some at a time, back to the queue; returns how many. `failRestored` is `release` of `paused` jobs. */
  resumePaused(nowMs: number, limit: number): Promise<number>;
  paused(limit: number): Promise<Job[]>;

  sums(nowMs: number): Promise<JobSums>;
  /** The price list of that version, as it was registered; null if there is none. */
  priceList(version: string): Promise<string | null>;
}

/** Written in the commit that ended the job or the last job of the group; see `JobStore.handOver`. */
export interface JobEvent {
  /** The job, or for `group.finished` the group. Each has one event, so this names it. */
  readonly subjectId: bigint;
  readonly accountId: bigint;
  readonly type: `job.${FinalJobState}` | 'group.finished';
  readonly createdMs: number;
}

export interface HandedEvent {
  readonly subjectId: bigint;
  readonly event: WebhookEvent | null;
}

/**
 * Accepts a staged job or group: makes the checks of a hold, reserves the amount and takes the idempotency key, in one
 * commit. The amount counts in the cap windows of this moment.
 */
export interface ReserveOperation extends GivenValues<typeof RESERVE_FIELDS> {
  readonly kind: 'reserve';
  /** It is finished at once and lives until `keepKeyUntilMs`; the outcome of a repetition names the job or group. */
  readonly idempotency: IdempotencyMark | null;
}

/** In the order of the checks, which are those of a hold. `not_staged`: it was dropped, or accepted before. */
export type ReserveRefusal =
  | Exclude<HoldRefusal, 'stale_epoch' | 'loss_allowance'>
  | 'not_staged'
  | 'too_many_jobs'
  | 'too_many_bytes';

/**
 * Makes a hold the start of a job. Its amount must be the reserved one, so no cap and no balance is checked, and it has no idempotency key.
 */
export interface JobStart {
  readonly id: bigint;
  readonly claim: number;
}

/**
 * In the order of the checks. `not_claimed`: another process claimed the job, or it is no longer queued. `key_revoked`
 * cancels the job; with `key_inactive` (disabled or expired) and `account_suspended` it waits.
 */
export type StartRefusal =
  | 'stale_epoch'
  | 'not_claimed'
  | 'expired'
  | 'exceeds_reservation'
  | 'key_revoked'
  | 'key_inactive'
  | 'account_suspended'
  | 'account_closed';

/**
 * Makes a settlement the end of its attempt, in the same commit. `end` is a final state, or `queued` for a call at no cost
 * that is tried again at `dueMs`: its amount goes back to the reservation. A job that is being cancelled ends as
 * cancelled instead of going back.
 */
export type JobEnd = Omit<GivenValues<typeof JOB_END_FIELDS>, 'end'> & { readonly end: FinalJobState | 'queued' };

/** Ends a job that waits (queued or paused) and frees its reservation. */
export interface ReleaseOperation extends Omit<GivenValues<typeof RELEASE_FIELDS>, 'end'> {
  readonly kind: 'release';
  readonly end: Exclude<FinalJobState, 'succeeded'>;
}

/** `not_waiting`: it runs or has ended, or it has been claimed since, if a claim was given. */
type ReleaseRefusal = 'no_job' | 'not_waiting';

export type JobOutcome =
  | { readonly kind: 'reserved' }
  /** `availableNanousd` is what the failed check would have allowed; null if that is not an amount. */
  | { readonly kind: 'reserve_refused'; readonly reason: ReserveRefusal; readonly availableNanousd: bigint | null }
  | { readonly kind: 'start_refused'; readonly reason: StartRefusal }
  /** `state` is the one that the job ended in: one that had attempts fails instead of expiring. */
  | { readonly kind: 'released'; readonly state: FinalJobState }
  | { readonly kind: 'release_refused'; readonly reason: ReleaseRefusal };
