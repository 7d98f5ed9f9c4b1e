import { type ErrorName, GatewayError } from '../canonical/errors.ts';
import { isPlainCode } from '../canonical/host-error.ts';
import { NOTHING_SETTLED, type Settlement } from '../canonical/receipt.ts';
import type { CallEnding, CallLedger, CallSettleTerms } from '../gateway/call-ledger.ts';
import type { WholeResponse } from '../gateway/client-sink.ts';
import type {
  Balance,
  HoldRequest,
  HoldResult,
  Ledger,
  Release,
  Repeat,
  SettleResult,
  SettleTerms,
} from '../ledger/ledger.ts';
import { LIMITS } from '../limits.ts';
import type { FinalJobState, Job, JobEnd, StartRefusal } from '../store/jobs.ts';
import type { SealedContent } from './contents.ts';
import { isPassing, retryDelayMs } from './retry.ts';

interface AttemptTerms {
  readonly ledger: Pick<Ledger, 'start' | 'settle'>;
  readonly job: Job;
  nowMs(): number;
  random(): number;
  /** What the callers of an account may cost the operator in an hour; null without a limit. */
  readonly lossLimitNanousd: bigint | null;
  /** When a job may start whose reservation is based on a count; null if it may start now. */
  mayStartMs(): Promise<number | null>;
  /** The response of an error, as the call's wire writes it. */
  writeError(error: GatewayError): WholeResponse;
  /** Stores the response of this attempt. */
  storeAnswer(answer: WholeResponse): Promise<SealedContent['content']>;
}

/** How an attempt ended: the job has ended, or waits again. */
export type AttemptEnd =
  | { readonly kind: 'ended'; readonly state: FinalJobState }
  | { readonly kind: 'returned'; readonly dueMs: number }
  /** Other processes had declared this one dead, and decided about the job. */
  | { readonly kind: 'voided' };

/**
 * The ledger of one attempt, which `exchange` uses as it uses any ledger: its hold is the start of the job, and its
 * settlement ends the job or returns it to the queue.
 */
export class AttemptLedger implements CallLedger {
  readonly #terms: AttemptTerms;
  #hasStarted = false;
  /** Why the job was not started. */
  refusal: StartRefusal | null = null;
  /** If it is too early to start it because of the losses of its account: when it may. */
  tooEarlyUntilMs: number | null = null;
  /** Null until the attempt is settled. */
  end: AttemptEnd | null = null;

  constructor(terms: AttemptTerms) {
    this.#terms = terms;
  }

  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  async hold(request: HoldRequest): Promise<HoldResult> {
    const { ledger, job } = this.#terms;
    // This amount goes by bytes. If it exceeds the reservation, the reservation went by a count.
    if (request.amountNanousd > job.reservedNanousd) await this.#refuseIfTooEarly();
    const result = await ledger.start({
      ...request,
      amountNanousd: job.reservedNanousd,
      ceilingNanousd: null,
      lossLimitNanousd: null,
      idempotency: null,
      job: { id: job.id, claim: job.claim },
    });
    if (result.kind === 'start_refused') {
      this.refusal = result.reason;
      throw new GatewayError('overloaded', { message: `The job was not started: ${result.reason}.` });
    }
    if (result.kind === 'held') this.#hasStarted = true;
    return result;
  }

