import type { Caller } from '../accounts/authenticate.ts';
import type { GatewayError } from '../canonical/errors.ts';
import type { Call } from '../gateway/call.ts';
import { exchange } from '../gateway/exchange.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { ResponseRoom } from '../gateway/guards/response-room.ts';
import { type HoldRefused, takeWorstCase } from '../gateway/take-money.ts';
import { pause } from '../kit/pause.ts';
import { type HoldRequest, type Ledger, type ReserveResult, StoreUnavailable } from '../ledger/ledger.ts';
import { LIMITS } from '../limits.ts';
import { isAmount } from '../store/int64.ts';
import {
  type FinalJobState,
  type Job,
  type JobChunk,
  type JobError,
  type JobStore,
  type NewJob,
  NOT_STARTED,
  OUTCOME_UNKNOWN,
  type ReleaseOperation,
  type StartRefusal,
} from '../store/jobs.ts';
import type { IdempotencyMark, KeyRow } from '../store/store.ts';
import { admitJob, type Endpoints, newJob, withinBody } from './admit-job.ts';
import { type AttemptEnd, AttemptLedger, rowErrorOf } from './attempt-ledger.ts';
import type { JobContents } from './contents.ts';
import { callOf, errorAnswer, gatewayFor } from './job-call.ts';
import type { JobSink } from './job-sink.ts';
import type { Accepted, JobRequest, JobTerms, SingleSubmission } from './jobs.ts';
import { isAllowanceUsedUp, mayStartMs } from './loss-allowance.ts';
import type { PinnedPrices } from './pinned-prices.ts';
import { asHoldRefused, forgottenRepeat, WAITS_FOR } from './refusals.ts';
import { readMark, readRepeat } from './repeats.ts';
import { isPassing, retryDelayMs, unknownModelDelayMs } from './retry.ts';
import { stageSlice } from './stage-slice.ts';

/** What the life of a job needs. */
export interface JobServices {
  readonly gateway: Gateway;
  /** Only this folder reserves, starts and ends jobs, and ends them with their attempts. */
  readonly ledger: Pick<Ledger, 'whyNotAdmitting' | 'reserve' | 'start' | 'settle' | 'releaseJob' | 'balance'>;
  readonly store: JobStore;
  readonly contents: JobContents;
  readonly prices: PinnedPrices;
  readonly endpoints: Endpoints;
  findKey(id: bigint): Promise<KeyRow | null>;
  /** Lets calls go first; called between the steps of long work. */
  yieldToCalls(): Promise<void>;
  /** From 0 to 1. */
  random(): number;
}

/*
 * The life of a job. It is *submitted*: checked as a call is, staged with its sealed request, and accepted by one
 * operation that reserves its worst case. It waits, scheduled or queued, until a worker *claims* it with a lease, which
 * moves no money. The same `exchange` as for a call *runs* it, over a ledger of its own: the hold *starts* the job, from
 * its reservation, and the settlement *finishes* it or returns it to the queue. A job that does not run is *cancelled* or
 * *expires*. Its money moves only by `services.ledger`.
 */

/** Accepts a job. It is durable, and its worst case is reserved, when this resolves. */
export async function submit(
  services: JobServices,
  submission: SingleSubmission,
  request: JobRequest,
  terms: JobTerms,
): Promise<Accepted<Job>> {
  const { gateway, endpoints, contents, store } = services;
  const mark = readMark(submission.headers, submission.bodySha256);
  const admitted = await admitJob(gateway, endpoints, submission, request);
  const id = gateway.ids.next();
  const { content, chunks } = contents.sealRequest(id, request.body);
  const place = { id, groupId: null, line: 0, nowMs: gateway.clock.nowMs() };
  const job = newJob(admitted, request, terms, place, content);
  const { admitted: paid, taken } = await takeWorstCase(gateway, admitted, (hold) =>
    reserve(services, job, chunks, hold, mark),
  ).catch((error: unknown) => {
    throw withinBody(error);
  });
  if (taken.kind === 'reserved') {
    // It is accepted, so its client must not send it again, even if it cannot be read now.
    const read = await store.find(id, job.accountId).catch(() => null);
    return { accepted: read ?? acceptedJob(job, paid.admission.worstNanousd), replayed: false };
  }
  const repeated = await store.find(readRepeat(taken), job.accountId);
  if (repeated === null) throw forgottenRepeat();
  return { accepted: repeated, replayed: true };
}

/** A job as it is stored when it was just accepted. */
function acceptedJob(job: NewJob, reservedNanousd: bigint): Job {
  return { ...job, ...NOT_STARTED, reservedNanousd, state: 'queued', dueMs: job.notBeforeMs ?? job.createdMs };
}

type Taken = Exclude<ReserveResult, { kind: 'reserve_refused' }>;

