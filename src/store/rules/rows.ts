import type { Receipt } from '../../canonical/receipt.ts';
import { LIMITS } from '../../limits.ts';
import type { IdempotencyRow } from '../idempotency.ts';
import type { Account, CapWindow, CreditOperation, KeyRow, Page, ProviderKeyRow } from '../store.ts';
import { windowSpan } from '../windows.ts';

export type Mutable<T> = { -readonly [K in keyof T]: T[K] };
export type Spend = { spentNanousd: bigint; heldNanousd: bigint };
export type Call = { receipt: Mutable<Receipt>; windowName: string | null };

/** What the money's verbs read of a call; they write all of it. */
type HeldReceipt = Pick<Receipt, 'id' | 'accountId' | 'state' | 'heldNanousd' | 'costNanousd' | 'idempotencyKey'>;

/** The rows that the money's verbs work on, wherever they were read from. */
export interface LedgerRows {
  /** The lives whose holds are taken. */
  readonly epochs: ReadonlySet<bigint>;
  readonly accounts: ReadonlyMap<
    bigint,
    Mutable<Pick<Account, 'id' | 'kind' | 'balanceNanousd' | 'heldNanousd' | 'spentNanousd'>>
  >;
  readonly keys: ReadonlyMap<
    bigint,
    Pick<KeyRow, 'id' | 'accountId' | 'capNanousd' | 'capWindow' | 'expiresMs' | 'revokedMs'>
  >;
  readonly windows: Map<string, Spend>;
  readonly calls: Map<
    bigint,
    { readonly receipt: Mutable<HeldReceipt & Partial<Receipt>>; readonly windowName: string | null }
  >;
  readonly credits: Map<bigint, Pick<CreditOperation, 'accountId' | 'amountNanousd' | 'reference'>>;
  /** By their number less one. */
  readonly prices: readonly ({ readonly version: string } | undefined)[];
  /** By `idempotencyName`. */
  readonly idempotencyKeys: Map<string, IdempotencyRow>;
  readonly closedUpTo: bigint;
  /** Windows never move back: the latest day any batch was applied on. */
  readonly todayMs: number;
}

/** Everything the store in memory remembers. */
export class MemoryRows implements LedgerRows {
  readonly accounts = new Map<bigint, Mutable<Account>>();
  readonly keys = new Map<bigint, KeyRow>();
  readonly windows = new Map<string, Spend>();
  readonly calls = new Map<bigint, Call>();
  readonly forgotten: Receipt[] = [];
  readonly credits = new Map<bigint, CreditOperation>();
  readonly prices: { version: string; pricesJson: string }[] = [];
  readonly providerKeys = new Map<bigint, ProviderKeyRow>();
  readonly idempotencyKeys = new Map<string, IdempotencyRow>();
  readonly epochs = new Set<bigint>();
  epoch = 0n;
  keyVersion = 0n;
  closedUpTo = 0n;
  todayMs = 0;

  receipts(): Receipt[] {
    return [...this.calls.values()].map((call) => call.receipt).sort(byId);
  }
}

export function windowNameOf(keyId: bigint, window: CapWindow, ms: number): string {
  return `${keyId} ${window} ${windowSpan(window, ms).startMs}`;
}

export function idempotencyName(accountId: bigint, key: string): string {
  return `${accountId} ${key}`;
}

export function byId(a: { readonly id: bigint }, b: { readonly id: bigint }): number {
  return a.id < b.id ? -1 : 1;
}

export function pageOf<Row extends { readonly id: bigint }>(rows: readonly Row[], page: Page): Row[] {
  const rest = page.after === null ? rows : rows.filter((row) => row.id > page.after!);
  return rest.slice(0, Math.min(page.limit, LIMITS.storePageRowsMax));
}
