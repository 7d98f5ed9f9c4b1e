import type { PathStep } from '../kit/hash-path.ts';
import type { HashText } from '../kit/hash-tree.ts';
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

/** A closed month: its last receipt so far. */
export interface SignedMonth {
  readonly monthMs: number;
  readonly upTo: bigint;
}

/** An account's closed receipts of a month. */
export interface AccountMonth {
  readonly accountId: bigint;
  readonly receipts: number;
  readonly spentNanousd: bigint;
  /** The root of their hash tree. */
  readonly root: Uint8Array;
}

/** A signed root over all accounts of a month. Numbers begin with 1. */
export interface MonthRoot {
  readonly number: number;
  readonly generation: bigint;
  readonly monthMs: number;
  /** Whether the month has ended, so that no more receipts are added to it. */
  readonly isFinal: boolean;
  readonly root: Uint8Array;
  /** The signed document, as JSON. */
  readonly statement: string;
  readonly createdMs: number;
}

/** How a closed receipt is found in the hash tree of its account and month. */
export interface LeafProof {
  /**
   * `changed`: it, or one beside it, is not what it was when it was closed. `gone`: the ledger no longer has it. `too_many`: an
   * earlier version closed so many receipts that checking one would take too long.
   */
  readonly state: 'proved' | 'changed' | 'gone' | 'too_many';
  readonly monthMs: number;
  /** The hash of the receipt as it is now. */
  readonly leaf: HashText;
  readonly path: readonly PathStep[];
  /** How many receipts the account has in the month, what they cost, and the root they were closed with. */
  readonly receipts: number;
  readonly spentNanousd: bigint;
  readonly root: HashText;
}

export interface ReceiptProofs {
  /** Null if the receipt is not closed yet. */
  prove(id: bigint, accountId: bigint): Promise<LeafProof | null>;
}

/** What receipts are signed with, and what is signed with them. */
export interface SigningRows {
  booksMark(): Promise<BooksMark>;
  /** By number. */
  receiptKeys(): Promise<ReceiptKey[]>;
  /** False, without a change, if another process has already taken the number. There is no audit of the first key. */
  addReceiptKey(key: ReceiptKey, audit: AuditRow | null): Promise<boolean>;
  /** Ordered by id: for re-encrypting every row. */
  receiptKeysAfter(id: bigint | null, limit: number): Promise<ReceiptKey[]>;
  /** False, without a change, if the row was encrypted again meanwhile. */
  resealReceiptKey(id: bigint, before: Uint8Array, after: Uint8Array): Promise<boolean>;
  /** The text of a price list; null if there is none of that version. */
  pricesOf(version: string): Promise<string | null>;
  /** The refunds of a call after that one, the oldest first; at most `LIMITS.storePageRowsMax`. */
  listRefunds(callId: bigint, after: bigint | null): Promise<Credit[]>;
  /** By month. */
  closedMonths(): Promise<SignedMonth[]>;
  monthAccounts(monthMs: number): Promise<AccountMonth[]>;
  /** The salt of the month's accounts: the given one, unless there is one already. */
  monthSalt(monthMs: number, fresh: Uint8Array): Promise<Uint8Array>;
  /** The last root of a month, or of all with null. */
  lastMonthRoot(monthMs: number | null): Promise<MonthRoot | null>;
  /** False, without a change, if another process has already taken the number. */
  addMonthRoot(root: MonthRoot): Promise<boolean>;
}
