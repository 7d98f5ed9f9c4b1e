import { expect, it } from 'vitest';
import { CountQueue } from './count-queue.ts';

interface Job {
  readonly id: number;
  readonly account: string;
  readonly owner: string;
  steps: number;
}

/** A queue with one job for each `account/owner steps`, numbered from 1. */
function queueOf(...jobs: string[]): CountQueue<Job> {
  const queue = new CountQueue<Job>();
  for (const [at, job] of jobs.entries()) {
    const [account = '', owner = '', steps] = job.split(/[/ ]/);
    queue.add({ id: at + 1, account, owner, steps: Number(steps) });
  }
  return queue;
}

/** The ids in the order of their steps. */
function run(queue: CountQueue<Job>, turns = 100): number[] {
  const ids: number[] = [];
  const step = (job: Job): boolean => {
    ids.push(job.id);
    job.steps--;
    return job.steps === 0;
  };
  for (let turn = 0; turn < turns && queue.turn(step); turn++);
  return ids;
}

it('lets accounts take turns, however many keys and jobs one of them has', () => {
  const many = ['a/1 2', 'a/2 2', 'a/3 2', 'a/3 2'];
  expect(run(queueOf(...many, 'b/1 3'))).toEqual([1, 5, 2, 5, 3, 5, 1, 2, 3, 4, 4]);
});

it('lets the keys of one account take turns', () => {
  expect(run(queueOf('a/1 3', 'a/2 1'))).toEqual([1, 2, 1, 1]);
});

it('drops a job at once, whether it has begun or not', () => {
  const queue = queueOf('a/1 5', 'a/1 5', 'b/1 1');
  expect(run(queue, 1)).toEqual([1]);
  expect([queue.remove(1), queue.remove(2), queue.remove(2), queue.remove(9)]).toEqual([true, true, false, false]);
  expect(run(queue)).toEqual([3]);
  expect(queue.turn(() => true)).toBe(false);
});
