import { LIMITS } from '../../limits.ts';
import { ACCOUNT_STATUS, JOB_STATE } from '../codes.ts';
import type { HandedEvent, Job, JobEvent, JobFilter, JobGroup, JobGroupFilter, JobPage, JobSums } from '../jobs.ts';
import { emitEvent } from './deliveries.ts';
import { type GroupColumns, groupOf, type JobColumns, jobOf } from './job-columns.ts';
import { type Program, rowOf, rowsOf, type SqlValue } from './program.ts';

const { staged, queued, cancelling, paused } = JOB_STATE.of;

export function* find(id: bigint, accountId: bigint | null): Program<Job | null> {
  const row = yield* rowOf<JobColumns>(`SELECT * FROM job WHERE id = ? AND state <> ${staged}`, id);
  return row === null || (accountId !== null && row.account_id !== accountId) ? null : jobOf(row);
}

/** State by state, because the index has the jobs of one state in order. */
export function* list(filter: JobFilter, page: JobPage): Program<Job[]> {
  const { states = null, groupId = null } = filter;
  if (states === null || states.length === 1) return yield* listPage(filter, page);
  const jobs: Job[] = [];
  for (const state of new Set(states)) jobs.push(...(yield* listPage({ ...filter, states: [state] }, page)));
  const order = groupId === null ? (job: Job) => -job.id : (job: Job) => BigInt(job.line);
  return jobs.sort((one, other) => Number(order(one) - order(other))).slice(0, page.limit);
}

function* listPage(filter: JobFilter, page: JobPage): Program<Job[]> {
  const { accountId, keyId = null, personId = null, groupId = null, states = null, scheduled = null } = filter;
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  const add = (condition: string, ...given: readonly SqlValue[]): void => {
    conditions.push(condition);
    values.push(...given);
  };
  if (accountId !== null) add('account_id = ?', accountId);
  if (keyId !== null) add('key_id = ?', keyId);
  if (personId !== null) add('person_id = ?', personId);
  if (groupId !== null) add('group_id = ?', groupId);
  if (states === null) add(`state <> ${staged}`);
  else add(`state = ${JOB_STATE.of[states[0]!]} AND state <> ${staged}`);
  if (scheduled !== null) {
    const isScheduled = 'attempts = 0 AND coalesce(not_before_ms, 0) > ?';
    add(scheduled.is ? isScheduled : `NOT (${isScheduled})`, scheduled.nowMs);
  }
  if (page.after !== null) {
    add(groupId === null ? 'id < ?' : 'line > (SELECT line FROM job WHERE id = ?)', page.after);
  }
  const order = groupId === null ? 'id DESC' : 'line';
  const rows = yield* rowsOf<JobColumns>(
    `SELECT * FROM job WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT ?`,
    ...values,
    Math.min(page.limit, LIMITS.storePageRowsMax),
  );
  return rows.map(jobOf);
}

export function* findGroup(id: bigint, accountId: bigint | null): Program<JobGroup | null> {
  const row = yield* rowOf<GroupColumns>('SELECT * FROM job_group WHERE id = ? AND accepted_ms IS NOT NULL', id);
  return row === null || (accountId !== null && row.account_id !== accountId) ? null : groupOf(row);
}

export function* listGroups(
  { accountId, keyId = null, personId = null }: JobGroupFilter,
  { after, limit }: JobPage,
): Program<JobGroup[]> {
  const conditions: [text: string, value: bigint | null][] = [
    ['account_id = ?', accountId],
    ['key_id = ?', keyId],
    ['person_id = ?', personId],
    ['id < ?', after],
  ];
  const given = conditions.filter(([, value]) => value !== null);
  const where = ['accepted_ms IS NOT NULL', ...given.map(([text]) => text)].join(' AND ');
  const rows = yield* rowsOf<GroupColumns>(
    `SELECT * FROM job_group WHERE ${where} ORDER BY id DESC LIMIT ?`,
    ...given.map(([, value]) => value),
    Math.min(limit, LIMITS.storePageRowsMax),
  );
  return rows.map(groupOf);
}

/** Jobs of a suspended account would be claimed and put back for ever, and there may be many. */
const MAY_RUN = `waiting > 0 AND EXISTS (
  SELECT 1 FROM balance WHERE balance.account_id = job_account.account_id AND status <> ${ACCOUNT_STATUS.of.suspended})`;

/** Reads one row of the index per account that has waiting jobs, however many those are. */
export function* accountsWithDueJobs(nowMs: number, after: bigint | null, limit: number): Program<bigint[]> {
  const rows = yield* rowsOf<{ account_id: bigint }>(
    `SELECT account_id FROM job_account WHERE ${MAY_RUN} AND account_id > ?
       AND EXISTS (SELECT 1 FROM job WHERE job.account_id = job_account.account_id AND state = ${queued} AND due_ms <= ?)
     ORDER BY account_id LIMIT ?`,
    after ?? 0n,
    nowMs,
    limit,
  );
  return rows.map((row) => row.account_id);
}

