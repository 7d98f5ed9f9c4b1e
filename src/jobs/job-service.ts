import { GatewayError } from '../canonical/errors.ts';
import { REQUEST_PREFIX } from '../canonical/id-prefixes.ts';
import type { WholeResponse } from '../gateway/client-sink.ts';
import type { Clock } from '../kit/clock.ts';
import { formatId } from '../kit/ids.ts';
import { LIMITS } from '../limits.ts';
import { FINAL_JOB_STATES, type Job, type JobGroup } from '../store/jobs.ts';
import { openGroup } from './group-intake.ts';
import { type JobServices, submit } from './job.ts';
import { answerOfFailed } from './job-call.ts';
import type {
  Accepted,
  GroupIntake,
  GroupResult,
  JobReader,
  JobRequest,
  Jobs,
  JobTerms,
  SingleSubmission,
  Submission,
} from './jobs.ts';
import { findRepeat, NO_HASH } from './repeats.ts';
import { hasEnded, StoredJobs, type StoredJobsTerms } from './stored-jobs.ts';
import type { JobWaiters } from './waiters.ts';

interface JobServiceTerms extends Pick<StoredJobsTerms, 'worker' | 'onEnded'> {
  readonly services: JobServices;
  readonly waiters: JobWaiters;
}

/** Jobs as routes use them: also to submit them, and to wait for their results. */
export class JobService extends StoredJobs implements Jobs {
  readonly #terms: JobServiceTerms;
  readonly #services: JobServices;
  readonly #clock: Clock;

  constructor(terms: JobServiceTerms) {
    const { services, worker, onEnded } = terms;
    const { gateway, store, ledger } = services;
    super({ store, ledger, clock: gateway.clock, yieldToCalls: () => services.yieldToCalls(), worker, onEnded });
    this.#terms = terms;
    this.#services = services;
    this.#clock = gateway.clock;
  }

  async submit(submission: SingleSubmission, request: JobRequest, terms: JobTerms): Promise<Accepted<Job>> {
    const accepted = await this.#noted(submission, () => this.#submit(submission, request, terms));
    this.#terms.worker.nudge();
    return accepted;
  }

  async #submit(submission: SingleSubmission, request: JobRequest, terms: JobTerms): Promise<Accepted<Job>> {
    try {
      return await submit(this.#services, submission, request, terms);
    } catch (refusal) {
      const accepted = await this.findRepeated(submission);
      if (accepted === null) throw refusal;
      return { accepted, replayed: true };
    }
  }

  async findRepeated(submission: SingleSubmission): Promise<Job | null> {
    const id = await this.#repeatedId(submission);
    return id === null ? null : this.#services.store.find(id, submission.caller.accountId);
  }

  async findRepeatedGroup(submission: SingleSubmission): Promise<JobGroup | null> {
    const id = await this.#repeatedId(submission);
    return id === null ? null : this.#services.store.findGroup(id, submission.caller.accountId);
  }

  async #repeatedId(submission: SingleSubmission): Promise<bigint | null> {
    const repeat = await findRepeat(this.#services.gateway, submission, submission.bodySha256);
    return repeat?.state === 'finished' ? repeat.callId : null;
  }

