import { COUNTING_MUTANTS } from './counting.ts';
import { CUSTODY_MUTANTS } from './custody.ts';
import { FEED_MUTANTS } from './feed.ts';
import { FRAME_MUTANTS } from './frames.ts';
import { HOST_MUTANTS } from './hosts.ts';
import { HTTP1_MUTANTS } from './http1.ts';
import { JOB_LIFE_MUTANTS } from './job-life.ts';
import { JOB_ROUTE_MUTANTS } from './job-routes.ts';
import { JOB_MUTANTS } from './jobs.ts';
import { KEY_MUTANTS } from './keys.ts';
import { LOSS_MUTANTS } from './losses.ts';
import { MONTH_MUTANTS } from './months.ts';
import { MOVING_MUTANTS } from './moving.ts';
import { RIGHTS_MUTANTS } from './rights.ts';
import { MUTANTS, type Mutant } from './seeds.ts';
import { SIGNING_MUTANTS } from './signing.ts';
import { USAGE_MUTANTS } from './usage.ts';

export const ALL_MUTANTS: readonly Mutant[] = [
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
];
