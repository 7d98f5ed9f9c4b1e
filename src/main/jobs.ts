import type { Config } from '../config/config.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Endpoints } from '../jobs/admit-job.ts';
import { JobContents } from '../jobs/contents.ts';
import { JobHousekeeping } from '../jobs/housekeeping.ts';
import { type JobServices, type RunEnd, run } from '../jobs/job.ts';
import { JobService } from '../jobs/job-service.ts';
import type { Job, Jobs } from '../jobs/jobs.ts';
import { PinnedPrices } from '../jobs/pinned-prices.ts';
import { turnTaker } from '../jobs/turns.ts';
import { JobWaiters } from '../jobs/waiters.ts';
import { JobWorker } from '../jobs/worker.ts';
import type { CacheSize } from '../kit/caches.ts';
import { errorFields, type Log } from '../kit/log.ts';
import { LIMITS } from '../limits.ts';
import type { FinalJobState } from '../store/jobs.ts';
import type { KeyRow } from '../store/store.ts';
import { JobEvents } from '../webhooks/job-events.ts';
import type { Books } from './books.ts';
import type { Webhooks } from './webhooks.ts';

/** How a job ended in this process. */
interface EndedJob {
  readonly state: FinalJobState;
  /** From when it could have started until it did; null if it did not run. */
  readonly waitedMs: number | null;
  readonly ranMs: number | null;
}

interface JobParts {
  readonly config: Pick<Config, 'jobs' | 'limits'>;
  readonly log: Log;
  readonly books: Pick<Books, 'store' | 'ledger' | 'ids'>;
  readonly gateway: Gateway;
  readonly endpoints: Endpoints;
  readonly webhooks: Pick<Webhooks, 'deliverer'>;
  findKey(id: bigint): Promise<KeyRow | null>;
  /** Whether live calls need the whole process, so that no other job may start. `running`: how many jobs run now. */
  isBusy(running: number): boolean;
  onEnded(ended: EndedJob): void;
}

/** Deferred jobs, and what runs them. */
export interface OpenJobs {
  readonly jobs: Jobs;
  sizes(): CacheSize[];
  start(): void;
  /** Starts no more jobs; those that run are calls, which the shutdown waits for. */
  stop(): void;
  /** Answers those who wait for a job, now and from now on. While connections stay open, they would ask again at once. */
  endWaits(): void;
  /** Resolves when no work on jobs is left. Call it after the shutdown has waited for running calls. */
  idle(): Promise<void>;
}

export function openJobs(parts: JobParts): OpenJobs {
  const { config, log, books, gateway, onEnded } = parts;
  const isBusy = (): boolean => parts.isBusy(worker.running);
  const { clock } = gateway;
  const store = books.store.jobs;
  const hasCalls = (): boolean => gateway.runningCalls.count > worker.running;
  const yieldToCalls = turnTaker({ clock, isBusy, hasCalls });
  const prices = new PinnedPrices(books.store, () => gateway.prices());
  const services = servicesOf(parts, prices, yieldToCalls);
  const waiters = new JobWaiters();
  const failed = (error: unknown): void =>
    log.warn(errorFields(error), 'Deferred jobs cannot be read or written. Tollgate will try again.');
  const startedMs = new Map<bigint, number>();
  const endedWithoutRun = (id: bigint, state: FinalJobState): void => {
    onEnded({ state, waitedMs: null, ranMs: null });
    waiters.wake(id);
  };
  const worker: JobWorker = new JobWorker({
    store,
    clock,
    settings: settingsOf(config),
    isBusy,
    run: (job, sink) => run(services, job, sink),
    onStart: ({ id }) => void startedMs.set(id, clock.nowMs()),
    onEnd: (job, end) => {
      const beganMs = startedMs.get(job.id) ?? clock.nowMs();
      startedMs.delete(job.id);
      if (end?.kind === 'ended') onEnded(measured(job, end, beganMs, clock.nowMs()));
      waiters.wake(job.id);
    },
    onError: failed,
  });
  const housekeeping = new JobHousekeeping({ services, store, clock, onEnded: endedWithoutRun, onError: failed });
  const events = jobEvents(parts, failed);
  const jobs = new JobService({
    services,
    worker,
    waiters,
    onEnded: endedWithoutRun,
  });
  return {
    jobs,
    sizes: () => sizesOf(config, worker, prices),
    start: () => {
      events.start();
      if (!config.jobs.enabled) return;
      worker.start();
      housekeeping.start();
    },
    endWaits: () => waiters.close(),
    stop: () => {
      housekeeping.stop();
      worker.stop();
    },
    idle: async () => {
      await housekeeping.idle();
      await worker.idle();
      await events.stop();
    },
  };
}

function servicesOf(
  { books, gateway, endpoints, findKey }: JobParts,
  prices: PinnedPrices,
  yieldToCalls: JobServices['yieldToCalls'],
): JobServices {
  const store = books.store.jobs;
  return {
    gateway,
    store,
    ledger: books.ledger,
    contents: new JobContents(gateway.sealer, store),
    prices,
    endpoints,
    findKey,
    yieldToCalls,
    random: () => Math.random(),
  };
}

function sizesOf(config: JobParts['config'], worker: JobWorker, prices: PinnedPrices): CacheSize[] {
  return [
    { cache: 'jobs_running', entries: worker.running, entriesMax: settingsOf(config).concurrency },
    { cache: 'job_price_lists', entries: prices.size, entriesMax: LIMITS.jobPriceListsKept },
  ];
}

/** Tells webhooks of jobs and groups that have ended. */
function jobEvents({ books, gateway, webhooks }: JobParts, onError: (error: unknown) => void): JobEvents {
  const { store, ids } = books;
  const { clock } = gateway;
  const nudge = (): void => webhooks.deliverer.nudge();
  return new JobEvents({ jobs: store.jobs, webhooks: store.directory, ids, clock, nudge, onError });
}

/** Half of the connections to a host stay free for calls. */
function settingsOf({ jobs, limits }: JobParts['config']): { concurrency: number; perAccount: number } {
  const concurrency = Math.min(jobs.concurrency, Math.max(1, Math.floor(limits.callsPerHost / 2)));
  return { concurrency, perAccount: Math.min(jobs.perAccount, concurrency) };
}

function measured(job: Job, { state }: Extract<RunEnd, { kind: 'ended' }>, beganMs: number, endedMs: number): EndedJob {
  const dueMs = Math.max(job.createdMs, job.notBeforeMs ?? 0);
  return { state, waitedMs: Math.max(0, beganMs - dueMs), ranMs: endedMs - beganMs };
}
