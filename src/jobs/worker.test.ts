import { beforeEach, expect, test, vi } from 'vitest';
import { ManualClock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import type { Job } from '../store/jobs.ts';
import type { RunEnd } from './job.ts';
import type { JobSink } from './job-sink.ts';
import { JobWorker, type WorkerTerms } from './worker.ts';

interface Started {
  readonly job: Job;
  readonly sink: JobSink;
  end(end: RunEnd): void;
}

const SUCCEEDED: RunEnd = { kind: 'ended', state: 'succeeded' };

let clock: ManualClock;
let waiting: Job[];
let started: Started[];
let toCancel: bigint[];
let isBusy: boolean;
let errors: unknown[];

beforeEach(() => {
  clock = new ManualClock(1_000_000);
  waiting = [];
  started = [];
  toCancel = [];
  isBusy = false;
  errors = [];
});

function job(id: number, accountId: number, dueMs = 0): Job {
  return { id: BigInt(id), accountId: BigInt(accountId), claim: 1, dueMs } as Job;
}

const store: WorkerTerms['store'] = {
  accountsWithDueJobs: async (nowMs, after, limit) => {
    const due = waiting.filter(({ dueMs }) => dueMs <= nowMs).map(({ accountId }) => accountId);
    const ids = [...new Set(due)].sort((a, b) => Number(a - b));
    return ids.filter((id) => after === null || id > after).slice(0, limit);
  },
  claim: async (accountId, nowMs, _leaseMs, limit) => {
    const claimed = waiting.filter((one) => one.accountId === accountId && one.dueMs <= nowMs).slice(0, limit);
    waiting = waiting.filter((one) => !claimed.includes(one));
    return claimed;
  },
  postpone: async () => true,
  nextDueMs: async () => (waiting.length === 0 ? null : Math.min(...waiting.map(({ dueMs }) => dueMs))),
  cancelling: async (ids) => toCancel.filter((id) => ids.includes(id)),
};

function startWorker(concurrency: number, perAccount: number): JobWorker {
  const worker = new JobWorker({
    store,
    clock,
    settings: { concurrency, perAccount },
    isBusy: () => isBusy,
    run: (one, sink) =>
      new Promise((end) => {
        started.push({ job: one, sink, end });
      }),
    onStart: () => {},
    onEnd: () => {},
    onError: (error) => void errors.push(error),
  });
  worker.start();
  return worker;
}

/** Lets timers that are due run, and all that follows from them. */
async function turn(ms = 0): Promise<void> {
  clock.advance(ms);
  for (let at = 0; at < 50; at++) {
    await Promise.resolve();
    clock.advance(0);
  }
}

function ids(): number[] {
  return started.map(({ job: { id } }) => Number(id));
}

test('runs as many jobs as it may, and the next when one ends', async () => {
  waiting = [job(1, 1), job(2, 1), job(3, 1)];
  startWorker(2, 2);
  await turn();
  expect(ids()).toEqual([1, 2]);
  started[0]!.end(SUCCEEDED);
  await turn();
  expect(ids()).toEqual([1, 2, 3]);
  expect(errors).toEqual([]);
});

test('gives a free place to another account before the one that has many jobs', async () => {
  waiting = Array.from({ length: 50 }, (_, at) => job(at + 1, 1));
  startWorker(2, 2);
  await turn();
  waiting.push(job(100, 2));
  started[0]!.end(SUCCEEDED);
  await turn();
  expect(ids()).toEqual([1, 2, 100]);
});

test('shares free places between accounts, and keeps each within its own limit', async () => {
  waiting = [...Array.from({ length: 9 }, (_, at) => job(at + 1, 1)), job(20, 2), job(21, 2), job(30, 3)];
  startWorker(8, 3);
  await turn();
  const ofAccount = (id: bigint): number => started.filter(({ job: { accountId } }) => accountId === id).length;
  expect([ofAccount(1n), ofAccount(2n), ofAccount(3n)]).toEqual([3, 2, 1]);
});

test('starts nothing while calls need all there is, and asks the store for nothing', async () => {
  const asked = vi.spyOn(store, 'accountsWithDueJobs');
  waiting = [job(1, 1)];
  isBusy = true;
  startWorker(2, 2);
  await turn();
  expect(ids()).toEqual([]);
  expect(asked).not.toHaveBeenCalled();
  asked.mockRestore();
  isBusy = false;
  await turn(LIMITS.jobWorkerPollMs);
  expect(ids()).toEqual([1]);
});

test('wakes when a job is due, and when it is told of a new one', async () => {
  const worker = startWorker(2, 2);
  await turn();
  waiting = [job(1, 1, clock.nowMs() + 500)];
  worker.nudge();
  await turn();
  expect(ids()).toEqual([]);
  await turn(500);
  expect(ids()).toEqual([1]);
});

test('cancels a job that another process was asked to cancel', async () => {
  waiting = [job(1, 1)];
  startWorker(2, 2);
  await turn();
  toCancel = [1n];
  await turn(LIMITS.jobWorkerPollMs);
  expect(started[0]!.sink.gone).toBe(true);
});

test('starts nothing before it is started, nor after it was stopped', async () => {
  const worker = startWorker(2, 2);
  await turn();
  worker.stop();
  waiting = [job(1, 1)];
  worker.nudge();
  await turn(LIMITS.jobWorkerPollMs);
  expect(ids()).toEqual([]);
});

test('goes on after the store was unreachable', async () => {
  waiting = [job(1, 1)];
  const { nextDueMs } = store;
  Object.assign(store, { nextDueMs: () => Promise.reject(new Error('away')) });
  startWorker(1, 1);
  await turn();
  Object.assign(store, { nextDueMs });
  waiting.push(job(2, 1));
  started[0]!.end({ kind: 'returned', dueMs: 0 });
  await turn(LIMITS.jobWorkerPollMs);
  expect(ids()).toEqual([1, 2]);
});
