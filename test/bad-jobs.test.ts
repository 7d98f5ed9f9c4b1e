import { expect, test } from 'vitest';
import { BAD_JOBS } from './bad-jobs/classes.ts';
import { runBadJobs } from './bad-jobs/run.ts';
import { seedFrom } from './random.ts';

const COUNT = 300;
const SEED = seedFrom(process.env, 20_261_116);

test(`${COUNT} bad submissions are refused exactly as they must be, and leave nothing behind (TOLLGATE_SEED=${SEED})`, async () => {
  const { classes, complaints } = await runBadJobs(COUNT, SEED);
  expect(complaints.slice(0, 5)).toEqual([]);
  expect(classes.size).toBe(BAD_JOBS.length);
});