const FIRST_DUE = `SELECT min(due_ms) AS due_ms FROM (
  SELECT (SELECT min(due_ms) FROM job WHERE job.account_id = job_account.account_id AND state = ${queued}) AS due_ms
  FROM job_account WHERE ${MAY_RUN}) AS firsts`;

export function* nextDueMs(): Program<number | null> {
  const row = yield* rowOf<{ due_ms: bigint | null }>(FIRST_DUE);
  return row === null || row.due_ms === null ? null : Number(row.due_ms);
}

export function* cancellingOf(ids: readonly bigint[]): Program<bigint[]> {
  if (ids.length === 0) return [];
  const rows = yield* rowsOf<{ id: bigint }>(
    `SELECT id FROM job WHERE state = ${cancelling} AND id IN (${ids.map(() => '?')})`,
    ...ids,
  );
  return rows.map(({ id }) => id);
}

export function* expired(nowMs: number, limit: number): Program<Job[]> {
  const rows = yield* rowsOf<JobColumns>(
    `SELECT * FROM job WHERE state = ${queued} AND expires_ms <= ? ORDER BY expires_ms LIMIT ?`,
    nowMs,
    limit,
  );
  return rows.map(jobOf);
}

export function* waitingOf(
  owner: { readonly accountId: bigint; readonly keyId?: bigint; readonly groupId?: bigint },
  limit: number,
): Program<Job[]> {
  const { accountId, keyId, groupId } = owner;
  const conditions = [
    `account_id = ? AND state IN (${queued}, ${paused})`,
    ...(keyId === undefined ? [] : ['key_id = ?']),
    ...(groupId === undefined ? [] : ['group_id = ?']),
  ];
  const values = [accountId, keyId, groupId].filter((value) => value !== undefined);
  const rows = yield* rowsOf<JobColumns>(
    `SELECT * FROM job WHERE ${conditions.join(' AND ')} ORDER BY id LIMIT ?`,
    ...values,
    limit,
  );
  return rows.map(jobOf);
}

export function* pausedJobs(limit: number): Program<Job[]> {
  const rows = yield* rowsOf<JobColumns>(`SELECT * FROM job WHERE state = ${paused} ORDER BY id LIMIT ?`, limit);
  return rows.map(jobOf);
}

interface EventColumns {
  readonly subject_id: bigint;
  readonly account_id: bigint;
  readonly type: string;
  readonly created_ms: bigint;
}

export function* events(limit: number): Program<JobEvent[]> {
  const rows = yield* rowsOf<EventColumns>('SELECT * FROM job_event ORDER BY subject_id LIMIT ?', limit);
  return rows.map((row) => ({
    subjectId: row.subject_id,
    accountId: row.account_id,
    type: row.type as JobEvent['type'],
    createdMs: Number(row.created_ms),
  }));
}

/** In the order of the accounts, so that two processes lock their webhooks in the same order. */
export function* handOver(handed: readonly HandedEvent[]): Program<number> {
  let count = 0;
  const accountOf = ({ event }: HandedEvent): bigint => event?.accountId ?? 0n;
  const inLockOrder = handed.toSorted((one, other) => Number(accountOf(one) - accountOf(other)));
  for (const { subjectId, event } of inLockOrder) {
    const row = yield* rowOf('DELETE FROM job_event WHERE subject_id = ? RETURNING subject_id', subjectId);
    if (row === null) continue;
    count += 1;
    if (event !== null) yield* emitEvent(event);
  }
  return count;
}

export function* sums(nowMs: number): Program<JobSums> {
  const totals = yield* rowOf<{ waiting: bigint; running: bigint; bytes: bigint }>(
    `SELECT CAST(coalesce(sum(waiting), 0) AS bigint) AS waiting, CAST(coalesce(sum(running), 0) AS bigint) AS running,
       CAST(coalesce(sum(bytes), 0) AS bigint) AS bytes FROM job_account`,
  );
  const held = yield* rowOf<{ jobs: bigint }>(`SELECT count(*) AS jobs FROM job WHERE state = ${paused}`);
  const first = yield* nextDueMs();
  return {
    waiting: Number(totals!.waiting),
    running: Number(totals!.running),
    paused: Number(held!.jobs),
    storedBytes: Number(totals!.bytes),
    oldestDueMs: first !== null && first <= nowMs ? first : null,
  };
}

export function* priceList(version: string): Program<string | null> {
  const row = yield* rowOf<{ prices: string }>('SELECT prices FROM price_list WHERE version = ?', version);
  return row?.prices ?? null;
}
