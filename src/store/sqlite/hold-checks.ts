import type { SQLInputValue } from 'node:sqlite';
import { CALL_FIELDS } from '../../canonical/receipt.ts';
import { ACCOUNT_STATUS, CALL_STATE } from '../codes.ts';
import { INT64_MAX, INT64_MIN } from '../int64.ts';
import type { HoldRefusal, LedgerOutcome } from '../store.ts';
import type { readHold } from './batch-buffer.ts';
import type { BalanceRow, CapRule, KeyRule, Windows } from './cached-rows.ts';
import { compileCells } from './compile-fields.ts';
import type { RowCache } from './row-cache.ts';
import type { WindowRow } from './window-cache.ts';

export type StoredHold = ReturnType<typeof readHold>;
type HoldRefused = Extract<LedgerOutcome, { kind: 'hold_refused' }>;

export function holdRefused(reason: HoldRefusal, availableNanousd: bigint | null = null): HoldRefused {
  return { kind: 'hold_refused', reason, availableNanousd };
}

function stateRefusal(status: bigint): HoldRefusal {
  return status === ACCOUNT_STATUS.of.closed ? 'account_closed' : 'account_suspended';
}

export function isActive(key: KeyRule | null, accountId: bigint, nowMs: bigint): boolean {
  if (key === null || key.accountId !== accountId || key.isOff) return false;
  return key.expiresMs === null || key.expiresMs > nowMs;
}

/** Who spends: an account, and its key unless the call needs none. */
interface Owner {
  readonly balance: BalanceRow;
  readonly key: KeyRule | null;
}

type OwnerIds = Pick<StoredHold, 'accountId' | 'keyId' | 'personId'>;

/** The account and the key of a call or a job, or why they may not spend. */
export function ownerOf(cache: RowCache, { accountId, keyId, personId }: OwnerIds): Owner | HoldRefused {
  const balance = cache.balance(accountId);
  if (balance === null) return holdRefused('no_account');
  const key = keyId === null ? null : cache.key(keyId);
  if (keyId !== null && !isActive(key, accountId, cache.nowMs)) return holdRefused('key_inactive');
  const member = key === null ? null : key.member;
  if ((member === null ? null : member.personId) !== personId) return holdRefused('key_inactive');
  if (balance.status !== ACCOUNT_STATUS.of.active) return holdRefused(stateRefusal(balance.status));
  return { balance, key };
}

type Wanted = Pick<StoredHold, 'amountNanousd' | 'ceilingNanousd'>;

/** The windows in which the amount counts, or the limit that it exceeds. */
export function roomFor(
  cache: RowCache,
  { balance, key }: Owner,
  { amountNanousd: amount, ceilingNanousd: ceiling }: Wanted,
): Windows | HoldRefused {
  if (ceiling !== null && amount > ceiling) return holdRefused('cost_ceiling', ceiling);
  const window = key === null ? null : cache.currentWindow(key);
  const overKeyCap = window === null ? null : overCap('key_cap', key!, window, amount);
  if (overKeyCap !== null) return overKeyCap;
  const member = key === null ? null : key.member;
  const personWindow = member === null ? null : cache.currentPersonWindow(member);
  const overPersonCap = personWindow === null ? null : overCap('person_cap', member!, personWindow, amount);
  return overPersonCap ?? whyOverBalance(balance, amount) ?? { window, personWindow };
}

/** Null if the cap leaves room for the amount. A cap may be set below what was already spent; what costs nothing still fits. */
function overCap(
  reason: 'key_cap' | 'person_cap',
  { cap }: CapRule,
  { spent, held, reserved }: WindowRow,
  amount: bigint,
): HoldRefused | null {
  if (cap === null) return null;
  const left = cap - spent - held - reserved;
  if (amount <= left || amount === 0n) return null;
  return holdRefused(reason, left > 0n ? left : 0n);
}

/** Null if the balance leaves room for the amount. */
function whyOverBalance(balance: BalanceRow, amount: bigint): HoldRefused | null {
  const taken = balance.held + balance.reserved;
  const available = balance.balance - taken;
  if (!balance.unlimited && amount > available) return holdRefused('balance', available);
  if (balance.spent + taken + amount > INT64_MAX) return holdRefused('out_of_range');
  return available - amount < INT64_MIN ? holdRefused('out_of_range') : null;
}

const addCallCells = compileCells(CALL_FIELDS);

/** The cells of an open call, in the order in which the cache writes them. */
export function callCells(
  cache: RowCache,
  hold: StoredHold,
  window: WindowRow | null,
  personWindow: WindowRow | null,
): SQLInputValue[] {
  if (hold.id <= cache.closedUpTo) throw new Error(`The id ${hold.id} is in the closed part of the ledger.`);
  if (!cache.hasPrice(hold.priceId)) throw new Error(`There is no price list ${hold.priceId}.`);
  const windows = [window === null ? null : window.windowId, personWindow === null ? null : personWindow.windowId];
  const cells = [CALL_STATE.of.open, ...windows, hold.epoch, hold.amountNanousd, hold.priceId];
  addCallCells(cells, hold, cache);
  return cells;
}