/** Stages the job with this amount and accepts it, or leaves nothing behind. */
async function reserve(
  { gateway, ledger, store }: JobServices,
  job: NewJob,
  chunks: readonly JobChunk[],
  hold: HoldRequest,
  idempotency: IdempotencyMark | null,
): Promise<Taken | HoldRefused> {
  if (hold.lossLimitNanousd != null && (await isAllowanceUsedUp(gateway, hold.accountId))) return COUNT_REFUSED;
  const { id, accountId, keyId, personId, expiresMs, resultTtlMs } = job;
  const { amountNanousd, ceilingNanousd } = hold;
  // Before it is staged: no engine stores an amount that is out of range.
  if (!isAmount(amountNanousd)) return OUT_OF_RANGE;
  const request = { id, isGroup: false, accountId, keyId, personId, amountNanousd, ceilingNanousd, idempotency };
  const stageAndReserve = async (): Promise<ReserveResult> => {
    await stageSlice({ ledger, store }, [{ ...job, reservedNanousd: amountNanousd }], chunks);
    return ledger.reserve({ ...request, keepKeyUntilMs: expiresMs + resultTtlMs });
  };
  const taken = await stageAndReserve().catch(async (error: unknown) => {
    // Its client will send it again. If this fails too, it is deleted an hour later.
    await store.dropStaged(id).catch(() => undefined);
    throw error;
  });
  if (taken.kind === 'reserved') return taken;
  await store.dropStaged(id);
  return taken.kind === 'reserve_refused' ? asHoldRefused(taken) : taken;
}

const OUT_OF_RANGE: HoldRefused = { kind: 'hold_refused', reason: 'out_of_range', availableNanousd: null };
const COUNT_REFUSED: HoldRefused = { kind: 'hold_refused', reason: 'loss_allowance', availableNanousd: null };

/** The result of running a job. `left`: this process has nothing more to do with it. */
export type RunEnd = AttemptEnd | { readonly kind: 'left' };

/**
 * Runs a job that this process has claimed, and ends it or puts it back. The ledger refuses to start one that is too late,
 * by a clock that all processes share. Throws if the store is unreachable.
 */
export async function run(services: JobServices, job: Job, sink: JobSink): Promise<RunEnd> {
  const { runningCalls } = services.gateway;
  // Before its request is read: a shutdown that did not wait for that would cut its call short as soon as it begins.
  runningCalls.begin();
  try {
    return await attempt(services, job, sink);
  } finally {
    runningCalls.end();
  }
}

async function attempt(services: JobServices, job: Job, sink: JobSink): Promise<RunEnd> {
  const { gateway, contents, prices, endpoints } = services;
  const caller = await callerOf(services, job);
  if (isBlocked(caller, gateway.clock.nowMs())) return putBack(services, job, blockedMs(job), WAITS_FOR.key_inactive);
  const body = await contents.readRequest(job);
  const wire = endpoints.get(job.endpoint);
  if (body === null || wire === undefined) {
    await putBack(services, job, LIMITS.jobRetryMaxMs);
    throw new Error('The request of a job cannot be decrypted. Tollgate will try again. Has the master key changed?');
  }
  const call = callOf(gateway, job, wire, caller, body);
  const ledger = attemptLedger(services, job, call);
  const pinned = await prices.at(job.priceVersion);
  if (gateway.runningCalls.areCutOff) return putBack(services, job, 0);
  let refused: GatewayError | null = null;
  const attempting = gatewayFor(gateway, ledger, pinned, (error) => {
    refused = error;
  });
  sink.room = new ResponseRoom(gateway.answers, caller);
  try {
    await exchange(attempting, call, sink);
  } finally {
    sink.room.end(0);
  }
  if (ledger.hasStarted) return ledger.end ?? { kind: 'left' };
  if (sink.gone) return cancel(services, job);
  if (ledger.tooEarlyUntilMs !== null) {
    return putBack(services, job, ledger.tooEarlyUntilMs - gateway.clock.nowMs(), WAITS_FOR.loss_allowance);
  }
  return ledger.refusal !== null ? afterRefusal(services, job, ledger.refusal) : afterError(services, job, refused);
}

async function callerOf({ findKey }: JobServices, { accountId, keyId }: Job): Promise<Caller> {
  return { accountId, keyId, key: keyId === null ? null : await findKey(keyId) };
}

/** The ledger decides. This saves the work of a call for a key that may have many jobs and cannot make any. */
function isBlocked({ key }: Caller, nowMs: number): boolean {
  if (key === null || key.revokedMs !== null) return false;
  return key.disabledMs !== null || (key.expiresMs !== null && key.expiresMs <= nowMs);
}

/** Longer each time that the job was claimed without success. */
function blockedMs({ claim }: Job): number {
  return Math.min(LIMITS.jobBlockedMs * 2 ** Math.min(claim - 1, 10), LIMITS.jobRetryMaxMs);
}

