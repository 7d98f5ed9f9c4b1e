import type { Receipt } from '../../canonical/receipt.ts';
import { windowOfId } from '../codes.ts';
import type { IdempotencyRow } from '../idempotency.ts';
import type { JobEvent } from '../jobs.ts';
import type { Membership } from '../people.ts';
import type { Account, CapWindow, CreditOperation, KeyRow } from '../store.ts';
import { windowSpan } from '../windows.ts';
import type { GroupRow, JobRow, JobTotals } from './job-rules.ts';
import type { Mutable } from './mutable.ts';

export type { Mutable } from './mutable.ts';

export type Spend = { spentNanousd: bigint; heldNanousd: bigint; reservedNanousd: bigint };
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
        | 'id'
        | 'kind'
        | 'balanceNanousd'
        | 'heldNanousd'
        | 'reservedNanousd'
        | 'spentNanousd'
        | 'lossHour'
        | 'lostNanousd'
        | 'status'
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
  /** By the number that holds refer to them by. */
  readonly prices: ReadonlyMap<number, { readonly version: string }>;
  /** By `idempotencyName`. */
  readonly idempotencyKeys: Map<string, IdempotencyRow>;
  readonly jobs: ReadonlyMap<bigint, JobRow>;
  readonly jobGroups: ReadonlyMap<bigint, GroupRow>;
  /** By account; an account without jobs has none. */
  readonly jobTotals: Map<bigint, JobTotals>;
  /** Events of jobs that ended. */
  readonly jobEvents: JobEvent[];
  /** The job whose running attempt this call is. */
  jobOfCall(callId: bigint): JobRow | undefined;
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

export function nameOfWindow(keyId: bigint, id: bigint): string {
  const { window, startMs } = windowOfId(id);
  return windowNameOf(keyId, window, startMs);
}

export function nameOfPersonWindow(accountId: bigint, personId: bigint, id: bigint): string {
  const { window, startMs } = windowOfId(id);
  return personWindowNameOf(accountId, personId, window, startMs);
}

export function idempotencyName(accountId: bigint, key: string): string {
  return `${accountId} ${key}`;
}

type AccountRow = LedgerRows['accounts'] extends ReadonlyMap<bigint, infer Row> ? Row : never;
type KeyRule = LedgerRows['keys'] extends ReadonlyMap<bigint, infer Row> ? Row : never;

export function isActive(key: KeyRule, account: Pick<AccountRow, 'id'>, nowMs: number): boolean {
  if (key.accountId !== account.id || key.revokedMs !== null) return false;
  if (key.disabledMs !== null || key.personDisabledMs !== null) return false;
  return key.expiresMs === null || key.expiresMs > nowMs;
}

/** Where an amount counts. Throws if a row is missing, which must not show when some of them have changed already. */
export function spendsIn(
  { accounts, windows, personWindows }: Pick<LedgerRows, 'accounts' | 'windows' | 'personWindows'>,
  accountId: bigint,
  windowName: string | null,
  personWindowName: string | null,
): Spend[] {
  const spends: (Spend | undefined)[] = [accounts.get(accountId)];
  if (windowName !== null) spends.push(windows.get(windowName));
  if (personWindowName !== null) spends.push(personWindows.get(personWindowName));
  if (spends.every((spend) => spend !== undefined)) return spends;
  throw new Error(`Account ${accountId} or one of its windows has no row.`);
}
