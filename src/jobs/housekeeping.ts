import type { Clock, Timer } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import type { FinalJobState, JobStore } from '../store/jobs.ts';
import { activate } from './group-intake.ts';
import { expire, type JobServices } from './job.ts';

interface HousekeepingTerms {
  readonly services: JobServices;
  readonly store: Pick<JobStore, 'expired' | 'groupsToActivate' | 'sweep'>;
  readonly clock: Clock;
  /** A job ended without running. */
  onEnded(id: bigint, state: FinalJobState): void;
  onError(error: unknown): void;
}

/** Periodic work: ends jobs that have expired, completes groups whose process died, deletes what is too old. */
export class JobHousekeeping {
  readonly #terms: HousekeepingTerms;
  #timer: Timer | null = null;
  #running: Promise<void> | null = null;
  #isStopped = false;

  constructor(terms: HousekeepingTerms) {
    this.#terms = terms;
  }

  start(): void {
    this.#workIn(LIMITS.jobSweepMs);
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  /** After it was stopped: resolves when it has ended. */
  async idle(): Promise<void> {
    await this.#running;
  }

  /** One round. Each part goes in steps, so that calls never wait for long. */
  async work(): Promise<void> {
    await this.#expire();
    for (const id of await this.#terms.store.groupsToActivate(GROUPS_AT_ONCE)) await activate(this.#terms.services, id);
    await this.#sweep();
  }

  #workIn(ms: number): void {
    if (this.#isStopped) return;
    const work = (): void => {
      this.#running = this.work()
        .catch((error: unknown) => this.#terms.onError(error))
        .then(() => this.#workIn(LIMITS.jobSweepMs));
    };
    this.#timer = this.#terms.clock.after(ms, work, { unref: true });
  }

  async #expire(): Promise<void> {
    const { services, store, clock, onEnded } = this.#terms;
    for (let step = 0; step < LIMITS.jobSweepStepsMax && !this.#isStopped; step++) {
      const jobs = await store.expired(clock.nowMs(), LIMITS.jobStageRowsMax);
      const ends = await Promise.all(jobs.map((job) => expire(services, job)));
      for (const [at, end] of ends.entries()) if (end.kind === 'ended') onEnded(jobs[at]!.id, end.state);
      if (jobs.length < LIMITS.jobStageRowsMax) return;
    }
  }

  async #sweep(): Promise<void> {
    const { store, clock } = this.#terms;
    for (let step = 0; step < LIMITS.jobSweepStepsMax && !this.#isStopped; step++) {
      if ((await store.sweep(clock.nowMs())) === 0) return;
    }
  }
}

const GROUPS_AT_ONCE = 16;
