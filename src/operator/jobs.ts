import { z } from 'zod';
import { GatewayError } from '../canonical/errors.ts';
import { ACCOUNT_PREFIX, GROUP_PREFIX, JOB_PREFIX, KEY_PREFIX, PERSON_PREFIX } from '../canonical/id-prefixes.ts';
import type { JobControl, JobReader } from '../jobs/jobs.ts';
import { formatId, parseId } from '../kit/ids.ts';
import type { Job, JobGroup } from '../store/jobs.ts';
import { auditRow } from './actor.ts';
import { invalidMember, OperatorError } from './error.ts';
import { idOrName, page } from './input.ts';
import { JOB_STATUSES, type JobGroupView, type JobView, jobGroupView, jobView } from './job-view.ts';
import { accountNamed, afterId, keyIn, personIn } from './lookup.ts';
import type { OperatorServices } from './services.ts';
import { type ListView, listView } from './view.ts';

const owner = {
  account: idOrName.nullable().default(null),
  key: idOrName.nullable().default(null),
  /** By id or email address. */
  person: idOrName.nullable().default(null),
};

export const jobPage = z.strictObject({
  ...owner,
  status: z.enum(JOB_STATUSES).nullable().default(null),
  group: idOrName.nullable().default(null),
  ...page,
});
export const jobChoice = z.strictObject({ job: idOrName });
export const jobGroupPage = z.strictObject({ ...owner, ...page });
export const jobGroupChoice = z.strictObject({ job_group: idOrName });
/** Says that the jobs may have run before the ledger was restored, and that this is known. */
export const restoredJobs = z.strictObject({ restored: z.literal(true) });

interface Owned {
  readonly account: string;
  readonly key: string | null;
  readonly person: string | null;
}

export type OwnedJobView = JobView & Owned;
export type OwnedJobGroupView = JobGroupView & Owned;

export interface RestoredJobsView {
  readonly object: 'restored_jobs';
  readonly status: 'resumed' | 'failed';
  readonly jobs: number;
}

const EVERYTHING: JobReader = { accountId: null, keyId: null, personId: null };

export async function listJobs(
  services: OperatorServices,
  input: z.output<typeof jobPage>,
): Promise<ListView<OwnedJobView>> {
  const { status, after, limit } = input;
  const groupId = input.group === null ? null : readId(GROUP_PREFIX, input.group, 'group');
  const reader = await readerOf(services, input);
  const found = await (await jobsOf(services)).list(
    reader,
    { status, groupId },
    { after: afterId(JOB_PREFIX, after), limit },
  );
  return listView(
    found.map((job) => ownedJob(services, job)),
    limit,
  );
}

export async function showJob(services: OperatorServices, { job }: z.output<typeof jobChoice>): Promise<OwnedJobView> {
  const id = readId(JOB_PREFIX, job, 'job');
  return asOperator(async () => ownedJob(services, await (await jobsOf(services)).find(EVERYTHING, id)));
}

export async function cancelJob(
  services: OperatorServices,
  { job }: z.output<typeof jobChoice>,
): Promise<OwnedJobView> {
  const id = readId(JOB_PREFIX, job, 'job');
  return asOperator(async () => {
    const jobs = await jobsOf(services);
    const found = ownedJob(services, await jobs.find(EVERYTHING, id));
    if (found.finished_at !== null) return found;
    if (found.status !== 'cancelling') await noteCancelling(services, 'job.cancel', found);
    return ownedJob(services, await jobs.cancel(EVERYTHING, id));
  });
}

export async function listJobGroups(
  services: OperatorServices,
  input: z.output<typeof jobGroupPage>,
): Promise<ListView<OwnedJobGroupView>> {
  const { after, limit } = input;
  const reader = await readerOf(services, input);
  const found = await (await jobsOf(services)).listGroups(reader, { after: afterId(GROUP_PREFIX, after), limit });
  return listView(found.map(ownedGroup), limit);
}

