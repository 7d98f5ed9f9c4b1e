import { LIMITS } from '../../limits.ts';
import { digestOf, writeStart } from '../archive/archive-file.ts';
import { writeLine } from '../archive/archived-line.ts';
import { type ClosedMonth, countExpired, MONTH_PART, type MonthPart, type MonthTreeRow } from '../month-tree.ts';
import { FORM_SELECT, formRowOf } from '../receipt-form.ts';
import { FormTexts } from './form-texts.ts';
import { type Program, rowOf, rowsOf } from './program.ts';
import { usageUpTo } from './usage-sums.ts';

/** The oldest month that still has receipts. */
export interface ArchiveMonth {
  readonly monthMs: number;
  readonly upTo: bigint;
  /** The last receipt of it that was deleted, or the last of the previous month. */
  readonly after: bigint;
  /** Whether all of it is in the usage sums: receipts that an earlier version closed are added by the next closing. */
  readonly isSummed: boolean;
}

/** The next receipts for an archive file, as lines of JSON. */
export interface ArchiveSlice {
  readonly firstId: bigint;
  readonly upTo: bigint;
  readonly receipts: number;
  readonly spent: bigint;
  readonly held: bigint;
  readonly loss: bigint;
  readonly lines: Uint8Array;
}

/** Reads what goes into archive files. Closed receipts no longer change, so each step may be a short read of its own. */
export class ArchiveReader {
  readonly #texts = new FormTexts();

  *oldestMonth(): Program<ArchiveMonth | null> {
    const first = yield* rowOf<{ id: bigint }>('SELECT id FROM call ORDER BY id LIMIT 1');
    if (first === null) return null;
    const month = yield* rowOf<ClosedMonth>(
      'SELECT * FROM closed_month WHERE up_to >= ? ORDER BY up_to LIMIT 1',
      first.id,
    );
    if (month === null) return null;
    const { month_ms, up_to: upTo } = month;
    return { monthMs: Number(month_ms), upTo, after: first.id - 1n, isSummed: (yield* usageUpTo()) >= upTo };
  }

  /** How many receipts are left in months that began before that time: about as many as can be archived. */
  *countBefore(beforeMs: number): Program<number> {
    const row = yield* rowOf<{ receipts: bigint | null }>(
      `SELECT CAST(sum(CASE WHEN part = ${MONTH_PART.closed} THEN calls ELSE -calls END) AS bigint) AS receipts
       FROM month_tree WHERE month_ms < ?`,
      beforeMs,
    );
    return Number(row?.receipts ?? 0n);
  }

  /** The trees of the receipts of a month that were deleted, as lines of JSON. */
  *starts(monthMs: number): Program<string[]> {
    return (yield* trees(monthMs, MONTH_PART.deleted)).map(writeStart);
  }

  *digest(monthMs: number, part: MonthPart): Program<string> {
    return digestOf(yield* trees(monthMs, part));
  }

  /** The next receipts with `after < id <= upTo` that may be deleted by the rule of `countExpired`; null if there are none. */
  *slice(after: bigint, upTo: bigint, beforeMs: number, nowMs: number): Program<ArchiveSlice | null> {
    const found = yield* rowsOf<Record<string, unknown>>(
      `${FORM_SELECT} WHERE id > ? AND id <= ? ORDER BY id LIMIT ?`,
      after,
      upTo,
      LIMITS.archiveBlockReceipts,
    );
    const rows = found.map(formRowOf);
    const times = rows.map(([, , createdMs]) => createdMs);
    const expired = rows.slice(0, countExpired(times, beforeMs, nowMs));
    if (expired.length === 0) return null;
    yield* this.#texts.learn(expired);
    const sum = (column: 3 | 4 | 5): bigint => expired.reduce((total, row) => total + row[column], 0n);
    return {
      firstId: expired[0]![0],
      upTo: expired.at(-1)![0],
      receipts: expired.length,
      spent: sum(3),
      held: sum(4),
      loss: sum(5),
      lines: new TextEncoder().encode(expired.map((row) => `${writeLine(this.#texts.form.textOf(row))}\n`).join('')),
    };
  }
}

function* trees(monthMs: number, part: MonthPart): Program<readonly MonthTreeRow[]> {
  return yield* rowsOf<MonthTreeRow>(
    'SELECT * FROM month_tree WHERE month_ms = ? AND part = ? ORDER BY account_id',
    monthMs,
    part,
  );
}
