/** Money that was added to an account or removed from it; a refund names the call that it pays back. */
export interface Credit {
  readonly id: bigint;
  readonly accountId: bigint;
  readonly amountNanousd: bigint;
  readonly reference: string;
  readonly note: string | null;
  readonly callId: bigint | null;
  readonly createdMs: number;
}

/** What an account's calls of one month cost, as far as they are closed. */
interface MonthEntry {
  readonly monthMs: number;
  readonly calls: number;
  readonly spentNanousd: bigint;
}

interface OpenHoldEntry {
  readonly id: bigint;
  readonly keyId: bigint | null;
  readonly heldNanousd: bigint;
  readonly createdMs: number;
}

/** What is reserved for a job that waits to run. */
export interface ReservationEntry {
  readonly jobId: bigint;
  readonly keyId: bigint | null;
  readonly reservedNanousd: bigint;
  readonly createdMs: number;
}

/** What moved an account's money, holds it or reserves it. The position orders entries by time. */
export type Entry = { readonly position: bigint } & (
  | { readonly kind: 'credit'; readonly credit: Credit }
  | { readonly kind: 'month'; readonly month: MonthEntry }
  | { readonly kind: 'hold'; readonly hold: OpenHoldEntry }
  | { readonly kind: 'reservation'; readonly reservation: ReservationEntry }
);

export interface EntryPage {
  readonly limit: number;
  /** Entries before this position; null begins with the newest. */
  readonly before: bigint | null;
}

export interface EntryReads {
  /** What was refunded of each of these calls; calls without a refund are left out. At most a page of ids. */
  refundsOf(callIds: readonly bigint[]): Promise<ReadonlyMap<bigint, bigint>>;
  findCredit(accountId: bigint, reference: string): Promise<Credit | null>;
  /** Credits, refunds, closed months, open holds and waiting jobs of an account, the newest first. */
  listEntries(accountId: bigint, page: EntryPage): Promise<Entry[]>;
}
