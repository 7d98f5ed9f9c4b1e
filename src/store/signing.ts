import type { Credit } from './entries.ts';
import type { AuditRow } from './people.ts';

/** Which ledger it is. The generation is raised when it was put back to an older state, so that receipts may be missing. */
export interface BooksMark {
  readonly booksId: bigint;
  readonly generation: bigint;
}

/** A key that signs receipts from a time on, until the next one does. Numbers begin with 1. */
export interface ReceiptKey {
  readonly number: number;
  readonly id: bigint;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** The private key, encrypted. */
  readonly sealed: Uint8Array;
  readonly createdMs: number;
  readonly fromMs: number;
}

/** What receipts are signed with, and what is signed with them. */
export interface SigningRows {
  booksMark(): Promise<BooksMark>;
  /** By number. */
  receiptKeys(): Promise<ReceiptKey[]>;
  /** False, without a change, if another process was faster: the number is taken. There is no audit of the first key. */
  addReceiptKey(key: ReceiptKey, audit: AuditRow | null): Promise<boolean>;
  /** Ordered by id: for re-encrypting every row. */
  receiptKeysAfter(id: bigint | null, limit: number): Promise<ReceiptKey[]>;
  /** False, without a change, if the row was encrypted again meanwhile. */
  resealReceiptKey(id: bigint, before: Uint8Array, after: Uint8Array): Promise<boolean>;
  /** The text of a price list; null if there is none of that version. */
  pricesOf(version: string): Promise<string | null>;
  /** The refunds of a call, the oldest first. */
  listRefunds(callId: bigint): Promise<Credit[]>;
}
