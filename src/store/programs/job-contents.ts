import { LIMITS } from '../../limits.ts';
import { JOB_STATE } from '../codes.ts';
import { FINAL_JOB_STATES, type JobChunk, type JobChunkName } from '../jobs.ts';
import { chunkCells, dropForgotten } from './jobs.ts';
import { insertRows, type Program, query, rowOf, rowsOf } from './program.ts';

const FINAL = FINAL_JOB_STATES.map((state) => JOB_STATE.of[state]);

/**
 * Answers of earlier attempts, which no settlement named, are deleted. A process that others declared dead may come with
 * an answer after the content of its job was deleted: nobody would delete that one.
 */
export function* putChunks(chunks: readonly JobChunk[]): Program<void> {
  const [first] = chunks;
  if (first === undefined) return;
  const job = yield* rowOf('SELECT id FROM job WHERE id = ? AND content_gone_ms IS NULL', first.jobId);
  if (job === null) return;
  yield query('DELETE FROM job_chunk WHERE job_id = ? AND attempt > 0 AND attempt < ?', first.jobId, first.attempt);
  yield insertRows(
    'job_chunk',
    chunks.map(chunkCells),
    'ON CONFLICT (job_id, attempt, digest, part) DO UPDATE SET sealed = excluded.sealed',
  );
}

const IS_NAMED = 'job_id = ? AND attempt = ? AND digest = ? AND part = ?';

export function* readChunk({ jobId, attempt, digest, part }: JobChunkName): Program<Uint8Array | null> {
  const row = yield* rowOf<{ sealed: Uint8Array }>(
    `SELECT sealed FROM job_chunk WHERE ${IS_NAMED}`,
    jobId,
    attempt,
    digest,
    part,
  );
  return row?.sealed ?? null;
}

interface ChunkColumns {
  readonly job_id: bigint;
  readonly attempt: bigint;
  readonly digest: string;
  readonly part: bigint;
  readonly sealed: Uint8Array;
}

export function* chunksAfter(after: JobChunkName | null, limit: number): Program<JobChunk[]> {
  const { jobId, attempt, digest, part } = after ?? { jobId: 0n, attempt: 0, digest: '', part: 0 };
  const rows = yield* rowsOf<ChunkColumns>(
    `SELECT * FROM job_chunk WHERE (job_id, attempt, digest, part) > (?, ?, ?, ?)
     ORDER BY job_id, attempt, digest, part LIMIT ?`,
    jobId,
    attempt,
    digest,
    part,
    limit,
  );
  return rows.map((row) => ({
    jobId: row.job_id,
    attempt: Number(row.attempt),
    digest: row.digest,
    part: Number(row.part),
    sealed: row.sealed,
  }));
}

export function* resealChunk(name: JobChunkName, before: Uint8Array, after: Uint8Array): Program<boolean> {
  const { jobId, attempt, digest, part } = name;
  const row = yield* rowOf(
    `UPDATE job_chunk SET sealed = ? WHERE ${IS_NAMED} AND sealed = ? RETURNING job_id`,
    after,
    jobId,
    attempt,
    digest,
    part,
    before,
  );
  return row !== null;
}

export function* dropContent(
  id: bigint,
  accountId: bigint | null,
  nowMs: number,
): Program<'dropped' | 'not_ended' | 'no_job'> {
  const row = yield* rowOf<{ account_id: bigint; state: bigint }>('SELECT account_id, state FROM job WHERE id = ?', id);
  if (row === null || row.state === JOB_STATE.of.staged) return 'no_job';
  if (accountId !== null && row.account_id !== accountId) return 'no_job';
  if (!FINAL.includes(row.state)) return 'not_ended';
  yield* forgetContent(id, row.account_id, nowMs);
  return 'dropped';
}

/** Under the account's lock, which protects the number of stored bytes. */
function* forgetContent(id: bigint, accountId: bigint, nowMs: number): Program<void> {
  yield { lock: 'account', id: accountId };
  const row = yield* rowOf<{ bytes: bigint }>(
    `UPDATE job SET content_gone_ms = ? WHERE id = ? AND content_gone_ms IS NULL
     RETURNING request_bytes + coalesce(result_bytes, 0) AS bytes`,
    nowMs,
    id,
  );
  if (row === null) return;
  yield query('DELETE FROM job_chunk WHERE job_id = ?', id);
  yield query('UPDATE job_account SET bytes = bytes - ? WHERE account_id = ?', row.bytes, accountId);
}

export function* sweep(nowMs: number): Program<number> {
  const expired = yield* rowsOf<{ id: bigint; account_id: bigint }>(
    `SELECT id, account_id FROM job WHERE result_expires_ms IS NOT NULL AND content_gone_ms IS NULL
       AND result_expires_ms <= ? ORDER BY result_expires_ms LIMIT ?`,
    nowMs,
    LIMITS.jobSweepRows,
  );
  const inLockOrder = expired.toSorted((one, other) => Number(one.account_id - other.account_id));
  for (const { id, account_id: accountId } of inLockOrder) yield* forgetContent(id, accountId, nowMs);
  const forgotten = yield* dropForgotten(nowMs - LIMITS.jobStagedMs);
  return expired.length + forgotten + (yield* dropEmptied(nowMs - LIMITS.jobRowsKeptMs));
}

/** Rows of jobs whose content is gone since that time; a group goes with its last job. */
function* dropEmptied(beforeMs: number): Program<number> {
  const jobs = yield* rowsOf(
    `DELETE FROM job WHERE id IN (
       SELECT id FROM job WHERE content_gone_ms IS NOT NULL AND content_gone_ms < ? LIMIT ?) RETURNING id`,
    beforeMs,
    LIMITS.storeWriteSliceRows,
  );
  const groups = yield* rowsOf(
    `DELETE FROM job_group WHERE id IN (
       SELECT id FROM job_group WHERE finished_ms IS NOT NULL AND finished_ms < ?
         AND NOT EXISTS (SELECT 1 FROM job WHERE job.group_id = job_group.id) LIMIT ?) RETURNING id`,
    beforeMs,
    LIMITS.storeWriteSliceRows,
  );
  return jobs.length + groups.length;
}
