import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../accounts/authenticate.ts';
import type { WholeResponse } from '../gateway/client-sink.ts';
import type { Job, JobGroup, JobStatus, OnUnknown } from '../store/jobs.ts';

export type { Job, JobGroup, JobStatus, OnUnknown } from '../store/jobs.ts';

/** The request that submits jobs. Its headers are those of the call that a job will make, as far as they matter to it. */
export interface Submission {
  readonly id: bigint;
  readonly requestId: string;
  readonly caller: Caller;
  readonly headers: IncomingHttpHeaders;
  /** By the monotonic clock. */
  readonly startedMs: number;
}

export interface SingleSubmission extends Submission {
  /** SHA-256 of everything that must be equal in a repetition under the same idempotency key. */
  readonly bodySha256: Uint8Array;
}

/** What a caller may say about a job besides its call. The fields have been checked, but not against each other. */
export interface JobTerms {
  /** Null: at once. */
  readonly notBeforeMs: number | null;
  /** The latest start; null is `LIMITS.jobExpiryMs` from now. */
  readonly expiresMs: number | null;
  /** How long the result is kept; null is `LIMITS.jobResultMs`. */
  readonly resultTtlMs: number | null;
  /** What happens to a job whose process died while a host may have been asked. */
  readonly onUnknown: OnUnknown;
  /** Name of the account's webhook that gets the event when the job ends; null: all webhooks that want such events. */
  readonly webhook: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
}

/** One call to be made later. */
export interface JobRequest {
  /** A path of a billed route, like `/v1/chat/completions`. */
  readonly endpoint: string;
  /** The JSON text of the call's body, exactly as it was sent. */
  readonly body: Buffer;
  readonly customId: string | null;
}

export interface GroupRequest extends JobRequest {
  /** Its line in the group, from 1. */
  readonly line: number;
}

/** `replayed`: the same request was accepted before under the same idempotency key. */
export interface Accepted<What> {
  readonly accepted: What;
  readonly replayed: boolean;
}

/**
 * A group while its lines arrive. Nothing of it is visible or reserved before it is accepted. Either `accept` or `abandon`
 * must be called.
 */
export interface GroupIntake {
  /**
   * Checks and stores lines, in order, and takes each line when it gets to it; resolves when more may come. Throws a
   * GatewayError that names the line of the first one that is refused.
   */
  add(requests: Iterable<GroupRequest>): Promise<void>;
  /** Reserves the sum of all lines in one step, all or none. The hash is made like that of a `SingleSubmission`. */
  accept(bodySha256: Uint8Array): Promise<Accepted<JobGroup>>;
  /** Forgets all lines. */
  abandon(): Promise<void>;
}

/** A finished job of a group. The answer is null if the job has none: it never ran, was cancelled, or its result is gone. */
export interface GroupResult {
  readonly job: Job;
  readonly answer: WholeResponse | null;
}

/** What a reader may see: the jobs of one account, perhaps only those of one key or person. Null is not restricted. */
export interface JobReader {
  readonly accountId: bigint | null;
  readonly keyId: bigint | null;
  readonly personId: bigint | null;
}

export interface JobQuery {
  readonly status?: JobStatus | null;
  readonly groupId?: bigint | null;
}

/** A part of a listing: rows after this id, in its order. */
export interface JobPage {
  readonly after: bigint | null;
  readonly limit: number;
}

/**
 * Jobs that were accepted: to look at, to cancel, and to resume or end after a restore. Every refusal is a GatewayError:
 * `job_not_found` and `job_group_not_found` also for what the reader may not see.
 */
export interface JobControl {
  find(reader: JobReader, id: bigint): Promise<Job>;
  /** Newest first, except the jobs of a group, which are in the order of its lines. */
  list(reader: JobReader, query: JobQuery, page: JobPage): Promise<Job[]>;
  /** Ends a waiting job at once and a running one soon; does nothing to one that has ended. */
  cancel(reader: JobReader, id: bigint): Promise<Job>;

  findGroup(reader: JobReader, id: bigint): Promise<JobGroup>;
  listGroups(reader: JobReader, page: JobPage): Promise<JobGroup[]>;
  cancelGroup(reader: JobReader, id: bigint): Promise<JobGroup>;

  /** Moves jobs that a restore has paused back to the queue, or ends them as failed; returns how many. For the operator. */
  resumeRestored(): Promise<number>;
  failRestored(): Promise<number>;
}

/** Deferred jobs, as routes use them. */
export interface Jobs extends JobControl {
  /** Checks the call as if it were made now, and reserves its worst case. The job is durable when this resolves. */
  submit(submission: SingleSubmission, request: JobRequest, terms: JobTerms): Promise<Accepted<Job>>;
  openGroup(submission: Submission, terms: JobTerms): Promise<GroupIntake>;
  /**
   * The job or group that the same request made before, under the same idempotency key; null if there is none. A
   * request that was accepted once gets the same answer, even if it would be refused now.
   */
  findRepeated(submission: SingleSubmission): Promise<Job | null>;
  findRepeatedGroup(submission: SingleSubmission): Promise<JobGroup | null>;
  /** Whether the idempotency key of the submission was used before, for this request or another one. */
  isKeyUsed(submission: Submission): Promise<boolean>;

  /** Resolves with the job's state when it has ended, when the time is up, or when `gone` is aborted. */
  wait(reader: JobReader, id: bigint, waitMs: number, gone?: AbortSignal): Promise<Job>;
  /** The response of the call, receipt headers included. Throws `job_not_finished`, `job_has_no_result` or `result_expired`. */
  result(reader: JobReader, id: bigint): Promise<WholeResponse>;
  /** Deletes the request and the result of a job that has ended. Throws `job_not_finished` for any other. */
  remove(reader: JobReader, id: bigint): Promise<Job>;
  /** The group's jobs that have ended, in the order of its lines, after the job `after`. */
  groupResults(reader: JobReader, id: bigint, after: bigint | null): AsyncIterable<GroupResult>;
}
