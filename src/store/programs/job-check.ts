import { CALL_STATE, JOB_STATE } from '../codes.ts';
import { WINDOW_TABLES, windowOf } from '../window-tables.ts';
import { type Program, rowsOf } from './program.ts';

const { staged, queued, running, cancelling, paused, pausing, succeeded, failed, cancelled, expired } = JOB_STATE.of;

const ACCEPTED_LINE = `job.state = ${staged} AND EXISTS (
  SELECT 1 FROM job_group WHERE job_group.id = job.group_id AND accepted_ms IS NOT NULL)`;
/** Jobs whose amount is reserved: those that wait, and lines of an accepted group that are not jobs yet. */
const IS_WAITING = `(job.state IN (${queued}, ${paused}) OR ${ACCEPTED_LINE})`;
const IS_RUNNING = `job.state IN (${running}, ${cancelling}, ${pausing})`;
const SUM = (what: string, condition: string) =>
  `CAST(coalesce(sum(CASE WHEN ${condition} THEN ${what} END), 0) AS bigint)`;

type Columns = Readonly<Record<string, bigint>>;

/** Compares what is reserved, and the counters of jobs, with the jobs themselves. Naming a few differences is enough. */
export function* checkJobs(limit: number): Program<string[]> {
  const wrong = [
    ...(yield* wrongAccounts(limit)),
    ...(yield* wrongWindows(limit)),
    ...(yield* wrongGroups(limit)),
    ...(yield* wrongAttempts(limit)),
  ];
  return wrong.slice(0, limit);
}

/** An account's reservations, and the counters that its limits are checked against. */
function* wrongAccounts(limit: number): Program<string[]> {
  const rows = yield* rowsOf<Columns>(
    `SELECT balance.account_id, balance.reserved, coalesce(jobs.reserved, 0) AS expected FROM balance
     LEFT JOIN (SELECT account_id, ${SUM('reserved', IS_WAITING)} AS reserved FROM job GROUP BY account_id) AS jobs
       ON jobs.account_id = balance.account_id
     WHERE balance.reserved <> coalesce(jobs.reserved, 0) LIMIT ?`,
    limit,
  );
  const counts = yield* rowsOf<Columns>(
    `SELECT counted.account_id FROM (
       SELECT account_id, ${SUM('1', IS_WAITING)} AS waiting, ${SUM('1', IS_RUNNING)} AS running,
         ${SUM('request_bytes + coalesce(result_bytes, 0)', `content_gone_ms IS NULL AND (job.state <> ${staged} OR ${ACCEPTED_LINE})`)} AS bytes
       FROM job GROUP BY account_id) AS counted
     LEFT JOIN job_account ON job_account.account_id = counted.account_id
     WHERE counted.waiting <> coalesce(job_account.waiting, 0) OR counted.running <> coalesce(job_account.running, 0)
       OR counted.bytes <> coalesce(job_account.bytes, 0) LIMIT ?`,
    limit,
  );
  return [
    ...rows.map((row) => {
      const account = `Account ${row.account_id}: reserved`;
      return `${account} is ${row.reserved}, but its entries add up to ${row.expected}.`;
    }),
    ...counts.map((row) => `Account ${row.account_id}: the counters of its jobs do not match the jobs.`),
  ];
}

function* wrongWindows(limit: number): Program<string[]> {
  const wrong: string[] = [];
  for (const table of WINDOW_TABLES) {
    const { name, owner, windowOfCall } = table;
    const key = [...owner, 'window_id'];
    // A line that is not a job yet has its windows in the row of its group.
    const window = `coalesce(job.${windowOfCall}, job_group.${windowOfCall})`;
    const rows = yield* rowsOf<Columns>(
      `SELECT ${key.map((column) => `w.${column}`)}, w.reserved, coalesce(jobs.reserved, 0) AS expected FROM ${name} AS w
       LEFT JOIN (SELECT ${owner.map((column) => `job.${column}`)}, ${window} AS window_id,
           CAST(sum(job.reserved) AS bigint) AS reserved
         FROM job LEFT JOIN job_group ON job_group.id = job.group_id WHERE ${IS_WAITING}
         GROUP BY ${owner.map((column) => `job.${column}`)}, ${window}) AS jobs
       ON ${key.map((column) => `jobs.${column} = w.${column}`).join(' AND ')}
       WHERE w.reserved <> coalesce(jobs.reserved, 0) LIMIT ?`,
      limit,
    );
    for (const row of rows) {
      wrong.push(`${windowOf(table, row)}: reserved is ${row.reserved}, but its entries add up to ${row.expected}.`);
    }
  }
  return wrong;
}

/** Deleted jobs of a group have ended, so only the counts of those that have not are exact. */
function* wrongGroups(limit: number): Program<string[]> {
  const rows = yield* rowsOf<Columns>(
    `SELECT job_group.id FROM job_group LEFT JOIN (
       SELECT group_id, ${SUM('reserved', IS_WAITING)} AS reserved, ${SUM('1', IS_WAITING)} AS waiting,
         ${SUM('1', IS_RUNNING)} AS running FROM job WHERE group_id IS NOT NULL GROUP BY group_id) AS jobs
       ON jobs.group_id = job_group.id
     WHERE accepted_ms IS NOT NULL AND (job_group.reserved <> coalesce(jobs.reserved, 0)
       OR job_group.waiting <> coalesce(jobs.waiting, 0) OR job_group.running <> coalesce(jobs.running, 0)
       OR job_group.waiting + job_group.running + succeeded + failed + cancelled + expired <> lines) LIMIT ?`,
    limit,
  );
  return rows.map(({ id }) => `Group ${id}: its sums do not match its jobs.`);
}

/** A running job has an open call, and no other job has one. A charged job has a receipt of the same cost. */
function* wrongAttempts(limit: number): Program<string[]> {
  const { open } = CALL_STATE.of;
  const isEnded = `job.state IN (${succeeded}, ${failed}, ${cancelled}, ${expired})`;
  const rows = yield* rowsOf<Columns>(
    `SELECT job.id FROM job LEFT JOIN call ON call.id = job.call_id
     WHERE (${IS_RUNNING} AND (call.id IS NULL OR call.state <> ${open} OR call.account_id <> job.account_id))
       OR (NOT ${IS_RUNNING} AND call.state = ${open})
       OR (${isEnded} AND call.id IS NOT NULL AND call.cost <> job.cost) LIMIT ?`,
    limit,
  );
  return rows.map(({ id }) => `Job ${id}: its state or its cost does not match its call.`);
}
