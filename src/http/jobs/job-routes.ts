import { createHash } from 'node:crypto';
import type { Caller } from '../../accounts/authenticate.ts';
import { missingPermission } from '../../accounts/permissions.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { GROUP_PREFIX, JOB_PREFIX } from '../../canonical/id-prefixes.ts';
import type { WholeResponse } from '../../gateway/client-sink.ts';
import { payerOf } from '../../gateway/guards/account-share.ts';
import { headerLine, headerLines, readHeaderText } from '../../http1/headers.ts';
import type { Accepted, Job, JobReader, JobStatus, Jobs, Submission } from '../../jobs/jobs.ts';
import { stringifyJson } from '../../json/stringify.ts';
import { formatId, parseId } from '../../kit/ids.ts';
import { LIMITS } from '../../limits.ts';
import { JOB_STATUSES, jobGroupView, jobView } from '../../operator/job-view.ts';
import { type ListView, listView } from '../../operator/view.ts';
import { refuseFields } from '../body-fields.ts';
import { invalid } from '../field-errors.ts';
import { ok } from '../plain-response.ts';
import { readAfter, readId, readLimit, readQuery } from '../query-parameters.ts';
import { routesOver } from '../route-list.ts';
import type { PlainRequest, PlainResponse, Route } from '../routes.ts';
import { readJob } from './read-submission.ts';
import { receiveGroup } from './receive-group.ts';
import { resultLines } from './result-lines.ts';
import { checkWebhook, type JobRouteServices } from './route-services.ts';

/** Deferred jobs. A route with more segments comes before those that would also match its path. */
export function jobRoutes(services: JobRouteServices): Route[] {
  const route = routesOver(services);
  return [
    route('POST', '/jobs', submit, { isWork: true, bodyBytesMax: LIMITS.requestBodyBytesMax }),
    route('POST', '/jobs/groups', submitGroup, { isWork: true, readsBody: true }),
    route('GET', '/jobs', list),
    route('GET', '/jobs/groups', listGroups),
    route('GET', '/jobs/groups/*/results', groupResults),
    route('POST', '/jobs/groups/*/cancel', cancelGroup),
    route('GET', '/jobs/groups/*', showGroup),
    route('GET', '/jobs/*/result', result),
    route('POST', '/jobs/*/cancel', cancel),
    route('GET', '/jobs/*', show),
    route('DELETE', '/jobs/*', remove),
  ];
}

function submissionOf({ id, requestId, caller, headers, startedMs }: PlainRequest): Submission {
  return { id, requestId, caller, headers, startedMs };
}

async function submit(services: JobRouteServices, request: PlainRequest): Promise<PlainResponse> {
  const { accepted, replayed } = await acceptJob(services, request);
  const view = jobView(accepted, services.clock.nowMs());
  return acceptedAnswer(`/v1/jobs/${formatId(JOB_PREFIX, accepted.id)}`, view, replayed);
}

async function acceptJob(services: JobRouteServices, request: PlainRequest): Promise<Accepted<Job>> {
  const { jobs, endpoints, clock } = services;
  const { body, caller } = request;
  const bodySha256 = createHash('sha256').update('/v1/jobs\n').update(body).digest();
  const submission = { ...submissionOf(request), bodySha256 };
  let read: ReturnType<typeof readJob>;
  try {
    read = readJob(body, endpoints, clock.nowMs());
    await checkWebhook(services, caller, read.terms.webhook);
  } catch (refusal) {
    const accepted = await jobs.findRepeated(submission);
    if (accepted === null) throw refusal;
    return { accepted, replayed: true };
  }
  return jobs.submit(submission, read.request, read.terms);
}

async function submitGroup(services: JobRouteServices, request: PlainRequest): Promise<PlainResponse> {
  const { accepted, replayed } = await receiveGroup(services, request, submissionOf(request));
  return acceptedAnswer(`/v1/jobs/groups/${formatId(GROUP_PREFIX, accepted.id)}`, jobGroupView(accepted), replayed);
}

function acceptedAnswer(location: string, view: object, isReplayed: boolean): PlainResponse {
  const replayed = isReplayed ? headerLine('idempotency-replayed', 'true') : '';
  return { status: 202, body: stringifyJson(view), lines: headerLine('location', location) + replayed };
}

type CallersList = ListView<object> & { readonly has_more: boolean };

/** With `has_more`, which callers know from lists of receipts. */
function callersList(rows: readonly { readonly id?: unknown }[], limit: number): CallersList {
  const view = listView(rows, limit);
  return { ...view, has_more: view.next !== null };
}