function attemptLedger({ gateway, contents, ledger, random }: JobServices, job: Job, call: Call): AttemptLedger {
  return new AttemptLedger({
    ledger,
    job,
    writeError: (error) => errorAnswer(call, job, error),
    random,
    nowMs: () => gateway.clock.nowMs(),
    lossLimitNanousd: gateway.limits.hangupAllowanceNanousd,
    mayStartMs: () => mayStartMs(gateway, job.accountId),
    storeAnswer: (answer) => whenReachable(gateway, call, () => contents.storeAnswer(job.id, job.attempts + 1, answer)),
  });
}

/** Waits for an unreachable store as long as the settlement does: the host has answered, and would have to work again. */
async function whenReachable<Result>(
  { clock, limits, runningCalls }: Gateway,
  { startedMs }: Call,
  store: () => Promise<Result>,
): Promise<Result> {
  for (;;) {
    try {
      return await store();
    } catch (error) {
      const leftMs = startedMs + limits.bufferedMs - clock.monotonicMs();
      if (!(error instanceof StoreUnavailable) || runningCalls.areCutOff || leftMs <= 0) throw error;
      await pause(clock, Math.min(leftMs, LIMITS.settleRetryMs));
    }
  }
}

/** The ledger did not start the job. */
function afterRefusal(services: JobServices, job: Job, refusal: StartRefusal): Promise<RunEnd> | RunEnd {
  switch (refusal) {
    case 'stale_epoch':
    case 'not_claimed':
      return { kind: 'left' };
    case 'expired':
      return expire(services, job);
    case 'key_inactive':
    case 'account_suspended':
      return putBack(services, job, blockedMs(job), WAITS_FOR[refusal]);
    case 'key_revoked':
      return endClaimed(services, job, 'cancelled', {
        code: refusal,
        message: 'The key that submitted the job was revoked.',
      });
    case 'account_closed':
      return endClaimed(services, job, 'cancelled', { code: refusal, message: 'The account of the job is closed.' });
    case 'exceeds_reservation':
      return endClaimed(services, job, 'failed', {
        code: 'internal_error',
        message: 'The job could cost more than was reserved for it, so it was not run. Nothing was charged.',
      });
  }
}

/** The call was refused before the job started, for a reason that did not exist when it was submitted. */
function afterError(services: JobServices, job: Job, error: GatewayError | null): Promise<RunEnd> {
  const retryMs = retryDelayMs(job.claim, services.random());
  if (error === null) return putBack(services, job, retryMs);
  if (isPassing(error)) return putBack(services, job, retryMs, rowErrorOf(error));
  const ageMs = services.gateway.clock.nowMs() - job.createdMs;
  const unknownMs = unknownModelDelayMs(error, ageMs, retryMs);
  if (unknownMs !== null) return putBack(services, job, unknownMs, rowErrorOf(error));
  return endClaimed(services, job, 'failed', rowErrorOf(error));
}

/** Ends the lease; the job is tried again after this time. A job that has run keeps the error of its last attempt. */
async function putBack(
  { gateway, store }: JobServices,
  job: Job,
  waitMs: number,
  why: JobError | null = null,
): Promise<RunEnd> {
  const dueMs = gateway.clock.nowMs() + waitMs;
  const isBack = await store.postpone(job.id, job.claim, dueMs, job.attempts === 0 ? why : null);
  return isBack ? { kind: 'returned', dueMs } : { kind: 'left' };
}

/** What ends a job that does not run. */
type EndingServices = { readonly ledger: Pick<Ledger, 'releaseJob'> };

/** The latest start has passed. */
export function expire(services: EndingServices, job: Job): Promise<RunEnd> {
  return end(services, job, 'expired');
}

/** Ends a job that does not run. A job that another process has claimed and started meanwhile is left alone. */
export function cancel(services: EndingServices, job: Job): Promise<RunEnd> {
  return end(services, job, 'cancelled');
}

/** Ends a job that may have run before the ledger was restored. */
export function failRestored(services: EndingServices, job: Job): Promise<RunEnd> {
  return end(services, job, 'failed', {
    errorCode: OUTCOME_UNKNOWN,
    errorMessage: 'The ledger was restored from a backup, and the job may have run before; nothing was charged.',
  });
}

/** Ends a job that this process has claimed, unless another one has claimed it since. */
function endClaimed(
  services: EndingServices,
  job: Job,
  state: 'cancelled' | 'failed',
  error: { readonly code: string; readonly message: string },
): Promise<RunEnd> {
  return end(services, job, state, { errorCode: error.code, errorMessage: error.message, claim: job.claim });
}

async function end(
  { ledger }: EndingServices,
  { id, accountId }: Job,
  state: Exclude<FinalJobState, 'succeeded'>,
  more: Pick<ReleaseOperation, 'claim' | 'errorCode' | 'errorMessage'> = {},
): Promise<RunEnd> {
  const released = await ledger.releaseJob({ id, accountId, end: state, ...more });
  return released.kind === 'released' ? { kind: 'ended', state: released.state } : { kind: 'left' };
}
