import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { FINAL_JOB_STATES, type FinalJobState, type Job, type JobGroup, type JobState } from '../store/jobs.ts';
import { activate } from './group-intake.ts';
import { cancel, failRestored, type JobServices } from './job.ts';
import type { JobControl, JobPage, JobQuery, JobReader } from './jobs.ts';
import { noGroup, noJob } from './refusals.ts';
import type { JobWorker } from './worker.ts';

export interface StoredJobsTerms extends Pick<JobServices, 'store' | 'yieldToCalls'> {
  readonly ledger: Pick<JobServices['ledger'], 'releaseJob'>;
  readonly clock: Clock;
  readonly worker: Pick<JobWorker, 'nudge' | 'cancel'>;
  /** A job ended without running. */
  onEnded(id: bigint, state: FinalJobState): void;
}

/** Shows jobs and ends them. It accepts and runs none, so it needs no gateway. */
export class StoredJobs implements JobControl {
  readonly #terms: StoredJobsTerms;

  constructor(terms: StoredJobsTerms) {
    this.#terms = terms;
  }

  async find(reader: JobReader, id: bigint): Promise<Job> {
    const job = await this.#terms.store.find(id, reader.accountId);
    if (job === null || !maySee(reader, job)) throw noJob();
    return job;
  }

  list(reader: JobReader, { status = null, groupId = null }: JobQuery, page: JobPage): Promise<Job[]> {
    const isWaiting = status === 'scheduled' || status === 'queued';
    const scheduled = isWaiting ? { is: status === 'scheduled', nowMs: this.#terms.clock.nowMs() } : null;
    return this.#terms.store.list({ ...reader, groupId, states: statesOf(status), scheduled }, page);
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
      const end = await cancel(this.#terms, job);
      if (end.kind === 'ended') {
        this.#terms.onEnded(job.id, end.state);
        return;
      }
      const asked = await this.#terms.store.requestCancel(job.id, job.accountId);
      if (asked === 'cancelling') this.#terms.worker.cancel(job.id);
      if (asked !== 'waiting') return;
    }
  }

  async findGroup(reader: JobReader, id: bigint): Promise<JobGroup> {
    const group = await this.#terms.store.findGroup(id, reader.accountId);
    if (group === null || group.acceptedMs === null || !maySee(reader, group)) throw noGroup();
    return group;
  }

  listGroups(reader: JobReader, page: JobPage): Promise<JobGroup[]> {
    return this.#terms.store.listGroups(reader, page);
  }

  /** Jobs are listed state by state. One that goes back to the queue meanwhile is missed, and found by the next turn. */
  async cancelGroup(reader: JobReader, id: bigint): Promise<JobGroup> {
    let group = await this.findGroup(reader, id);
    // Lines that are not jobs yet would become jobs afterwards.
    if (!group.isActive) await activate(this.#terms, id);
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
      const page: Job[] = await this.#terms.store.list(filter, { after, limit: LIMITS.jobStageRowsMax });
      await Promise.all(page.map((job) => this.#cancelOne(job)));
      if (page.length < LIMITS.jobStageRowsMax) return;
      after = page.at(-1)!.id;
      await this.#terms.yieldToCalls();
    }
  }

  async resumeRestored(): Promise<number> {
    const { store, yieldToCalls } = this.#terms;
    let all = 0;
    for (;;) {
      const resumed = await store.resumePaused(this.#terms.clock.nowMs(), LIMITS.jobStageRowsMax);
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
      const page = await this.#terms.store.paused(LIMITS.jobStageRowsMax);
      const ends = await Promise.all(page.map((job) => failRestored(this.#terms, job)));
      const ended = ends.filter(({ kind }) => kind === 'ended').length;
      all += ended;
      if (ended === 0) return all;
      await this.#terms.yieldToCalls();
    }
  }
}

const UNFINISHED: readonly JobState[] = ['queued', 'paused', 'running'];

function statesOf(status: JobQuery['status']): readonly JobState[] | null {
  if (status == null) return null;
  if (status === 'paused') return ['paused', 'pausing'];
  return [status === 'scheduled' ? 'queued' : status];
}

export function hasEnded({ state }: Job): boolean {
  return (FINAL_JOB_STATES as readonly JobState[]).includes(state);
}

function maySee(reader: JobReader, owner: Pick<Job, 'keyId' | 'personId'>): boolean {
  return (
    (reader.keyId === null || owner.keyId === reader.keyId) &&
    (reader.personId === null || owner.personId === reader.personId)
  );
}
