import type { Clock } from '../kit/clock.ts';
import { Waker } from '../kit/waker.ts';
import { LIMITS } from '../limits.ts';
import type { Job, JobStore } from '../store/jobs.ts';
import type { RunEnd } from './job.ts';
import { JobSink } from './job-sink.ts';

/** How many jobs run at once in this process: of one account, and of all. */
interface JobSettings {
  readonly concurrency: number;
  readonly perAccount: number;
}

export interface WorkerTerms {
  readonly store: Pick<JobStore, 'accountsWithDueJobs' | 'claim' | 'postpone' | 'nextDueMs' | 'cancelling'>;
  readonly clock: Clock;
  readonly settings: JobSettings;
  /** Whether calls need the whole process, so that no further job may start now. */
  isBusy(): boolean;
  run(job: Job, sink: JobSink): Promise<RunEnd>;
  /** A job has started to run here, or has stopped running; null if it failed because the store was unreachable. */
  onStart(job: Job): void;
  onEnd(job: Job, end: RunEnd | null): void;
  /** The store could not be read or written; it is tried again. */
  onError(error: unknown): void;
}

interface Running {
  readonly job: Job;
  readonly sink: JobSink;
  readonly done: Promise<void>;
}

/**
 * Claims due jobs and runs them. Every process has one. Accounts take turns: whenever a place is free, the next account
 * with due jobs gets it, so that one with many jobs delays another's by no more than the jobs that run already.
 */
export class JobWorker {
  readonly #terms: WorkerTerms;
  readonly #running = new Map<bigint, Running>();
  readonly #ofAccount = new Map<bigint, number>();
  /** The account whose turn was last. */
  #lastAccount: bigint | null = null;
  /** When the store was last asked which jobs are to be cancelled. */
  #askedMs = Number.NEGATIVE_INFINITY;
  readonly #waker: Waker;
  #isStopped = true;

  constructor(terms: WorkerTerms) {
    this.#terms = terms;
    this.#waker = new Waker(terms.clock, () => this.#look());
  }

  get running(): number {
    return this.#running.size;
  }

  start(): void {
    this.#isStopped = false;
    this.#wakeIn(0);
  }

  /** A job was accepted, or may be due. */
  nudge(): void {
    this.#wakeIn(0);
  }

  /** Asks a job that runs in this process to stop. */
  cancel(id: bigint): void {
    this.#running.get(id)?.sink.leave();
  }

  /** Claims no more jobs. Those that run are calls, for which the shutdown waits. */
  stop(): void {
    this.#isStopped = true;
    this.#waker.stop();
  }

  /** After it was stopped: resolves when no job runs here any more. */
  async idle(): Promise<void> {
    await this.#waker.idle();
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  #wakeIn(ms: number): void {
    if (!this.#isStopped) this.#waker.wakeIn(ms);
  }

  async #look(): Promise<number> {
    const { onError, isBusy } = this.#terms;
    try {
      await this.#cancelAsked();
      if (!isBusy()) await this.#fill();
      return isBusy() ? LIMITS.jobBusyPauseMs : await this.#waitMs();
    } catch (error) {
      onError(error);
      return LIMITS.jobWorkerPollMs;
    }
  }

  /** Other processes may have been asked to cancel jobs that run here. */
  async #cancelAsked(): Promise<void> {
    const nowMs = this.#terms.clock.monotonicMs();
    if (this.#running.size === 0 || nowMs - this.#askedMs < LIMITS.jobWorkerPollMs) return;
    this.#askedMs = nowMs;
    for (const id of await this.#terms.store.cancelling([...this.#running.keys()])) this.cancel(id);
  }

  /** Until a job is due, at most until the next poll: other processes accept jobs too. */
  async #waitMs(): Promise<number> {
    if (this.#hasRoom()) {
      const dueMs = await this.#terms.store.nextDueMs();
      const leftMs = dueMs === null ? LIMITS.jobWorkerPollMs : dueMs - this.#terms.clock.nowMs();
      // A job that is due already is one that this process may not run now.
      if (leftMs > 0) return Math.min(leftMs, LIMITS.jobWorkerPollMs);
    }
    return LIMITS.jobWorkerPollMs;
  }

  get #freePlaces(): number {
    return this.#terms.settings.concurrency - this.#running.size;
  }

  #hasRoom(): boolean {
    return !this.#isStopped && this.#freePlaces > 0;
  }

  /** Gives each account with due jobs its share of the free places in turn, until there are no places or no jobs left. */
  async #fill(): Promise<void> {
    let hasStarted = true;
    while (hasStarted && this.#hasRoom()) {
      hasStarted = false;
      const accounts = await this.#accountsInTurn();
      const share = Math.max(1, Math.floor(this.#freePlaces / accounts.length));
      for (const accountId of accounts) {
        if (!this.#hasRoom() || this.#terms.isBusy()) return;
        this.#lastAccount = accountId;
        if (await this.#startSome(accountId, share)) hasStarted = true;
      }
    }
  }

  async #accountsInTurn(): Promise<readonly bigint[]> {
    const { store, clock } = this.#terms;
    const nowMs = clock.nowMs();
    const most = LIMITS.jobAccountsAtOnce;
    const next = await store.accountsWithDueJobs(nowMs, this.#lastAccount, most);
    if (this.#lastAccount === null || next.length >= most) return next;
    const first = await store.accountsWithDueJobs(nowMs, null, most - next.length);
    return [...next, ...first.filter((id) => !next.includes(id))];
  }

  async #startSome(accountId: bigint, share: number): Promise<boolean> {
    const { store, clock, settings } = this.#terms;
    const ownLeft = settings.perAccount - (this.#ofAccount.get(accountId) ?? 0);
    const limit = Math.min(share, ownLeft, this.#freePlaces);
    if (limit <= 0) return false;
    const jobs = await store.claim(accountId, clock.nowMs(), LIMITS.jobLeaseMs, limit);
    for (const job of jobs) {
      if (this.#isStopped) await store.postpone(job.id, job.claim, clock.nowMs());
      else this.#begin(job);
    }
    return jobs.length > 0;
  }

  #begin(job: Job): void {
    const { onStart } = this.#terms;
    const sink = new JobSink();
    this.#ofAccount.set(job.accountId, (this.#ofAccount.get(job.accountId) ?? 0) + 1);
    onStart(job);
    // Registered first: a job may end at once.
    let finish = (): void => {};
    const done = new Promise<void>((resolve) => {
      finish = resolve;
    });
    this.#running.set(job.id, { job, sink, done });
    void this.#run(job, sink).finally(finish);
  }

  async #run(job: Job, sink: JobSink): Promise<void> {
    const { run, onEnd, onError } = this.#terms;
    let end: RunEnd | null = null;
    try {
      end = await run(job, sink);
    } catch (error) {
      onError(error);
    }
    this.#running.delete(job.id);
    const left = this.#ofAccount.get(job.accountId)! - 1;
    if (left === 0) this.#ofAccount.delete(job.accountId);
    else this.#ofAccount.set(job.accountId, left);
    onEnd(job, end);
    this.#wakeIn(0);
  }
}
