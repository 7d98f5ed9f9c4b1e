import { CALL_STATE, JOB_STATE } from '../codes.ts';
import { type HoldOperation, StoreUnavailable } from '../store.ts';
import type { BatchRows } from './batch-rows.ts';
import type { BatchWrites } from './batch-writes.ts';
import type { Connections } from './connections.ts';
import { ConnectionLost, isPoison, sqlState } from './faults.ts';
import { BEGIN_BRIEF } from './locks.ts';
import type { Answer, Statement } from './pipeline.ts';
import { numbers } from './values.ts';

/**
 * Rows that only this batch can have written. Since a batch is one commit, they show whether all of it was committed.
 */
interface CommitMarker {
  readonly accountId: bigint;
  readonly statement: Statement;
}

const { settled, voided } = CALL_STATE.of;

/** Null if the batch wrote nothing that matters. */
export function commitMarkerOf(writes: BatchWrites, rows: BatchRows): CommitMarker | null {
  const { holds, settles, voids, credits } = writes;
  const credit = credits[0];
  if (credit !== undefined) {
    const statement = { text: 'SELECT 1 FROM credit WHERE id = $1', values: [credit.id] };
    return { accountId: credit.accountId, statement };
  }
  const hold = holds[0];
  if (hold !== undefined) {
    return { accountId: hold.accountId, statement: allOf(holds) };
  }
  const ended = settles[0] ?? voids[0];
  if (ended === undefined) return markerOfJobs(writes, rows);
  const state = ended.kind === 'settle' ? settled : voided;
  const statement = { text: 'SELECT 1 FROM call WHERE id = $1 AND state = $2', values: [ended.id, state] };
  return { accountId: rows.calls.get(ended.id)!.receipt.accountId, statement };
}

/** A job or group is accepted once, and released once. */
function markerOfJobs({ reserves, releases }: BatchWrites, rows: BatchRows): CommitMarker | null {
  const [accepted] = reserves;
  if (accepted !== undefined) {
    const { id, accountId, isGroup } = accepted;
    const isAccepted = isGroup
      ? 'job_group WHERE accepted_ms IS NOT NULL'
      : `job WHERE state <> ${JOB_STATE.of.staged}`;
    return { accountId, statement: { text: `SELECT 1 FROM ${isAccepted} AND id = $1`, values: [id] } };
  }
  const [released] = releases;
  if (released === undefined) return null;
  const { id, accountId } = released;
  const finishedMs = rows.jobs.get(id)!.finishedMs;
  const statement = { text: 'SELECT 1 FROM job WHERE id = $1 AND finished_ms = $2', values: [id, finishedMs] };
  return { accountId, statement };
}

/** A hold's id was not looked up before, so a call with the same id must not be mistaken for this batch's. */
function allOf(holds: BatchWrites['holds']): Statement {
  const column = (pick: (hold: HoldOperation) => bigint | number) => numbers(holds.map(pick));
  const columns = [column(({ id }) => id), column(({ epoch }) => epoch), column(({ createdMs }) => createdMs)];
  return {
    text: `SELECT 1 FROM call WHERE (id, epoch, created_ms) IN (SELECT * FROM unnest($1::int8[], $2::int8[], $3::int8[]))
      HAVING count(*) = $4`,
    values: [...columns, holds.length],
  };
}

/**
 * Waits until the database answers, then for the lock on the account, which the lost transaction held. Once we have it,
 * that transaction has ended and its rows are final. The server limits each wait for the lock, and we retry. Nothing is
 * applied again while its outcome is unknown.
 */
export async function isDurable(connections: Connections, marker: CommitMarker): Promise<boolean> {
  for (;;) {
    await connections.whenUp();
    try {
      const answers = await connections.withLine((line) =>
        line.together([
          { text: BEGIN_BRIEF },
          { text: LOCK_ACCOUNT, values: [marker.accountId] },
          marker.statement,
          { text: 'COMMIT' },
        ]),
      );
      return (answers[2] as Answer).rows.length > 0;
    } catch (error) {
      if (connections.closed) throw new StoreUnavailable('The store was closed before its last commit was confirmed.');
      if (error instanceof ConnectionLost) continue;
      // A value that no column can hold was not written.
      if (isPoison(error)) return false;
      if (sqlState(error) === null) throw error;
      await connections.pause();
    }
  }
}

const LOCK_ACCOUNT = 'SELECT 1 FROM balance WHERE account_id = $1 FOR NO KEY UPDATE';
