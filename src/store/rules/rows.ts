import type { Receipt } from '../../canonical/receipt.ts';
import type { IdempotencyRow } from '../idempotency.ts';
import type { Membership } from '../people.ts';
import type { Account, CapWindow, CreditOperation, KeyRow } from '../store.ts';
import { windowSpan } from '../windows.ts';

export type Mutable<T> = { -readonly [K in keyof T]: T[K] };
export type Spend = { spentNanousd: bigint; heldNanousd: bigint };
export type Call = { receipt: Mutable<Receipt>; windowName: string | null; personWindowName: string | null };

/** A limit of spending; null limits nothing, but the spending is counted. */
export type Cap = Pick<Membership, 'capNanousd' | 'capWindow'>;

/** What the rules read of a call; they write all of it. */
type HeldReceipt = Pick<Receipt, 'id' | 'accountId' | 'state' | 'heldNanousd' | 'costNanousd' | 'idempotencyKey'>;

/** The rows that the rules work on, wherever they were read from. */
export interface LedgerRows {
  /** Instances that may take holds. */
  readonly epochs: ReadonlySet<bigint>;
  readonly accounts: ReadonlyMap<
    bigint,
    Mutable<
      Pick<
        Account,
        'id' | 'kind' | 'balanceNanousd' | 'heldNanousd' | 'spentNanousd' | 'lossHour' | 'lostNanousd' | 'status'
      >
    >
  >;
  readonly keys: ReadonlyMap<
    bigint,
    Pick<KeyRow, 'id' | 'accountId' | 'personId' | 'expiresMs' | 'revokedMs' | 'disabledMs' | 'personDisabledMs'> & Cap
  >;
  /** The roles of people in accounts, by `memberName`. */
  readonly members: ReadonlyMap<string, Cap>;
  /** Of keys, by `windowNameOf`. */
  readonly windows: Map<string, Spend>;
  /** Of people in accounts, by `personWindowNameOf`. */
  readonly personWindows: Map<string, Spend>;
  readonly calls: Map<
    bigint,
    {
      readonly receipt: Mutable<HeldReceipt & Partial<Receipt>>;
      readonly windowName: string | null;
      readonly personWindowName: string | null;
    }
  >;
  readonly credits: Map<bigint, Pick<CreditOperation, 'accountId' | 'amountNanousd' | 'reference' | 'callId'>>;
  /** What was refunded, by call. */
  readonly refunds: Map<bigint, bigint>;
  /** By number, from zero: the price list with the id 1 is the first. */
  readonly prices: readonly ({ readonly version: string } | undefined)[];
  /** By `idempotencyName`. */
  readonly idempotencyKeys: Map<string, IdempotencyRow>;
  readonly closedUpTo: bigint;
  /** The latest day on which any batch was applied: windows never move back. */
  readonly todayMs: number;
}

export function windowNameOf(keyId: bigint, window: CapWindow, ms: number): string {
  return `${keyId} ${window} ${windowSpan(window, ms).startMs}`;
}

export function memberName(accountId: bigint, personId: bigint): string {
  return `${accountId}/${personId}`;
}

export function personWindowNameOf(accountId: bigint, personId: bigint, window: CapWindow, ms: number): string {
  return `${memberName(accountId, personId)} ${window} ${windowSpan(window, ms).startMs}`;
}

export function idempotencyName(accountId: bigint, key: string): string {
  return `${accountId} ${key}`;
}
