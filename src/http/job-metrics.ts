import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Clock } from '../kit/clock.ts';
import { atMostOften } from './book-metrics.ts';

/** Sums over all jobs. */
interface JobSums {
  readonly waiting: number;
  readonly running: number;
  readonly paused: number;
  readonly storedBytes: number;
  readonly oldestDueMs: number | null;
}

export interface JobSources {
  sums(nowMs: number): Promise<JobSums>;
  readonly clock: Clock;
}

/** How a job ended in this process. */
interface EndedJob {
  readonly state: string;
  /** From when it could have started until it did; null if it never ran. */
  readonly waitedMs: number | null;
  readonly ranMs: number | null;
}

const WAIT_SECONDS = [0.1, 1, 5, 30, 120, 600, 3_600, 21_600, 86_400];
const RUN_SECONDS = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900];

export class JobMetrics {
  readonly #ended: Counter<'state'>;
  readonly #waited: Histogram;
  readonly #ran: Histogram;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#ended = new Counter({
      name: 'tollgate_jobs_ended_total',
      help: 'Deferred jobs that this process has ended, by the state that they ended in.',
      labelNames: ['state'],
      registers,
    });
    this.#waited = new Histogram({
      name: 'tollgate_job_wait_seconds',
      help: 'Time from when a deferred job could start until it did.',
      buckets: WAIT_SECONDS,
      registers,
    });
    this.#ran = new Histogram({
      name: 'tollgate_job_run_seconds',
      help: 'Duration of the attempts of deferred jobs.',
      buckets: RUN_SECONDS,
      registers,
    });
  }

  ended({ state, waitedMs, ranMs }: EndedJob): void {
    this.#ended.inc({ state });
    if (waitedMs !== null) this.#waited.observe(waitedMs / 1000);
    if (ranMs !== null) this.#ran.observe(ranMs / 1000);
  }
}

/** Read when they are scraped, at most every few seconds; none is shown if that fails. */
export function gaugeJobs(registry: Registry, { sums, clock }: JobSources): void {
  const read = atMostOften(clock, () => sums(clock.nowMs()));
  const registers = [registry];
  new Gauge({
    name: 'tollgate_jobs',
    help: 'Deferred jobs that have not ended, by state.',
    labelNames: ['state'],
    registers,
    async collect() {
      const found = await read();
      this.reset();
      for (const state of ['waiting', 'running', 'paused'] as const)
        if (found !== null) this.set({ state }, found[state]);
    },
  });
  new Gauge({
    name: 'tollgate_jobs_oldest_seconds',
    help: 'How long the oldest deferred job that could run has been waiting; 0 if none waits.',
    registers,
    async collect() {
      const found = await read();
      if (found === null) this.remove();
      else this.set(found.oldestDueMs === null ? 0 : Math.max(0, clock.nowMs() - found.oldestDueMs) / 1000);
    },
  });
  new Gauge({
    name: 'tollgate_jobs_stored_bytes',
    help: 'Bytes of sealed requests and results of deferred jobs.',
    registers,
    async collect() {
      const found = await read();
      if (found === null) this.remove();
      else this.set(found.storedBytes);
    },
  });
}
