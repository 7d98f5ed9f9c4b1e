import { GROUP_PREFIX, JOB_PREFIX, REQUEST_PREFIX } from '../canonical/id-prefixes.ts';
import { tryParseJson } from '../json/json.ts';
import { formatId } from '../kit/ids.ts';
import {
  FINAL_JOB_STATES,
  type Job,
  type JobCounts,
  type JobGroup,
  type JobStatus,
  jobStatusOf,
} from '../store/jobs.ts';

/** In the order of a job's life. */
export const JOB_STATUSES = [
  'scheduled',
  'queued',
  'running',
  'cancelling',
  'paused',
  ...FINAL_JOB_STATES,
] as const satisfies readonly JobStatus[];

type Metadata = Readonly<Record<string, string>>;

/** Times are RFC 3339 in UTC. */
export interface JobView {
  readonly id: string;
  readonly object: 'job';
  readonly endpoint: string;
  readonly requested_model: string;
  readonly effective_model: string;
  readonly status: JobStatus;
  readonly created_at: string;
  readonly not_before: string | null;
  readonly expires_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly result_expires_at: string | null;
  readonly attempts: number;
  /** 0 once the job has ended. */
  readonly reserved_nanousd: bigint;
  /** Null until the job has ended. */
  readonly cost_nanousd: bigint | null;
  /** That of the last attempt, whose receipt it names. */
  readonly request_id: string | null;
  readonly price_version: string;
  readonly custom_id: string | null;
  readonly metadata: Metadata;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly group: string | null;
}

export interface JobGroupView {
  readonly id: string;
  readonly object: 'job_group';
  /** `finished` when every job has ended. */
  readonly status: 'running' | 'finished';
  readonly created_at: string;
  readonly finished_at: string | null;
  readonly counts: JobCounts & { readonly total: number };
  readonly reserved_nanousd: bigint;
  readonly cost_nanousd: bigint;
  readonly metadata: Metadata;
}

const FINAL: ReadonlySet<string> = new Set(FINAL_JOB_STATES);

export function jobView(job: Job, nowMs: number): JobView {
  const { errorCode, errorMessage } = job;
  return {
    id: formatId(JOB_PREFIX, job.id),
    object: 'job',
    endpoint: job.endpoint,
    requested_model: job.requestedModel,
    effective_model: job.effectiveModel,
    status: jobStatusOf(job, nowMs),
    created_at: time(job.createdMs),
    not_before: timeOr(job.notBeforeMs),
    expires_at: time(job.expiresMs),
    started_at: timeOr(job.startedMs),
    finished_at: timeOr(job.finishedMs),
    result_expires_at: timeOr(job.resultExpiresMs),
    attempts: job.attempts,
    reserved_nanousd: FINAL.has(job.state) ? 0n : job.reservedNanousd,
    cost_nanousd: job.costNanousd,
    request_id: job.callId === null ? null : formatId(REQUEST_PREFIX, job.callId),
    price_version: job.priceVersion,
    custom_id: job.customId,
    metadata: readMetadata(job.metadataJson),
    error: errorCode === null ? null : { code: errorCode, message: errorMessage ?? '' },
    group: job.groupId === null ? null : formatId(GROUP_PREFIX, job.groupId),
  };
}

export function jobGroupView(group: JobGroup): JobGroupView {
  return {
    id: formatId(GROUP_PREFIX, group.id),
    object: 'job_group',
    status: group.finishedMs === null ? 'running' : 'finished',
    created_at: time(group.createdMs),
    finished_at: timeOr(group.finishedMs),
    counts: { total: group.lines, ...group.counts },
    reserved_nanousd: group.reservedNanousd,
    cost_nanousd: group.chargedNanousd,
    metadata: readMetadata(group.metadataJson),
  };
}

function readMetadata(json: string | null): Metadata {
  return json === null ? {} : ((tryParseJson(json) as Metadata | undefined) ?? {});
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}

function timeOr(ms: number | null): string | null {
  return ms === null ? null : time(ms);
}
