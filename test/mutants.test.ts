import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COUNTING_MUTANTS } from '../campaigns/mutants/counting.ts';
import { CUSTODY_MUTANTS } from '../campaigns/mutants/custody.ts';
import { FEED_MUTANTS } from '../campaigns/mutants/feed.ts';
import { FRAME_MUTANTS } from '../campaigns/mutants/frames.ts';
import { HOST_MUTANTS } from '../campaigns/mutants/hosts.ts';
import { HTTP1_MUTANTS } from '../campaigns/mutants/http1.ts';
import { JOB_LIFE_MUTANTS } from '../campaigns/mutants/job-life.ts';
import { JOB_ROUTE_MUTANTS } from '../campaigns/mutants/job-routes.ts';
import { JOB_MUTANTS } from '../campaigns/mutants/jobs.ts';
import { KEY_MUTANTS } from '../campaigns/mutants/keys.ts';
import { LOSS_MUTANTS } from '../campaigns/mutants/losses.ts';
import { MONTH_MUTANTS } from '../campaigns/mutants/months.ts';
import { MOVING_MUTANTS } from '../campaigns/mutants/moving.ts';
import { RIGHTS_MUTANTS } from '../campaigns/mutants/rights.ts';
import { MUTANTS } from '../campaigns/mutants/seeds.ts';
import { SIGNING_MUTANTS } from '../campaigns/mutants/signing.ts';
import { USAGE_MUTANTS } from '../campaigns/mutants/usage.ts';

/** The campaign itself takes long; that it could still be run is known at once. */

test.each([
  ...MUTANTS,
  ...COUNTING_MUTANTS,
  ...CUSTODY_MUTANTS,
  ...FEED_MUTANTS,
  ...FRAME_MUTANTS,
  ...HOST_MUTANTS,
  ...HTTP1_MUTANTS,
  ...JOB_MUTANTS,
  ...JOB_LIFE_MUTANTS,
  ...JOB_ROUTE_MUTANTS,
  ...KEY_MUTANTS,
  ...LOSS_MUTANTS,
  ...MONTH_MUTANTS,
  ...SIGNING_MUTANTS,
  ...USAGE_MUTANTS,
  ...MOVING_MUTANTS,
  ...RIGHTS_MUTANTS,
])('the fault of "$name" finds its place in the code as it is', ({ changes }) => {
  for (const { file, find } of changes) {
    const places = readFileSync(join(import.meta.dirname, '..', file), 'utf8').split(find).length - 1;
    expect([file, places]).toEqual([file, 1]);
  }
});