async function list({ jobs, lists, clock }: JobRouteServices, { caller, query }: PlainRequest): Promise<PlainResponse> {
  const given = readQuery(query, ['status', 'group', 'after', 'limit']);
  const groupId = readId(given, 'group', GROUP_PREFIX, `must be the id of a group, like ${GROUP_PREFIX}…`);
  const page = readPage(given, JOB_PREFIX);
  const reader = readerOf(caller);
  if (groupId !== null && page.after !== null) await checkInGroup(jobs, reader, groupId, page.after);
  const status = readStatus(given);
  const read = async (): Promise<CallersList> => {
    const found = await jobs.list(reader, { status, groupId }, page);
    const rows = found.map((job) => jobView(job, clock.nowMs()));
    return callersList(rows, page.limit);
  };
  return ok(await lists.read(caller, read));
}

async function listGroups({ jobs, lists }: JobRouteServices, { caller, query }: PlainRequest): Promise<PlainResponse> {
  const page = readPage(readQuery(query, ['after', 'limit']), GROUP_PREFIX);
  const read = async (): Promise<CallersList> => {
    const found = await jobs.listGroups(readerOf(caller), page);
    return callersList(found.map(jobGroupView), page.limit);
  };
  return ok(await lists.read(caller, read));
}

async function show(
  { jobs, slots, clock }: JobRouteServices,
  { caller, param, query, gone }: PlainRequest,
): Promise<PlainResponse> {
  const given = readQuery(query, ['wait']);
  const waitMs = readWait(given.get('wait'));
  const reader = readerOf(caller);
  const id = jobId(param);
  const wait = (): Promise<Job> => jobs.wait(reader, id, waitMs, gone);
  const job = waitMs === 0 ? await jobs.find(reader, id) : await slots.during(caller, wait);
  return ok(jobView(job, clock.nowMs()));
}

async function showGroup({ jobs }: JobRouteServices, { caller, param, query }: PlainRequest): Promise<PlainResponse> {
  readQuery(query, []);
  return ok(jobGroupView(await jobs.findGroup(readerOf(caller), groupIdOf(param))));
}

/** The response of the call, with its status and its receipt headers. It is in memory until the client has read it. */
async function result(
  { jobs, resultMemory }: JobRouteServices,
  { caller, param, query }: PlainRequest,
): Promise<PlainResponse> {
  readQuery(query, []);
  const reader = readerOf(caller);
  const id = jobId(param);
  const { keyId, accountId } = payerOf(caller);
  const bytes = (await jobs.find(reader, id)).result?.bytes ?? 0;
  if (!resultMemory.take(keyId, bytes, accountId)) throw tooManyResults();
  const free = (): void => resultMemory.free(keyId, bytes, accountId);
  try {
    const answer = await jobs.result(reader, id);
    return { ...answer, lines: finalLines(answer), hasIds: true, whenSent: free };
  } catch (error) {
    free();
    throw error;
  }
}

/** A stored error stays the same, so clients must not retry to get another answer. */
function finalLines({ status, lines }: WholeResponse): string {
  if (status < 400) return lines;
  const { 'retry-after': _, ...headers } = readHeaderText(lines) ?? {};
  return headerLines({ ...headers, 'x-should-retry': 'false' });
}

function tooManyResults(): GatewayError {
  return new GatewayError('rate_limit_exceeded', {
    message: 'Too many results are being read at the same time. Ask again when others have been read.',
    retryAfterS: 1,
  });
}

async function groupResults(
  { jobs, resultPlaces }: JobRouteServices,
  { caller, param, query }: PlainRequest,
): Promise<PlainResponse> {
  const given = readQuery(query, ['after']);
  const afterId = readAfter(given, JOB_PREFIX, 'must be the `id` of the last line that was read');
  const reader = readerOf(caller);
  const group = await jobs.findGroup(reader, groupIdOf(param));
  if (group.finishedMs === null) throw groupNotFinished();
  if (afterId !== null) await checkInGroup(jobs, reader, group.id, afterId);
  const givePlaceBack = resultPlaces.take(caller.accountId);
  const lines = withEnd(resultLines(jobs.groupResults(reader, group.id, afterId)), givePlaceBack);
  return { status: 200, body: lines, lines: 'content-type: application/jsonl; charset=utf-8\r\n' };
}

/** Calls back when all has been read, or its reader has left. */
async function* withEnd<Item>(items: AsyncIterable<Item>, onEnd: () => void): AsyncGenerator<Item> {
  try {
    yield* items;
  } finally {
    onEnd();
  }
}

/** After a job that is not in the group there would be no lines, and the results would look complete. */
async function checkInGroup(jobs: Jobs, reader: JobReader, groupId: bigint, afterId: bigint): Promise<void> {
  const job = await jobs.find(reader, afterId).catch((error: unknown) => {
    if (error instanceof GatewayError && error.kind === 'job_not_found') return null;
    throw error;
  });
  if (job?.groupId !== groupId) throw invalid('after', 'must be the `id` of a job of this group');
}

