import { GatewayError } from '../canonical/errors.ts';
import type { WholeAnswer } from '../gateway/client-sink.ts';
import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { FINAL_JOB_STATES, type FinalJobState, type Job, type JobGroup, type JobState } from '../store/jobs.ts';
import { activate, openGroup } from './group-intake.ts';
import { cancel, failRestored, type JobServices, submit } from './job.ts';
import { answerOfFailed } from './job-call.ts';
import type {
  Accepted,
  GroupIntake,
  GroupResult,
  JobPage,
  JobQuery,
  JobReader,
  JobRequest,
  Jobs,
  JobTerms,
  SingleSubmission,
  Submission,
} from './jobs.ts';
import { noGroup, noJob } from './refusals.ts';
import { findRepeat, NO_HASH } from './repeats.ts';
import type { JobWaiters } from './waiters.ts';
import type { JobWorker } from './worker.ts';

export interface JobServiceTerms {
  readonly services: JobServices;
  readonly worker: Pick<JobWorker, 'nudge' | 'cancel'>;
  readonly waiters: JobWaiters;
  /** A job ended without running. */
  onEnded(id: bigint, state: FinalJobState): void;
}

/** Jobs as routes use them: every reader sees only what they may. */
export class JobService implements Jobs {
  readonly #terms: JobServiceTerms;
  readonly #services: JobServices;
  readonly #clock: Clock;

