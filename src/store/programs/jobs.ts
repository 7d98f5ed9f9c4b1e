import { LIMITS } from '../../limits.ts';
import { JOB_STATE } from '../codes.ts';
import type { Job, JobChunk, JobError, NewJob, NewJobGroup } from '../jobs.ts';
import { type JobColumns, jobOf, newGroupCells, newJobCells } from './job-columns.ts';
import { insert, insertRows, type Program, query, rowOf, rowsOf, SKIP_LOCKED, type SqlValue } from './program.ts';

const { staged, queued, running, cancelling, paused, pausing } = JOB_STATE.of;

export function* createGroup(group: NewJobGroup): Program<void> {
  yield insert('job_group', newGroupCells(group));
}

/** What encryption may add to a chunk. */
const OVERHEAD_BYTES = 1024;

export function chunkCells({ jobId, attempt, digest, part, sealed }: JobChunk): Record<string, SqlValue> {
  if (sealed.length > LIMITS.jobChunkBytesMax + OVERHEAD_BYTES)
    throw new Error(`A chunk of job ${jobId} is too large.`);
  return { job_id: jobId, attempt, digest, part, sealed };
}

/** The sums of a group grow with each slice, so that accepting it reads one row. */
export function* stage(jobs: readonly NewJob[], chunks: readonly JobChunk[]): Program<'staged' | 'no_group'> {
  if (jobs.length > LIMITS.jobStageRowsMax) throw new Error(`${jobs.length} jobs are too many for one slice.`);
  const [first] = jobs;
  if (first === undefined) return 'staged';
  const { groupId } = first;
  if (jobs.some((job) => job.groupId !== groupId)) throw new Error('A slice has jobs of several groups.');
  if (groupId !== null) {
    const grown = yield* rowOf(
      `UPDATE job_group SET lines = lines + ?, bytes = bytes + ?, reserved = reserved + ?
       WHERE id = ? AND accepted_ms IS NULL RETURNING id`,
      jobs.length,
      jobs.reduce((sum, { request }) => sum + request.bytes, 0),
      jobs.reduce((sum, { reservedNanousd }) => sum + reservedNanousd, 0n),
      groupId,
    );
    if (grown === null) return 'no_group';
  }
  yield insertRows('job', jobs.map(newJobCells));
  if (chunks.length > 0) yield insertRows('job_chunk', chunks.map(chunkCells));
  return 'staged';
}

/**
 * The group's row goes first: from then on its lines belong to nobody, and `sweep` deletes those that are left if this is
 * not called again.
 */
export function* dropStaged(id: bigint): Program<boolean> {
  yield query('DELETE FROM job_group WHERE id = ? AND accepted_ms IS NULL', id);
  const rows = yield* rowsOf<{ id: bigint }>(
    `DELETE FROM job WHERE state = ${staged} AND id IN (
       SELECT id FROM job WHERE id = ? AND group_id IS NULL
       UNION ALL
       SELECT id FROM (SELECT id FROM job WHERE state = ${staged} AND group_id = ?
         AND NOT EXISTS (SELECT 1 FROM job_group WHERE job_group.id = group_id) LIMIT ?) AS some_lines) RETURNING id`,
    id,
    id,
    LIMITS.jobStageRowsMax,
  );
  yield* deleteChunksOf(rows.map((row) => row.id));
  return rows.length >= LIMITS.jobStageRowsMax;
}

/** Deletes what was staged before that time and not accepted since; returns how many rows. */
export function* dropForgotten(beforeMs: number): Program<number> {
  const groups = yield* rowsOf(
    `DELETE FROM job_group WHERE accepted_ms IS NULL AND id IN (
       SELECT id FROM job_group WHERE accepted_ms IS NULL AND created_ms < ? LIMIT ?) RETURNING id`,
    beforeMs,
    LIMITS.storeWriteSliceRows,
  );
  const jobs = yield* rowsOf<{ id: bigint }>(
    `DELETE FROM job WHERE state = ${staged} AND id IN (
       SELECT id FROM job WHERE state = ${staged} AND created_ms < ?
         AND NOT EXISTS (SELECT 1 FROM job_group WHERE job_group.id = job.group_id) LIMIT ?) RETURNING id`,
    beforeMs,
    LIMITS.storeWriteSliceRows,
  );
  yield* deleteChunksOf(jobs.map(({ id }) => id));
  return groups.length + jobs.length;
}

function* deleteChunksOf(jobIds: readonly bigint[]): Program<void> {
  for (let at = 0; at < jobIds.length; at += LIMITS.jobStageRowsMax) {
    const some = jobIds.slice(at, at + LIMITS.jobStageRowsMax);
    yield query(`DELETE FROM job_chunk WHERE job_id IN (${some.map(() => '?')})`, ...some);
  }
}

/**
 * In slices, so that live calls do not wait for a large group. Another process may be doing the same: a slice that it has
 * just written is left out, and the group is complete only when no line is left.
 */
