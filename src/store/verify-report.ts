export interface VerifyProgress {
  readonly rowsRead: number;
  readonly rowsTotal: number;
}

export interface VerifyReport {
  readonly accounts: number;
  readonly keys: number;
  readonly receipts: number;
  /** Without refunds. */
  readonly credits: number;
  readonly refunds: number;
  readonly openHolds: number;
  readonly lossNanousd: bigint;
  /** Closed months whose receipts were compared with their hash trees, and how many receipts that were. */
  readonly closedMonths: number;
  readonly closedReceipts: number;
  /** The first month that was compared, if not all were. */
  readonly sinceMonthMs: number | null;
  /** Closed receipts that were deleted because of their age: only their sums are left. */
  readonly notKept: number;
  /** Receipts that an earlier version closed, and that are in no hash tree yet. */
  readonly withoutTree: number;
  /** One sentence per violation, naming the row; empty if the ledger is consistent. */
  readonly violations: readonly string[];
}
