import type { CopyReport } from '../store/copy.ts';

export type { CopyProgress } from '../store/copy.ts';

/** What came of copying the books to another engine. */
export interface CopyView {
  readonly object: 'store_copy';
  /** Both sides verify and are the same, row by row; the copy may be used. */
  readonly ok: boolean;
  readonly start: CopyReport['start'];
  /** Rows that an earlier attempt had brought over, and those that this one brought. */
  readonly rows_found: number;
  readonly rows_copied: number;
  readonly accounts: number;
  readonly keys: number;
  readonly receipts: number;
  readonly credits: number;
  readonly balance_nanousd: bigint;
  readonly spent_nanousd: bigint;
  readonly credited_nanousd: bigint;
  /** Rows of the copy. */
  readonly tables: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

export function copyView(report: CopyReport): CopyView {
  const { target, tables, faults } = report;
  const sumOf = (table: string, column: string): bigint =>
    tables.find((tally) => tally.table === table)?.sums[column] ?? 0n;
  return {
    object: 'store_copy',
    ok: faults.length === 0,
    start: report.start,
    rows_found: report.rowsFound,
    rows_copied: report.rowsCopied,
    accounts: target.accounts,
    keys: target.keys,
    receipts: target.receipts,
    credits: target.credits,
    balance_nanousd: sumOf('balance', 'balance'),
    spent_nanousd: sumOf('balance', 'spent'),
    credited_nanousd: sumOf('credit', 'amount'),
    tables: Object.fromEntries(tables.map(({ table, rows }) => [table, rows])),
    faults,
  };
}