  constructor(terms: JobServiceTerms) {
    this.#terms = terms;
    this.#services = terms.services;
    this.#clock = terms.services.gateway.clock;
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

  async find(reader: JobReader, id: bigint): Promise<Job> {
    const job = await this.#services.store.find(id, reader.accountId);
    if (job === null || !maySee(reader, job)) throw noJob();
    return job;
  }

  list(reader: JobReader, { status = null, groupId = null }: JobQuery, page: JobPage): Promise<Job[]> {
    const isWaiting = status === 'scheduled' || status === 'queued';
    const scheduled = isWaiting ? { is: status === 'scheduled', nowMs: this.#clock.nowMs() } : null;
    return this.#services.store.list({ ...reader, groupId, states: statesOf(status), scheduled }, page);
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

  async result(reader: JobReader, id: bigint): Promise<WholeAnswer> {
    const job = await this.find(reader, id);
    if (!hasEnded(job)) throw notFinished();
    if (this.#isGone(job)) throw resultExpired();
    const answer = await this.#answerOf(job);
    if (answer === null) throw job.result === null ? noResult(job) : resultExpired();
    return answer;
  }

  /** Deleted, or about to be. */
  #isGone({ contentGoneMs, resultExpiresMs }: Job): boolean {
    return contentGoneMs !== null || (resultExpiresMs !== null && resultExpiresMs <= this.#clock.nowMs());
  }

  /** Null if the job has none: it was cancelled, it expired, or what was stored can no longer be decrypted. */
  async #answerOf(job: Job): Promise<WholeAnswer | null> {
    const { contents, endpoints } = this.#services;
    if (job.result !== null) return contents.readAnswer(job);
    const wire = endpoints.get(job.endpoint);
    return job.state !== 'failed' || wire === undefined ? null : answerOfFailed(job, wire);
  }

  async cancel(reader: JobReader, id: bigint): Promise<Job> {
    const job = await this.find(reader, id);
    await this.#cancelOne(job);
    return this.find(reader, id);
  }

  /**
   * A job that waits ends at once; one that runs is asked to stop, here or in the process that runs it. It may start, or go
   * back to the queue, between the two steps.
   */
  async #cancelOne(job: Job): Promise<void> {
    if (hasEnded(job)) return;
    for (let turn = 0; turn < LIMITS.jobCancelTurnsMax; turn++) {
      const end = await cancel(this.#services, job);
      if (end.kind === 'ended') {
        this.#terms.onEnded(job.id, end.state);
        return;
      }
      const asked = await this.#services.store.requestCancel(job.id, job.accountId);
      if (asked === 'cancelling') this.#terms.worker.cancel(job.id);
      if (asked !== 'waiting') return;
    }
  }

  async remove(reader: JobReader, id: bigint): Promise<Job> {
    const job = await this.find(reader, id);
    const dropped = await this.#services.store.dropContent(id, job.accountId, this.#clock.nowMs());
    if (dropped === 'not_ended') throw notFinished();
    return this.find(reader, id);
  }

  async findGroup(reader: JobReader, id: bigint): Promise<JobGroup> {
    const group = await this.#services.store.findGroup(id, reader.accountId);
    if (group === null || group.acceptedMs === null || !maySee(reader, group)) throw noGroup();
    return group;
  }

  listGroups(reader: JobReader, page: JobPage): Promise<JobGroup[]> {
    return this.#services.store.listGroups(reader, page);
  }

  /** Jobs are listed state by state. One that goes back to the queue meanwhile is missed, and found by the next turn. */
  async cancelGroup(reader: JobReader, id: bigint): Promise<JobGroup> {
    let group = await this.findGroup(reader, id);
    // Lines that are not jobs yet would become jobs afterwards.
    if (!group.isActive) await activate(this.#services, id);
    for (let turn = 0; turn < LIMITS.jobCancelTurnsMax; turn++) {
      await this.#cancelJobsOf(group);
      group = await this.findGroup(reader, id);
      if (group.counts.waiting === 0) break;
    }
    return group;
  }

  async #cancelJobsOf({ id, accountId }: JobGroup): Promise<void> {
    const filter = { accountId, groupId: id, states: UNFINISHED };
    let after: bigint | null = null;
    for (;;) {
      const page: Job[] = await this.#services.store.list(filter, { after, limit: LIMITS.jobStageRowsMax });
      await Promise.all(page.map((job) => this.#cancelOne(job)));
      if (page.length < LIMITS.jobStageRowsMax) return;
      after = page.at(-1)!.id;
      await this.#services.yieldToCalls();
    }
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

  async resumeRestored(): Promise<number> {
    const { store, yieldToCalls } = this.#services;
    let all = 0;
    for (;;) {
      const resumed = await store.resumePaused(this.#clock.nowMs(), LIMITS.jobStageRowsMax);
      all += resumed;
      if (resumed === 0) break;
      await yieldToCalls();
    }
    this.#terms.worker.nudge();
    return all;
  }

  async failRestored(): Promise<number> {
    let all = 0;
    for (;;) {
      const page = await this.#services.store.paused(LIMITS.jobStageRowsMax);
      const ends = await Promise.all(page.map((job) => failRestored(this.#services, job)));
      const ended = ends.filter(({ kind }) => kind === 'ended').length;
      all += ended;
      if (ended === 0) return all;
      await this.#services.yieldToCalls();
    }
  }
}

const RESULTS_AT_ONCE = 20;
const UNFINISHED: readonly JobState[] = ['queued', 'paused', 'running'];

function statesOf(status: JobQuery['status']): readonly JobState[] | null {
  if (status == null) return null;
  if (status === 'paused') return ['paused', 'pausing'];
  return [status === 'scheduled' ? 'queued' : status];
}

function hasEnded({ state }: Job): boolean {
  return (FINAL_JOB_STATES as readonly JobState[]).includes(state);
}

function maySee(reader: JobReader, owner: Pick<Job, 'keyId' | 'personId'>): boolean {
  return (
    (reader.keyId === null || owner.keyId === reader.keyId) &&
    (reader.personId === null || owner.personId === reader.personId)
  );
}

function notFinished(): GatewayError {
  return new GatewayError('job_not_finished', {
    message: 'The job has not ended yet. GET /v1/jobs/{id}?wait=30 waits for it.',
    retryAfterS: 1,
  });
}

function noResult({ state }: Job): GatewayError {
  return new GatewayError('job_has_no_result', {
    message: `The job is ${state} and has no response. Submit it again if you still need one.`,
  });
}

function resultExpired(): GatewayError {
  return new GatewayError('result_expired', {
    message: 'The result of this job was deleted. Its receipt is kept: GET /v1/receipts/{request_id}.',
  });
}
