import { JOB_STATE, ON_UNKNOWN_CODE } from '../codes.ts';
import type { Job, JobContent, JobGroup, NewJob, NewJobGroup } from '../jobs.ts';
import type { GroupRow, JobRow, JobTotals } from '../rules/job-rules.ts';
import type { SqlValue } from './program.ts';

/** A row of `job`, as both engines return it. */
export interface JobColumns {
  readonly id: bigint;
  readonly account_id: bigint;
  readonly key_id: bigint | null;
  readonly person_id: bigint | null;
  readonly group_id: bigint | null;
  readonly line: bigint;
  readonly state: bigint;
  readonly due_ms: bigint;
  readonly expires_ms: bigint;
  readonly claim: bigint;
  readonly attempts: bigint;
  readonly reserved: bigint;
  readonly window_id: bigint | null;
  readonly person_window_id: bigint | null;
  readonly created_ms: bigint;
  readonly not_before_ms: bigint | null;
  readonly result_ttl_ms: bigint;
  readonly on_unknown: bigint;
  readonly custom_id: string | null;
  readonly endpoint: string;
  readonly requested_model: string;
  readonly effective_model: string;
  readonly webhook: string | null;
  readonly metadata: string | null;
  readonly headers: string | null;
  readonly price_version: string;
  readonly request_digest: string;
  readonly request_chunks: bigint;
  readonly request_bytes: bigint;
  readonly started_ms: bigint | null;
  readonly finished_ms: bigint | null;
  readonly result_expires_ms: bigint | null;
  readonly content_gone_ms: bigint | null;
  readonly call_id: bigint | null;
  readonly cost: bigint | null;
  readonly http_status: bigint | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly result_digest: string | null;
  readonly result_chunks: bigint | null;
  readonly result_bytes: bigint | null;
}

export function jobOf(row: JobColumns): Job {
  return {
    ...jobRowOf(row),
    line: Number(row.line),
    customId: row.custom_id,
    endpoint: row.endpoint,
    requestedModel: row.requested_model,
    effectiveModel: row.effective_model,
    createdMs: Number(row.created_ms),
    notBeforeMs: numberOf(row.not_before_ms),
    webhook: row.webhook,
    metadataJson: row.metadata,
    headersJson: row.headers,
    priceVersion: row.price_version,
    request: {
      digest: row.request_digest,
      chunks: Number(row.request_chunks),
      bytes: Number(row.request_bytes),
    },
    contentGoneMs: numberOf(row.content_gone_ms),
  };
}

/** The part of a job that operations on money read and change. */
export function jobRowOf(row: JobColumns): JobRow {
  return {
    id: row.id,
    accountId: row.account_id,
    keyId: row.key_id,
    personId: row.person_id,
    groupId: row.group_id,
    expiresMs: Number(row.expires_ms),
    resultTtlMs: Number(row.result_ttl_ms),
    onUnknown: ON_UNKNOWN_CODE.word(row.on_unknown),
    reservedNanousd: row.reserved,
    requestBytes: Number(row.request_bytes),
    state: JOB_STATE.word(row.state),
    dueMs: Number(row.due_ms),
    claim: Number(row.claim),
    attempts: Number(row.attempts),
    windowId: row.window_id,
    personWindowId: row.person_window_id,
    startedMs: numberOf(row.started_ms),
    finishedMs: numberOf(row.finished_ms),
    resultExpiresMs: numberOf(row.result_expires_ms),
    callId: row.call_id,
    costNanousd: row.cost,
    httpStatus: numberOf(row.http_status),
    errorCode: row.error_code,
    errorMessage: row.error_message,
    result: resultOf(row),
  };
}

function resultOf({
  result_digest: digest,
  result_chunks: chunks,
  result_bytes: bytes,
}: JobColumns): JobContent | null {
  if (digest === null || chunks === null || bytes === null) return null;
  return { digest, chunks: Number(chunks), bytes: Number(bytes) };
}

/** What operations on money change of a job, by column. */
export const JOB_CELLS = {
  state: ({ state }) => JOB_STATE.of[state],
  due_ms: ({ dueMs }) => BigInt(dueMs),
  attempts: ({ attempts }) => BigInt(attempts),
  window_id: ({ windowId }) => windowId,
  person_window_id: ({ personWindowId }) => personWindowId,
  started_ms: ({ startedMs }) => cellOf(startedMs),
  finished_ms: ({ finishedMs }) => cellOf(finishedMs),
  result_expires_ms: ({ resultExpiresMs }) => cellOf(resultExpiresMs),
  call_id: ({ callId }) => callId,
  cost: ({ costNanousd }) => costNanousd,
  http_status: ({ httpStatus }) => cellOf(httpStatus),
  error_code: ({ errorCode }) => errorCode,
  error_message: ({ errorMessage }) => errorMessage,
  result_digest: ({ result }) => result?.digest ?? null,
  result_chunks: ({ result }) => cellOf(result?.chunks ?? null),
  result_bytes: ({ result }) => cellOf(result?.bytes ?? null),
} as const satisfies Readonly<Record<string, (job: JobRow) => bigint | string | null>>;

