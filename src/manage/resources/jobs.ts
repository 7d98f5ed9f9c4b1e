import { z } from 'zod';
import {
  ACCOUNT_PREFIX,
  GROUP_PREFIX,
  JOB_PREFIX,
  KEY_PREFIX,
  PERSON_PREFIX,
  REQUEST_PREFIX,
} from '../../canonical/id-prefixes.ts';
import { JOB_STATUSES } from '../../operator/job-view.ts';
import type { OwnedJobGroupView, OwnedJobView } from '../../operator/jobs.ts';
import { OWNER, route, VIEWER } from '../route.ts';
import { count, EXAMPLE_IDS, EXAMPLE_TIME, exampleList, id, listOf, nanousd, timestamp } from '../schema-fields.ts';

/** Who submitted a job. */
const owned = {
  account: id(ACCOUNT_PREFIX),
  key: id(KEY_PREFIX).nullable(),
  person: id(PERSON_PREFIX).nullable(),
};
const metadata = z.record(z.string(), z.string()).readonly();

export const job = z
  .object({
    id: id(JOB_PREFIX),
    object: z.literal('job'),
    endpoint: z.string(),
    requested_model: z.string(),
    effective_model: z.string(),
    status: z.enum(JOB_STATUSES),
    created_at: timestamp,
    not_before: timestamp.nullable(),
    expires_at: timestamp.describe('The latest start.'),
    started_at: timestamp.nullable(),
    finished_at: timestamp.nullable(),
    result_expires_at: timestamp.nullable().describe('When request and result are deleted.'),
    attempts: count,
    reserved_nanousd: nanousd.describe('Nanodollars; 0 once the job has ended.'),
    cost_nanousd: nanousd.nullable().describe('Nanodollars; null until the job has ended.'),
    request_id: id(REQUEST_PREFIX).nullable().describe('The receipt of the last attempt.'),
    price_version: z.string(),
    custom_id: z.string().nullable(),
    metadata,
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    group: id(GROUP_PREFIX).nullable(),
    ...owned,
  })
  .meta({ id: 'Job' });

export const group = z
  .object({
    id: id(GROUP_PREFIX),
    object: z.literal('job_group'),
    status: z.enum(['running', 'finished']),
    created_at: timestamp,
    finished_at: timestamp.nullable(),
    counts: z.object({
      total: count,
      waiting: count,
      running: count,
      succeeded: count,
      failed: count,
      cancelled: count,
      expired: count,
    }),
    reserved_nanousd: nanousd.describe('Nanodollars for the jobs that wait.'),
    cost_nanousd: nanousd.describe('Nanodollars for the jobs that have ended.'),
    metadata,
    ...owned,
  })
  .meta({ id: 'JobGroup' });

const restored = z.object({
  object: z.literal('restored_jobs'),
  status: z.enum(['resumed', 'failed']),
  jobs: count,
});

const OWNED = { account: EXAMPLE_IDS.account, key: EXAMPLE_IDS.key, person: null };
const CREATED = new Date(EXAMPLE_TIME * 1000).toISOString();
const EXPIRES = new Date((EXAMPLE_TIME + 86_400) * 1000).toISOString();

const JOB: OwnedJobView = {
  id: EXAMPLE_IDS.job,
  object: 'job',
  endpoint: '/v1/chat/completions',
  requested_model: 'example-large',
  effective_model: 'example-large',
  status: 'queued',
  created_at: CREATED,
  not_before: null,
  expires_at: EXPIRES,
  started_at: null,
  finished_at: null,
  result_expires_at: null,
  attempts: 0,
  reserved_nanousd: 15_421_000n,
  cost_nanousd: null,
  request_id: null,
  price_version: '2027-01-31.1',
  custom_id: 'request-1',
  metadata: {},
  error: null,
  group: EXAMPLE_IDS.job_group,
  ...OWNED,
};

const GROUP: OwnedJobGroupView = {
  id: EXAMPLE_IDS.job_group,
  object: 'job_group',
  status: 'running',
  created_at: CREATED,
  finished_at: null,
  counts: { total: 3, waiting: 1, running: 1, succeeded: 1, failed: 0, cancelled: 0, expired: 0 },
  reserved_nanousd: 15_421_000n,
  cost_nanousd: 2_765_000n,
  metadata: {},
  ...OWNED,
};

/** What a job asked and what was answered is not shown here: only to the key that submitted it, on the callers' port. */
export const JOBS_ROUTES = [
  route({
    method: 'GET',
    path: '/jobs',
    verb: 'jobs.list',
    access: VIEWER,
    scope: 'account',
    membersOwn: 'keys',
    summary: 'Deferred jobs, newest first. With `group`, the jobs of that group in the order of its lines.',
    response: listOf(job),
    example: { input: { account: 'acme', status: 'queued' }, output: exampleList(JOB) },
  }),
  route({
    method: 'GET',
    path: '/jobs/{job}',
    verb: 'jobs.show',
    access: VIEWER,
    scope: 'job',
    membersOwn: 'job',
    summary: 'One job, without its request and its result.',
    response: job,
    example: { input: { job: EXAMPLE_IDS.job }, output: JOB },
  }),
  route({
    method: 'POST',
    path: '/jobs/{job}/cancel',
    verb: 'jobs.cancel',
    access: OWNER,
    scope: 'job',
    membersOwn: 'job',
    summary: 'Cancels a job: at once if it waits, soon if it runs. One that has ended stays as it is.',
    response: job,
    example: { input: { job: EXAMPLE_IDS.job }, output: { ...JOB, status: 'cancelled', finished_at: CREATED } },
  }),
  route({
    method: 'GET',
    path: '/job-groups',
    verb: 'jobgroups.list',
    access: VIEWER,
    scope: 'account',
    membersOwn: 'keys',
    summary: 'Groups of jobs, the newest first.',
    response: listOf(group),
    example: { input: { account: 'acme' }, output: exampleList(GROUP) },
  }),
  route({
    method: 'GET',
    path: '/job-groups/{job_group}',
    verb: 'jobgroups.show',
    access: VIEWER,
    scope: 'job_group',
    membersOwn: 'job_group',
    summary: 'One group, with the number of its jobs in each state.',
    response: group,
    example: { input: { job_group: EXAMPLE_IDS.job_group }, output: GROUP },
  }),
  route({
    method: 'POST',
    path: '/job-groups/{job_group}/cancel',
    verb: 'jobgroups.cancel',
    access: OWNER,
    scope: 'job_group',
    membersOwn: 'job_group',
    summary: 'Cancels all unfinished jobs of a group.',
    response: group,
    example: { input: { job_group: EXAMPLE_IDS.job_group }, output: GROUP },
  }),
  route({
    method: 'POST',
    path: '/restored-jobs/resume',
    verb: 'jobs.resume',
    access: 'operator',
    summary: 'Queues the jobs that a restore has paused. Some of them may have run before.',
    response: restored,
    example: { input: { restored: true }, output: { object: 'restored_jobs', status: 'resumed', jobs: 3 } },
  }),
  route({
    method: 'POST',
    path: '/restored-jobs/fail',
    verb: 'jobs.fail',
    access: 'operator',
    summary: 'Ends the jobs that a restore has paused as failed, and frees what was reserved for them.',
    response: restored,
    example: { input: { restored: true }, output: { object: 'restored_jobs', status: 'failed', jobs: 3 } },
  }),
];