  async isKeyUsed(submission: Submission): Promise<boolean> {
    return (await findRepeat(this.#services.gateway, submission, NO_HASH)) !== null;
  }

  async openGroup(submission: Submission, terms: JobTerms): Promise<GroupIntake> {
    const { worker } = this.#terms;
    const intake = await openGroup({ services: this.#services, submission, terms });
    return {
      add: (requests) => this.#noted(submission, () => intake.add(requests)),
      accept: async (bodySha256) => {
        const accepted = await this.#noted(submission, () => intake.accept(bodySha256));
        worker.nudge();
        return accepted;
      },
      abandon: () => intake.abandon(),
    };
  }

  /** A refused submission is listed among the refused calls. */
  async #noted<Result>({ id, caller }: Submission, run: () => Promise<Result>): Promise<Result> {
    try {
      return await run();
    } catch (error) {
      const refused = { id, caller, route: '/v1/jobs', model: null };
      if (error instanceof GatewayError) this.#services.gateway.refusals.refused(refused, error);
      throw error;
    }
  }

  async wait(reader: JobReader, id: bigint, waitMs: number, gone?: AbortSignal): Promise<Job> {
    const untilMs = this.#clock.monotonicMs() + waitMs;
    for (;;) {
      const pause = this.#pauseFor(id);
      const job = await this.find(reader, id).catch((error: unknown) => {
        pause.cancel();
        throw error;
      });
      const leftMs = untilMs - this.#clock.monotonicMs();
      const isOver = leftMs <= 0 || gone?.aborted === true || this.#terms.waiters.isClosed;
      if (hasEnded(job) || isOver) {
        pause.cancel();
        return job;
      }
      await pause.until(Math.min(leftMs, LIMITS.jobWaitPollMs), gone);
    }
  }

  /** Listens before the job is read, so that an end in between is not missed. */
  #pauseFor(id: bigint): { until(ms: number, gone?: AbortSignal): Promise<void>; cancel(): void } {
    let wake = (): void => {};
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const forget = this.#terms.waiters.wait(id, wake);
    return {
      cancel: forget,
      until: async (ms, gone) => {
        const timer = this.#clock.after(ms, wake);
        gone?.addEventListener('abort', wake, { once: true });
        await woken;
        gone?.removeEventListener('abort', wake);
        timer.cancel();
        forget();
      },
    };
  }

  async result(reader: JobReader, id: bigint): Promise<WholeResponse> {
    const job = await this.find(reader, id);
    if (!hasEnded(job)) throw notFinished();
    // These have no result at any time, so it cannot have been deleted.
    if (job.state === 'cancelled' || job.state === 'expired') throw noResult(job);
    if (this.#isGone(job)) throw resultExpired(job);
    const answer = await this.#answerOf(job);
    if (answer === null) throw job.result === null ? noResult(job) : resultExpired(job);
    return answer;
  }

  /** Deleted, or about to be. */
  #isGone({ contentGoneMs, resultExpiresMs }: Job): boolean {
    return contentGoneMs !== null || (resultExpiresMs !== null && resultExpiresMs <= this.#clock.nowMs());
  }

  /** Null if the job has none: it was cancelled, it expired, or what was stored can no longer be decrypted. */
  async #answerOf(job: Job): Promise<WholeResponse | null> {
    const { contents, endpoints } = this.#services;
    if (job.result !== null) return contents.readAnswer(job);
    const wire = endpoints.get(job.endpoint);
    return job.state !== 'failed' || wire === undefined ? null : answerOfFailed(job, wire);
  }

  async remove(reader: JobReader, id: bigint): Promise<Job> {
    const job = await this.find(reader, id);
    const dropped = await this.#services.store.dropContent(id, job.accountId, this.#clock.nowMs());
    if (dropped === 'not_ended') throw notFinished();
    return this.find(reader, id);
  }

  async *groupResults(reader: JobReader, id: bigint, after: bigint | null): AsyncIterable<GroupResult> {
    const group = await this.findGroup(reader, id);
    const filter = { accountId: group.accountId, groupId: id, states: FINAL_JOB_STATES };
    let last = after;
    for (;;) {
      const page: Job[] = await this.#services.store.list(filter, { after: last, limit: RESULTS_AT_ONCE });
      for (const job of page) {
        yield { job, answer: this.#isGone(job) ? null : await this.#answerOf(job) };
      }
      if (page.length < RESULTS_AT_ONCE) return;
      last = page.at(-1)!.id;
    }
  }
}

const RESULTS_AT_ONCE = 20;
function notFinished(): GatewayError {
  return new GatewayError('job_not_finished', {
    message: 'The job has not ended yet. GET /v1/jobs/{id}?wait=30 waits for it.',
    retryAfterS: 1,
  });
}

function noResult({ state, errorMessage }: Job): GatewayError {
  const why = errorMessage === null ? '' : ` ${errorMessage}`;
  return new GatewayError('job_has_no_result', {
    message: `The job is ${state} and has no response.${why} Submit it again if you still need one.`,
  });
}

function resultExpired({ callId }: Job): GatewayError {
  const kept = callId === null ? '' : ` Its receipt is kept: GET /v1/receipts/${formatId(REQUEST_PREFIX, callId)}.`;
  return new GatewayError('result_expired', { message: `The result of this job was deleted.${kept}` });
}