/** A staged job. */
export function newJobCells(job: NewJob): Record<string, SqlValue> {
  return {
    id: job.id,
    account_id: job.accountId,
    key_id: job.keyId,
    person_id: job.personId,
    group_id: job.groupId,
    line: job.line,
    state: JOB_STATE.of.staged,
    due_ms: job.notBeforeMs ?? job.createdMs,
    expires_ms: job.expiresMs,
    reserved: job.reservedNanousd,
    created_ms: job.createdMs,
    not_before_ms: job.notBeforeMs,
    result_ttl_ms: job.resultTtlMs,
    on_unknown: ON_UNKNOWN_CODE.of[job.onUnknown],
    custom_id: job.customId,
    endpoint: job.endpoint,
    requested_model: job.requestedModel,
    effective_model: job.effectiveModel,
    webhook: job.webhook,
    metadata: job.metadataJson,
    headers: job.headersJson,
    price_version: job.priceVersion,
    request_digest: job.request.digest,
    request_chunks: job.request.chunks,
    request_bytes: job.request.bytes,
  };
}

/** A row of `job_group`. */
export interface GroupColumns {
  readonly id: bigint;
  readonly account_id: bigint;
  readonly key_id: bigint | null;
  readonly person_id: bigint | null;
  readonly created_ms: bigint;
  readonly accepted_ms: bigint | null;
  readonly active: bigint;
  readonly finished_ms: bigint | null;
  readonly webhook: string | null;
  readonly metadata: string | null;
  readonly window_id: bigint | null;
  readonly person_window_id: bigint | null;
  readonly lines: bigint;
  readonly bytes: bigint;
  readonly reserved: bigint;
  readonly charged: bigint;
  readonly waiting: bigint;
  readonly running: bigint;
  readonly succeeded: bigint;
  readonly failed: bigint;
  readonly cancelled: bigint;
  readonly expired: bigint;
}

export function groupOf(row: GroupColumns): JobGroup {
  return {
    ...groupRowOf(row),
    keyId: row.key_id,
    personId: row.person_id,
    createdMs: Number(row.created_ms),
    isActive: row.active === 1n,
    webhook: row.webhook,
    metadataJson: row.metadata,
  };
}

export function groupRowOf(row: GroupColumns): GroupRow {
  return {
    id: row.id,
    accountId: row.account_id,
    acceptedMs: numberOf(row.accepted_ms),
    finishedMs: numberOf(row.finished_ms),
    lines: Number(row.lines),
    bytes: Number(row.bytes),
    reservedNanousd: row.reserved,
    chargedNanousd: row.charged,
    windowId: row.window_id,
    personWindowId: row.person_window_id,
    counts: {
      waiting: Number(row.waiting),
      running: Number(row.running),
      succeeded: Number(row.succeeded),
      failed: Number(row.failed),
      cancelled: Number(row.cancelled),
      expired: Number(row.expired),
    },
  };
}

/** What operations on money change of a group, by column. */
export const GROUP_CELLS = {
  accepted_ms: ({ acceptedMs }) => cellOf(acceptedMs),
  finished_ms: ({ finishedMs }) => cellOf(finishedMs),
  window_id: ({ windowId }) => windowId,
  person_window_id: ({ personWindowId }) => personWindowId,
  reserved: ({ reservedNanousd }) => reservedNanousd,
  charged: ({ chargedNanousd }) => chargedNanousd,
  waiting: ({ counts }) => BigInt(counts.waiting),
  running: ({ counts }) => BigInt(counts.running),
  succeeded: ({ counts }) => BigInt(counts.succeeded),
  failed: ({ counts }) => BigInt(counts.failed),
  cancelled: ({ counts }) => BigInt(counts.cancelled),
  expired: ({ counts }) => BigInt(counts.expired),
} as const satisfies Readonly<Record<string, (group: GroupRow) => bigint | null>>;

export function newGroupCells(group: NewJobGroup): Record<string, SqlValue> {
  return {
    id: group.id,
    account_id: group.accountId,
    key_id: group.keyId,
    person_id: group.personId,
    created_ms: group.createdMs,
    webhook: group.webhook,
    metadata: group.metadataJson,
  };
}

/** A row of `job_account`. */
export interface TotalsColumns {
  readonly account_id: bigint;
  readonly waiting: bigint;
  readonly running: bigint;
  readonly bytes: bigint;
}

export function totalsOf(row: TotalsColumns): JobTotals {
  return {
    accountId: row.account_id,
    waiting: Number(row.waiting),
    running: Number(row.running),
    bytes: Number(row.bytes),
  };
}

function numberOf(cell: bigint | null): number | null {
  return cell === null ? null : Number(cell);
}

function cellOf(number: number | null): bigint | null {
  return number === null ? null : BigInt(number);
}