export async function showJobGroup(
  services: OperatorServices,
  { job_group }: z.output<typeof jobGroupChoice>,
): Promise<OwnedJobGroupView> {
  const id = readId(GROUP_PREFIX, job_group, 'job_group');
  return asOperator(async () => ownedGroup(await (await jobsOf(services)).findGroup(EVERYTHING, id)));
}

export async function cancelJobGroup(
  services: OperatorServices,
  { job_group }: z.output<typeof jobGroupChoice>,
): Promise<OwnedJobGroupView> {
  const id = readId(GROUP_PREFIX, job_group, 'job_group');
  return asOperator(async () => {
    const jobs = await jobsOf(services);
    const found = ownedGroup(await jobs.findGroup(EVERYTHING, id));
    if (found.finished_at !== null) return found;
    await noteCancelling(services, 'jobgroup.cancel', found);
    return ownedGroup(await jobs.cancelGroup(EVERYTHING, id));
  });
}

export async function resumeRestoredJobs(services: OperatorServices): Promise<RestoredJobsView> {
  const jobs = await (await jobsOf(services)).resumeRestored();
  await noteRestored(services, 'jobs.resume_restored', jobs);
  return { object: 'restored_jobs', status: 'resumed', jobs };
}

export async function failRestoredJobs(services: OperatorServices): Promise<RestoredJobsView> {
  const jobs = await (await jobsOf(services)).failRestored();
  await noteRestored(services, 'jobs.fail_restored', jobs);
  return { object: 'restored_jobs', status: 'failed', jobs };
}

/** Before it is done: jobs end in commits of their own, and none may end without a row that says who wanted it. */
async function noteCancelling(
  services: OperatorServices,
  action: string,
  { id, account, status }: OwnedJobView | OwnedJobGroupView,
): Promise<void> {
  const change = { action, subject: id, accountId: parseId(ACCOUNT_PREFIX, account), before: { status } };
  await services.store.directory.writeAudit(auditRow(services, change));
}

async function noteRestored(services: OperatorServices, action: string, jobs: number): Promise<void> {
  await services.store.directory.writeAudit(auditRow(services, { action, subject: 'restored', after: { jobs } }));
}

async function readerOf(
  services: OperatorServices,
  { account, key, person }: { account: string | null; key: string | null; person: string | null },
): Promise<JobReader> {
  const ofAccount = account === null ? null : await accountNamed(services, account);
  const ofKey = await keyIn(services, key, ofAccount);
  const ofPerson = person === null ? null : await personIn(services, person, ofAccount);
  if (ofKey !== null && ofPerson !== null && ofKey.personId !== ofPerson.id)
    throw new OperatorError('not_found', `The key ${key} is not a key of that person.`);
  const accountId = ofAccount?.id ?? ofKey?.accountId ?? null;
  return { accountId, keyId: ofKey?.id ?? null, personId: ofKey === null ? (ofPerson?.id ?? null) : null };
}

/** In a process without jobs, like a test of other verbs, there is nothing to ask. */
function jobsOf({ jobs }: OperatorServices): Promise<JobControl> {
  if (jobs === undefined) throw new OperatorError('unavailable', 'Deferred jobs are not available here.');
  return jobs();
}

function ownedJob({ clock }: OperatorServices, job: Job): OwnedJobView {
  return { ...jobView(job, clock.nowMs()), ...ownerOf(job) };
}

function ownedGroup(group: JobGroup): OwnedJobGroupView {
  return { ...jobGroupView(group), ...ownerOf(group) };
}

function ownerOf({ accountId, keyId, personId }: Pick<Job, 'accountId' | 'keyId' | 'personId'>): Owned {
  return {
    account: formatId(ACCOUNT_PREFIX, accountId),
    key: keyId === null ? null : formatId(KEY_PREFIX, keyId),
    person: personId === null ? null : formatId(PERSON_PREFIX, personId),
  };
}

function readId(prefix: string, text: string, what: string): bigint {
  const id = parseId(prefix, text);
  if (id !== null) return id;
  throw invalidMember(what, `must be an id, like ${prefix}….`);
}

async function asOperator<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new OperatorError(error.status === 404 ? 'not_found' : 'refused', error.message);
  }
}
