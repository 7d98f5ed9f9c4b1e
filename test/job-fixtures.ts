import type {
  JobChunk,
  JobEnd,
  JobFilter,
  NewJob,
  NewJobGroup,
  ReleaseOperation,
  ReserveOperation,
} from '../src/store/jobs.ts';
import type { HoldOperation, SettleOperation } from '../src/store/store.ts';
import { aHold, aSettle, NOON_MS } from './store-fixtures.ts';

const HOUR_MS = 3_600_000;
export const JOB_EXPIRES_MS = NOON_MS + 24 * HOUR_MS;
export const JOB_TTL_MS = 24 * HOUR_MS;
export const LEASE_MS = 30_000;

/** A job of account 1 without a key, for a request of one chunk. */
export function aJob(id: bigint, reservedNanousd: bigint, over: Partial<NewJob> = {}): NewJob {
  return {
    id,
    accountId: 1n,
    keyId: null,
    personId: null,
    groupId: null,
    line: 0,
    customId: null,
    endpoint: '/v1/chat/completions',
    requestedModel: 'vendor/model',
    effectiveModel: 'model',
    createdMs: NOON_MS,
    notBeforeMs: null,
    expiresMs: JOB_EXPIRES_MS,
    resultTtlMs: JOB_TTL_MS,
    onUnknown: 'fail',
    webhook: null,
    metadataJson: null,
    headersJson: null,
    priceVersion: 'list-1',
    reservedNanousd,
    request: { digest: `digest-${id}`, chunks: 1, bytes: 10 },
    ...over,
  };
}

export function aChunk(jobId: bigint, over: Partial<JobChunk> = {}): JobChunk {
  return { jobId, attempt: 0, digest: `digest-${jobId}`, part: 0, sealed: Buffer.from(`chunk of ${jobId}`), ...over };
}

export function aGroup(id: bigint, over: Partial<NewJobGroup> = {}): NewJobGroup {
  return {
    id,
    accountId: 1n,
    keyId: null,
    personId: null,
    createdMs: NOON_MS,
    webhook: null,
    metadataJson: null,
    ...over,
  };
}

export function aReserve(id: bigint, amountNanousd: bigint, over: Partial<ReserveOperation> = {}): ReserveOperation {
  return {
    kind: 'reserve',
    id,
    isGroup: false,
    accountId: 1n,
    keyId: null,
    personId: null,
    amountNanousd,
    ceilingNanousd: null,
    keepKeyUntilMs: JOB_EXPIRES_MS + JOB_TTL_MS,
    idempotency: null,
    ...over,
  };
}

/** The hold that starts the job after its first claim. */
export function aStart(
  callId: bigint,
  jobId: bigint,
  amountNanousd: bigint,
  over: Partial<HoldOperation> = {},
  claim = 1,
): HoldOperation {
  return aHold(callId, amountNanousd, { ...over, job: { id: jobId, claim } });
}

/** The settlement that ends the attempt of a job. */
export function aFinish(
  callId: bigint,
  jobId: bigint,
  costNanousd: bigint,
  end: JobEnd['end'] = 'succeeded',
  over: Partial<JobEnd> = {},
): SettleOperation {
  return { ...aSettle(callId, costNanousd), job: { jobId, end, ...over } };
}

export function aRelease(id: bigint, over: Partial<ReleaseOperation> = {}): ReleaseOperation {
  return { kind: 'release', id, accountId: 1n, end: 'cancelled', ...over };
}

export const ALL_JOBS: JobFilter = { accountId: null };
