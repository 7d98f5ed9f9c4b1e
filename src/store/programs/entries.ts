import { idFloorAt } from '../../kit/ids.ts';
import { CALL_STATE, JOB_STATE } from '../codes.ts';
import type { Credit, Entry, EntryPage } from '../entries.ts';
import { INT64_MAX } from '../int64.ts';
import { MONTH_PART } from '../month-tree.ts';
import { type Program, rowOf, rowsOf } from './program.ts';

export interface CreditColumns {
  readonly id: bigint;
  readonly account_id: bigint;
  readonly amount: bigint;
  readonly reference: string;
  readonly note: string | null;
  readonly call_id: bigint | null;
  readonly created_ms: bigint;
}

export function* refundsOf(callIds: readonly bigint[]): Program<ReadonlyMap<bigint, bigint>> {
  if (callIds.length === 0) return new Map();
  const rows = yield* rowsOf<{ call_id: bigint; refunded: bigint }>(
    `SELECT call_id, sum(amount) AS refunded FROM credit WHERE call_id IN (${callIds.map(() => '?')}) GROUP BY call_id`,
    ...callIds,
  );
  return new Map(rows.map((row) => [row.call_id, row.refunded]));
}

export function* findCredit(accountId: bigint, reference: string): Program<Credit | null> {
  const row = yield* rowOf<CreditColumns>(
    'SELECT * FROM credit WHERE account_id = ? AND reference = ?',
    accountId,
    reference,
  );
  return row === null ? null : creditOf(row);
}

export function* listEntries(accountId: bigint, { before, limit }: EntryPage): Program<Entry[]> {
  const below = before ?? INT64_MAX;
  const credits = yield* rowsOf<CreditColumns>(
    'SELECT * FROM credit WHERE account_id = ? AND id < ? ORDER BY id DESC LIMIT ?',
    accountId,
    below,
    limit,
  );
  const holds = yield* rowsOf<{ id: bigint; key_id: bigint | null; held: bigint; created_ms: bigint }>(
    `SELECT id, key_id, held, created_ms FROM call WHERE state = ${CALL_STATE.of.open} AND account_id = ? AND id < ?
     ORDER BY id DESC LIMIT ?`,
    accountId,
    below,
    limit,
  );
  const months = (yield* monthsOf(accountId)).filter(({ position }) => position < below);
  return newestFirst([
    ...months,
    ...credits.map((row) => ({ kind: 'credit', position: row.id, credit: creditOf(row) }) as const),
    ...holds.map(({ id, key_id: keyId, held: heldNanousd, created_ms }) => {
      const hold = { id, keyId, heldNanousd, createdMs: Number(created_ms) };
      return { kind: 'hold', position: id, hold } as const;
    }),
    ...(yield* reservationsOf(accountId, below, limit)),
  ]).slice(0, limit);
}

/** State by state, because the index has the jobs of one state in order. */
function* reservationsOf(accountId: bigint, below: bigint, limit: number): Program<Entry[]> {
  const entries: Entry[] = [];
  for (const state of [JOB_STATE.of.queued, JOB_STATE.of.paused]) {
    const rows = yield* rowsOf<{ id: bigint; key_id: bigint | null; reserved: bigint; created_ms: bigint }>(
      `SELECT id, key_id, reserved, created_ms FROM job WHERE account_id = ? AND state = ${state} AND id < ?
       ORDER BY id DESC LIMIT ?`,
      accountId,
      below,
      limit,
    );
    for (const { id, key_id: keyId, reserved: reservedNanousd, created_ms } of rows) {
      const reservation = { jobId: id, keyId, reservedNanousd, createdMs: Number(created_ms) };
      entries.push({ kind: 'reservation', position: id, reservation });
    }
  }
  return entries;
}

/** Few, however long the account exists. A month that an earlier version closed may be in both tables. */
function* monthsOf(accountId: bigint): Program<Entry[]> {
  const rows = yield* rowsOf<{ month_ms: bigint; calls: bigint; spent: bigint }>(
    `SELECT month_ms, sum(calls) AS calls, sum(spent) AS spent FROM (
       SELECT month_ms, calls, spent FROM closing WHERE account_id = ?
       UNION ALL
       SELECT closed_month.month_ms, calls, spent FROM closed_month
       JOIN month_tree ON month_tree.month_ms = closed_month.month_ms AND account_id = ? AND part = ${MONTH_PART.closed}
     ) AS closed GROUP BY month_ms`,
    accountId,
    accountId,
  );
  return rows.map(({ month_ms, calls, spent }) => monthEntry(Number(month_ms), Number(calls), spent));
}

export function monthEntry(monthMs: number, calls: number, spentNanousd: bigint): Entry {
  return { kind: 'month', position: idFloorAt(monthMs), month: { monthMs, calls, spentNanousd } };
}

export function newestFirst(entries: readonly Entry[]): Entry[] {
  return entries.toSorted((a, b) =>
    a.position === b.position ? order(a.kind, b.kind) : order(b.position, a.position),
  );
}

function order<Value extends bigint | string>(a: Value, b: Value): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function creditOf(row: CreditColumns): Credit {
  return {
    id: row.id,
    accountId: row.account_id,
    amountNanousd: row.amount,
    reference: row.reference,
    note: row.note,
    callId: row.call_id,
    createdMs: Number(row.created_ms),
  };
}
