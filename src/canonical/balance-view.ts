import { formatId } from '../kit/ids.ts';
import { secondsOrNull, toSeconds } from '../kit/unix-seconds.ts';
import { KEY_PREFIX, PERSON_PREFIX } from './id-prefixes.ts';

/** The account's money and the key's spending window, as the ledger has them. */
interface BalanceFacts {
  readonly account: {
    readonly kind: 'prepaid' | 'unlimited';
    readonly balanceNanousd: bigint;
    readonly heldNanousd: bigint;
    readonly reservedNanousd: bigint;
    readonly spentNanousd: bigint;
  };
  /** The loss allowance; absent if it is not asked for, null if the account has none. */
  readonly hangups?: HangupFacts | null;
  readonly keyWindow: KeyWindowFacts | null;
  /** The cap and the spending of the key's person, or of whoever asks without a key; null if there is none. */
  readonly member: MemberFacts | null;
}

interface MemberFacts {
  readonly membership: { readonly personId: bigint; readonly capNanousd: bigint | null };
  readonly window: KeyWindowFacts;
}

interface KeyWindowFacts {
  readonly window: CapWindow;
  readonly spentNanousd: bigint;
  readonly heldNanousd: bigint;
  readonly reservedNanousd: bigint;
  readonly resetsMs: number | null;
}

export interface HangupFacts {
  readonly allowanceNanousd: bigint;
  /** How much of it was used in the current hour. */
  readonly lostNanousd: bigint;
  readonly resetsMs: number;
}

type CapWindow = 'lifetime' | 'day' | 'week' | 'month';

interface KeyFacts {
  readonly id: bigint;
  readonly capNanousd: bigint | null;
}

export interface BalanceView {
  readonly object: 'balance';
  readonly currency: 'USD';
  readonly unlimited: boolean;
  readonly balance_nanousd: bigint;
  readonly held_nanousd: bigint;
  /** For jobs that wait to run. */
  readonly reserved_nanousd: bigint;
  readonly available_nanousd: bigint;
  readonly spent_nanousd: bigint;
  /** Null for an account that may hang up as often as it likes. */
  readonly hangups?: HangupsView | null;
  /** Null if the caller has no key. */
  readonly key: SpendingView | null;
  /** What the keys of the same person spend in the account, or those of whoever asks without a key; absent if there is none. */
  readonly person?: SpendingView;
}

export interface HangupsView {
  readonly allowance_nanousd: bigint;
  readonly remaining_nanousd: bigint;
  /** Seconds since 1970. */
  readonly resets_at: number;
}

/** Spending under a cap. */
export interface SpendingView {
  readonly id: string;
  readonly spend_cap_nanousd: bigint | null;
  readonly spent_nanousd: bigint;
  readonly held_nanousd: bigint;
  readonly reserved_nanousd: bigint;
  readonly remaining_nanousd: bigint | null;
  readonly window: CapWindow;
  /** Seconds since 1970; null for a cap that never resets. */
  readonly resets_at: number | null;
}

/** The part of the balance that is neither held nor reserved, at least zero: an unlimited account may owe money, and its calls are still served. */
function available({ balanceNanousd, heldNanousd, reservedNanousd }: BalanceFacts['account']): bigint {
  const left = balanceNanousd - heldNanousd - reservedNanousd;
  return left > 0n ? left : 0n;
}

/** The balance as callers and operators read it. Amounts are bigint: write it with `stringifyJson`. */
export function balanceView({ account, keyWindow, member, hangups }: BalanceFacts, key: KeyFacts | null): BalanceView {
  return {
    object: 'balance',
    currency: 'USD',
    unlimited: account.kind === 'unlimited',
    balance_nanousd: account.balanceNanousd,
    held_nanousd: account.heldNanousd,
    reserved_nanousd: account.reservedNanousd,
    available_nanousd: available(account),
    spent_nanousd: account.spentNanousd,
    ...(hangups !== undefined && { hangups: hangups === null ? null : hangupsView(hangups) }),
    key:
      key === null || keyWindow === null ? null : spendingView(formatId(KEY_PREFIX, key.id), key.capNanousd, keyWindow),
    ...(member !== null && { person: memberSpendingView(member) }),
  };
}

function hangupsView({ allowanceNanousd, lostNanousd, resetsMs }: HangupFacts): HangupsView {
  const left = allowanceNanousd - lostNanousd;
  return {
    allowance_nanousd: allowanceNanousd,
    remaining_nanousd: left > 0n ? left : 0n,
    resets_at: toSeconds(resetsMs),
  };
}

function memberSpendingView({ membership, window }: MemberFacts): SpendingView {
  return spendingView(formatId(PERSON_PREFIX, membership.personId), membership.capNanousd, window);
}

function spendingView(id: string, capNanousd: bigint | null, window: KeyWindowFacts): SpendingView {
  return {
    id,
    spend_cap_nanousd: capNanousd,
    spent_nanousd: window.spentNanousd,
    held_nanousd: window.heldNanousd,
    reserved_nanousd: window.reservedNanousd,
    remaining_nanousd: capNanousd === null ? null : remaining(capNanousd, window),
    window: window.window,
    resets_at: secondsOrNull(window.resetsMs),
  };
}

/** At least zero: a cap may be set below what was already spent. */
function remaining(capNanousd: bigint, window: KeyWindowFacts): bigint {
  const left = capNanousd - window.spentNanousd - window.heldNanousd - window.reservedNanousd;
  return left > 0n ? left : 0n;
}
