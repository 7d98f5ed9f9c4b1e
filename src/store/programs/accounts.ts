import type { ClosingOutcome, Payout } from '../account-rows.ts';
import { ACCOUNT_STATUS, CALL_STATE } from '../codes.ts';
import type { AuditRow } from '../people.ts';
import { stateOf } from './account-state.ts';
import { writeAudit } from './audit.ts';
import { insert, type Program, query, rowOf, rowsOf } from './program.ts';
import { removeWebhooksOf } from './webhooks.ts';

/** With a null version, the account is changed whatever its version is. */
export function* renameAccount(
  id: bigint,
  name: string,
  expectedVersion: bigint | null,
  audit: AuditRow,
): Program<'renamed' | 'not_found' | 'name_taken' | 'version_conflict'> {
  yield { lock: 'names' };
  yield { lock: 'account', id };
  const before = yield* stateOf(id);
  if (before === null) return 'not_found';
  if (expectedVersion !== null && before.version !== expectedVersion) return 'version_conflict';
  const other = yield* rowOf<{ id: bigint }>('SELECT id FROM account WHERE name = ?', name);
  if (other !== null && other.id !== id) return 'name_taken';
  yield query('UPDATE account SET name = ?, version = version + 1 WHERE id = ?', name, id);
  yield* writeAudit(audit);
  return 'renamed';
}

/** Under the account's lock: every hold is decided either before the change or after it. */
export function* setAccountStatus(
  id: bigint,
  to: 'active' | 'suspended',
  audit: AuditRow,
): Program<'changed' | 'unchanged' | 'not_found' | 'closed'> {
  yield { lock: 'account', id };
  const before = yield* stateOf(id);
  if (before === null) return 'not_found';
  if (before.status === ACCOUNT_STATUS.of.closed) return 'closed';
  if (before.status === ACCOUNT_STATUS.of[to]) return 'unchanged';
  yield* writeStatus(id, ACCOUNT_STATUS.of[to]);
  yield* writeAudit(audit);
  return 'changed';
}

function* writeStatus(id: bigint, status: bigint): Program<void> {
  yield query('UPDATE balance SET status = ? WHERE account_id = ?', status, id);
  yield query('UPDATE account SET version = version + 1 WHERE id = ?', id);
}

/**
 * Pays the balance out with an entry of its own, deletes the stored provider keys and the webhooks, and closes the account
 * for good, in one commit. It refuses while a call is open: its end would change the balance again.
 */
export function* closeAccount(id: bigint, payout: Payout, audit: AuditRow): Program<ClosingOutcome> {
  yield { lock: 'account', id };
  const before = yield* stateOf(id);
  if (before === null) return { kind: 'not_found' };
  if (before.status === ACCOUNT_STATUS.of.closed) return { kind: 'already_closed' };
  if (before.status !== ACCOUNT_STATUS.of.suspended) return { kind: 'not_suspended' };
  const open = yield* openCalls(id);
  if (open.calls > 0) return open;
  const jobs = yield* rowOf('SELECT 1 AS waiting FROM job_account WHERE account_id = ? AND waiting > 0', id);
  if (jobs !== null) return { kind: 'jobs_waiting' };
  const amount = -before.balance;
  if (amount !== 0n) {
    const { id: creditId, reference, note, createdMs } = payout;
    yield insert('credit', { id: creditId, account_id: id, reference, amount, note, created_ms: createdMs });
    yield query('UPDATE balance SET balance = 0 WHERE account_id = ?', id);
  }
  yield* writeStatus(id, ACCOUNT_STATUS.of.closed);
  const deleted = yield* rowsOf('DELETE FROM provider_key WHERE account_id = ? RETURNING id', id);
  yield* removeWebhooksOf(id);
  const after = `{"status":"closed","paid_out_nanousd":${before.balance},"provider_keys_deleted":${deleted.length}}`;
  yield* writeAudit({ ...audit, after });
  return { kind: 'closed', paidOutNanousd: before.balance };
}

function* openCalls(id: bigint): Program<Extract<ClosingOutcome, { kind: 'calls_open' }>> {
  const row = yield* rowOf<{ calls: bigint; held: bigint }>(
    `SELECT count(*) AS calls, CAST(coalesce(sum(held), 0) AS bigint) AS held FROM call
     WHERE state = ${CALL_STATE.of.open} AND account_id = ?`,
    id,
  );
  return { kind: 'calls_open', calls: Number(row!.calls), heldNanousd: row!.held };
}