  async #refuseIfTooEarly(): Promise<void> {
    this.tooEarlyUntilMs = await this.#terms.mayStartMs();
    if (this.tooEarlyUntilMs === null) return;
    throw new GatewayError('overloaded', { message: 'The job was not started: the loss allowance is used up.' });
  }

  async settle(id: bigint, settlement: Settlement, terms: CallSettleTerms): Promise<SettleResult> {
    const { ending = NO_ENDING, ...others } = terms;
    const { job, stored, orCharged = null } = await this.#endingFor(settlement, ending);
    if (orCharged === null) return this.#settle(id, stored, { ...others, job });
    const { lossLimitNanousd } = this.#terms;
    const accountLossNanousd = (others.accountLossNanousd ?? 0n) + settlement.costNanousd;
    const free = await this.#settle(id, stored, { ...others, job, lossLimitNanousd, accountLossNanousd });
    return free.kind === 'over_allowance' ? this.#settle(id, settlement, { ...others, job: orCharged }) : free;
  }

  async #settle(id: bigint, stored: Settlement, terms: SettleTerms & { readonly job: JobEnd }): Promise<SettleResult> {
    const result = await this.#terms.ledger.settle(id, stored, terms);
    if (result.kind === 'found_void') this.end = { kind: 'voided' };
    else if (result.kind === 'settled') this.end = endOf(terms.job);
    return result;
  }

  /** A defect of the gateway ended the call. */
  release(id: bigint, release: Release): Promise<SettleResult> {
    const error = new GatewayError('internal_error', {
      message: 'Something went wrong in the gateway; nothing was charged. Quote the request id when you report it.',
    });
    const ending = { error, answer: this.#terms.writeError(error), mayHaveRun: true, brokeOff: false };
    return this.settle(id, { ...NOTHING_SETTLED, ...release }, { ending });
  }

  /** Jobs have no idempotency key of their own: the key of the submission is finished with the submission. */
  async findRepeat(): Promise<Repeat | null> {
    return null;
  }

  async balance(): Promise<Balance | null> {
    return null;
  }

  async #endingFor(settlement: Settlement, ending: CallEnding): Promise<Ending> {
    if (settlement.ended === 'client_gone') return { job: this.#endAs('cancelled'), stored: settlement };
    const { error } = ending;
    if (error === null) return this.#keep('succeeded', settlement, ending);
    if (error.kind === 'shutting_down') return this.#cutShort(settlement, error, ending);
    const dueMs = this.#nextMs(settlement, error, ending);
    if (dueMs !== null) return { job: { ...this.#endAs('queued', error), dueMs }, stored: settlement };
    return this.#keep('failed', settlement, ending);
  }

  /** When the same call is tried again; null if it is not. */
  #nextMs({ costNanousd }: Settlement, error: GatewayError, { brokeOff }: CallEnding): number | null {
    const { job, nowMs, random } = this.#terms;
    if (costNanousd > 0n || !isPassing(error)) return null;
    // The operator pays for each of these attempts.
    if (brokeOff && job.attempts + 1 >= LIMITS.jobBrokenAttemptsMax) return null;
    const dueMs = nowMs() + retryDelayMs(job.attempts + 1, random());
    return dueMs <= job.expiresMs ? dueMs : null;
  }

  /** The process stops. If a host may have got the request, nobody knows what it did. */
  #cutShort(settlement: Settlement, error: GatewayError, ending: CallEnding): Promise<Ending> | Ending {
    const { job, nowMs, writeError } = this.#terms;
    const mayRunAgain = !ending.mayHaveRun || job.onUnknown === 'retry';
    if (mayRunAgain && settlement.costNanousd === 0n)
      return { job: { ...this.#endAs('queued', error), dueMs: nowMs() }, stored: settlement };
    if (settlement.costNanousd > 0n) return this.#keep('failed', settlement, ending);
    const unknown = outcomeUnknown();
    return this.#keep('failed', settlement, { ...ending, error: unknown, answer: writeError(unknown) });
  }

  /** Stores the response first: nothing is charged for one that is not stored. */
  async #keep(end: FinalJobState, settlement: Settlement, { error, answer }: CallEnding): Promise<Ending> {
    const fitting = answer !== null && answer.body.length <= LIMITS.jobResultBytesMax ? answer : null;
    if (fitting === null) return this.#dropTooLarge(settlement);
    try {
      const { digest, chunks, bytes } = await this.#terms.storeAnswer(fitting);
      const result = { resultDigest: digest, resultChunks: chunks, resultBytes: bytes };
      return { job: { ...this.#endAs(end, error), ...result }, stored: settlement };
    } catch {
      return this.#drop(settlement, notStored());
    }
  }

  /** The caller asked for more than is stored, so this is free only as long as the account's loss allowance covers it. */
  #dropTooLarge(settlement: Settlement): Ending {
    const dropped = this.#drop(settlement, tooLarge('nothing was charged'));
    if (settlement.costNanousd === 0n) return dropped;
    const why = 'it was charged, because the loss allowance of the account (GET /v1/balance) does not cover it';
    return { ...dropped, orCharged: this.#endAs('failed', tooLarge(why)) };
  }

  /** The response cannot be kept, so the caller pays nothing for it. */
  #drop(settlement: Settlement, error: GatewayError): Ending {
    const { ended, httpStatus, host, attempts, tries, costNanousd, lossNanousd, lossReason } = settlement;
    const stored: Settlement = {
      ...NOTHING_SETTLED,
      ...{ ended: ended === 'complete' ? 'failed' : ended, httpStatus, host, attempts, tries },
      lossNanousd: lossNanousd + costNanousd,
      lossReason: lossReason ?? (costNanousd > 0n ? 'host_may_bill_uncharged_work' : null),
    };
    return { job: this.#endAs('failed', error), stored };
  }

  #endAs(end: JobEnd['end'], error: GatewayError | null = null): JobEnd {
    const { id: jobId } = this.#terms.job;
    const said = error === null ? null : rowErrorOf(error);
    return { jobId, end, errorCode: said?.code ?? null, errorMessage: said?.message ?? null };
  }
}

interface Ending {
  readonly job: JobEnd;
  /** The settlement to store, which may charge less than the call would have. */
  readonly stored: Settlement;
  /** How the job ends instead, charged as its call, if the loss allowance of the account does not cover the difference. */
  readonly orCharged?: JobEnd;
}

const NO_ENDING: CallEnding = { error: null, answer: null, mayHaveRun: true, brokeOff: false };

function endOf({ end, dueMs }: JobEnd): AttemptEnd {
  return end === 'queued' ? { kind: 'returned', dueMs: dueMs ?? 0 } : { kind: 'ended', state: end };
}

/**
 * An error as the row of a job has it. The row is not encrypted and stays longer than the result, and a host's message may
 * quote the prompt, so it has none.
 */
export function rowErrorOf(error: GatewayError): { readonly code: string; readonly message: string } {
  const { kind, code, ownCode, message } = error;
  if (!QUOTES_HOST.has(kind)) return { code, message };
  return {
    code: isPlainCode(code) ? code : ownCode,
    message: "The host refused the request. The job's result contains the host's response.",
  };
}

const QUOTES_HOST: ReadonlySet<string> = new Set<ErrorName>(['host_refused_request', 'host_context_length_exceeded']);

function outcomeUnknown(): GatewayError {
  return new GatewayError('job_outcome_unknown', {
    message:
      'The gateway stopped while a host may have been working on this job; nothing was charged. Submit it again, with `on_unknown` "retry" if running it twice does no harm.',
  });
}

function tooLarge(charge: string): GatewayError {
  const most = LIMITS.jobResultBytesMax / 1024 / 1024;
  return new GatewayError('host_failed', {
    message: `The response is larger than ${most} MB, the most that is stored for a job; ${charge}. Ask for less.`,
  });
}

function notStored(): GatewayError {
  return new GatewayError('store_unavailable', {
    message: 'The response of this job could not be stored; nothing was charged. Submit the job again.',
  });
}