export function* activate(groupId: bigint): Program<number> {
  const group = yield* rowOf<{ window_id: bigint | null; person_window_id: bigint | null }>(
    'SELECT window_id, person_window_id FROM job_group WHERE id = ? AND accepted_ms IS NOT NULL',
    groupId,
  );
  if (group === null) return 0;
  for (;;) {
    const rows = yield* rowsOf(
      `UPDATE job SET state = ${queued}, window_id = ?, person_window_id = ?
       WHERE state = ${staged} AND id IN (
         SELECT id FROM job WHERE state = ${staged} AND group_id = ? ORDER BY line LIMIT ?) RETURNING id`,
      group.window_id,
      group.person_window_id,
      groupId,
      LIMITS.jobStageRowsMax,
    );
    if (rows.length > 0) return rows.length;
    const isLeft = yield* rowOf(`SELECT id FROM job WHERE state = ${staged} AND group_id = ? LIMIT 1`, groupId);
    if (isLeft !== null) continue;
    yield query('UPDATE job_group SET active = 1 WHERE id = ?', groupId);
    return 0;
  }
}

export function* groupsToActivate(limit: number): Program<bigint[]> {
  const rows = yield* rowsOf<{ id: bigint }>(
    'SELECT id FROM job_group WHERE accepted_ms IS NOT NULL AND active = 0 ORDER BY id LIMIT ?',
    limit,
  );
  return rows.map(({ id }) => id);
}

/** The lease is the time at which the job is due again. */
export function* claim(accountId: bigint, nowMs: number, leaseMs: number, limit: number): Program<Job[]> {
  const rows = yield* rowsOf<JobColumns>(
    `UPDATE job SET due_ms = ?, claim = claim + 1 WHERE state = ${queued} AND due_ms <= ? AND id IN (
       SELECT id FROM job WHERE account_id = ? AND state = ${queued} AND due_ms <= ?
       ORDER BY due_ms, id LIMIT ? ${SKIP_LOCKED}) RETURNING *`,
    nowMs + leaseMs,
    nowMs,
    accountId,
    nowMs,
    limit,
  );
  return rows.map(jobOf).sort((one, other) => (one.id < other.id ? -1 : 1));
}

export function* postpone(
  id: bigint,
  claimNumber: number,
  dueMs: number,
  error: JobError | null = null,
): Program<boolean> {
  const why = error === null ? '' : ', error_code = ?, error_message = ?';
  const row = yield* rowOf(
    `UPDATE job SET due_ms = ?${why} WHERE id = ? AND claim = ? AND state = ${queued} RETURNING id`,
    dueMs,
    ...(error === null ? [] : [error.code, error.message]),
    id,
    claimNumber,
  );
  return row !== null;
}

export function* requestCancel(
  id: bigint,
  accountId: bigint | null,
): Program<'cancelling' | 'waiting' | 'ended' | 'no_job'> {
  const isOwn = accountId === null ? '' : 'AND account_id = ?';
  const owner = accountId === null ? [] : [accountId];
  const marked = yield* rowOf(
    `UPDATE job SET state = ${cancelling} WHERE id = ? AND state IN (${running}, ${cancelling}) ${isOwn} RETURNING id`,
    id,
    ...owner,
  );
  if (marked !== null) return 'cancelling';
  const row = yield* rowOf<{ state: bigint }>(`SELECT state FROM job WHERE id = ? ${isOwn}`, id, ...owner);
  if (row === null || row.state === staged) return 'no_job';
  return row.state === queued || row.state === paused || row.state === pausing ? 'waiting' : 'ended';
}

/**
 * Unfinished jobs may have run after the state that the ledger was put back to, so they wait for an operator. Part of the
 * commit that begins the first registration after that.
 */
export function* pauseAll(): Program<void> {
  yield query(`UPDATE job SET state = ${paused} WHERE state = ${queued}`);
  yield query(`UPDATE job SET state = ${pausing} WHERE state IN (${running}, ${cancelling})`);
  const isAccepted = 'id IN (SELECT id FROM job_group WHERE accepted_ms IS NOT NULL AND active = 0)';
  yield query(`UPDATE job SET state = ${paused},
      window_id = (SELECT window_id FROM job_group WHERE job_group.id = job.group_id),
      person_window_id = (SELECT person_window_id FROM job_group WHERE job_group.id = job.group_id)
    WHERE state = ${staged} AND group_${isAccepted}`);
  yield query(`UPDATE job_group SET active = 1 WHERE ${isAccepted}`);
}

export function* resumePaused(nowMs: number, limit: number): Program<number> {
  const rows = yield* rowsOf(
    `UPDATE job SET state = ${queued}, due_ms = CASE WHEN not_before_ms > ? THEN not_before_ms ELSE ? END
     WHERE state = ${paused} AND id IN (SELECT id FROM job WHERE state = ${paused} ORDER BY id LIMIT ?) RETURNING id`,
    nowMs,
    nowMs,
    limit,
  );
  return rows.length;
}