async function cancel({ jobs, clock }: JobRouteServices, request: PlainRequest): Promise<PlainResponse> {
  const { caller, param } = request;
  refuseTerms(request);
  const reader = readerOf(caller);
  const job = await jobs.find(reader, jobId(param));
  refuseStranger(caller, job);
  return ok(jobView(await jobs.cancel(reader, job.id), clock.nowMs()));
}

async function cancelGroup({ jobs }: JobRouteServices, request: PlainRequest): Promise<PlainResponse> {
  const { caller, param } = request;
  refuseTerms(request);
  const reader = readerOf(caller);
  const group = await jobs.findGroup(reader, groupIdOf(param));
  refuseStranger(caller, group);
  return ok(jobGroupView(await jobs.cancelGroup(reader, group.id)));
}

/** The body of a DELETE means nothing in HTTP, and is not read. */
async function remove({ jobs, clock }: JobRouteServices, request: PlainRequest): Promise<PlainResponse> {
  const { caller, param, query } = request;
  readQuery(query, []);
  const reader = readerOf(caller);
  const job = await jobs.find(reader, jobId(param));
  refuseStranger(caller, job);
  return ok(jobView(await jobs.remove(reader, job.id), clock.nowMs()));
}

/** Nothing can be said about how a job ends. */
function refuseTerms({ query, body }: PlainRequest): void {
  readQuery(query, []);
  refuseFields(body);
}

/** A key sees its own jobs and those of its person; all of the account if it may read that. */
function readerOf(caller: Caller): JobReader {
  const { accountId, keyId, key } = caller;
  if (missingPermission(caller, 'account_read') === null) return { accountId, keyId: null, personId: null };
  const personId = key?.personId ?? null;
  return { accountId, keyId: personId === null ? keyId : null, personId };
}

/** A key that may read the whole account may still not end jobs that others submitted. */
function refuseStranger({ keyId, key }: Caller, job: Pick<Job, 'keyId' | 'personId'>): void {
  const isOwn = key === null || job.keyId === keyId || (job.personId !== null && job.personId === key.personId);
  if (isOwn) return;
  throw new GatewayError('permission_denied', {
    message: 'This job was submitted with another key, which must be used to cancel or delete it.',
  });
}

function jobId(param: string): bigint {
  const id = parseId(JOB_PREFIX, param);
  if (id !== null) return id;
  throw new GatewayError('job_not_found', { param: 'id', message: whyNoJob(param) });
}

/** The routes of a group end up here if they have a method that groups do not have. */
function whyNoJob(param: string): string {
  const isGroup = param.replace(/^groups\//, '').startsWith(GROUP_PREFIX);
  if (isGroup) return 'This is the id of a group, not of a job. GET /v1/jobs?group={id} lists the jobs of the group.';
  return `There is no job with this id. The id of a job is like ${JOB_PREFIX}…; GET /v1/jobs lists them.`;
}

function groupIdOf(param: string): bigint {
  const id = parseId(GROUP_PREFIX, param);
  if (id !== null) return id;
  throw new GatewayError('job_group_not_found', {
    param: 'id',
    message: `There is no group of jobs with this id. The id of a group is like ${GROUP_PREFIX}…; GET /v1/jobs/groups lists them.`,
  });
}

function groupNotFinished(): GatewayError {
  return new GatewayError('job_not_finished', {
    message: 'Jobs of this group have not ended yet. GET /v1/jobs/groups/{id} counts them by status.',
    retryAfterS: 5,
  });
}

function readStatus(given: ReadonlyMap<string, string>): JobStatus | null {
  const typed = given.get('status');
  const status = JOB_STATUSES.find((each) => each === typed);
  if (typed === undefined || status !== undefined) return status ?? null;
  throw invalid('status', `must be one of ${JOB_STATUSES.join(', ')}`);
}

const LIMIT_DEFAULT = 100;

function readPage(given: ReadonlyMap<string, string>, prefix: string): { limit: number; after: bigint | null } {
  const after = readAfter(given, prefix, 'must be the `next` of the previous page');
  return { limit: readLimit(given, LIMIT_DEFAULT), after };
}

function readWait(text: string | undefined): number {
  const secondsMax = LIMITS.jobWaitMaxMs / 1000;
  const seconds = text === undefined ? 0 : /^\d{1,3}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
  if (seconds <= secondsMax) return seconds * 1000;
  throw invalid('wait', `must be a whole number of seconds from 0 to ${secondsMax}`);
}
