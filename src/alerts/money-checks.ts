import { ACCOUNT_PREFIX, KEY_PREFIX, PERSON_PREFIX } from '../canonical/id-prefixes.ts';
import { formatId } from '../kit/ids.ts';
import { formatDollars } from '../money/nanousd.ts';
import type { KeySpending } from '../store/key-uses.ts';
import type { Member } from '../store/people.ts';
import type { Account, KeyRow } from '../store/store.ts';
import type { Checked, Finding } from './alerts.ts';

const NOTHING: Checked = { findings: [], cleared: [] };

/** 0 turns the alert off. An unlimited account has no balance that could run out, and a new account has no balance yet. */
export function checkBalance(account: Account, belowNanousd: bigint): Checked {
  const condition = `balance:${account.id}`;
  const hadMoney = account.balanceNanousd !== 0n || account.spentNanousd !== 0n;
  const isWatched = account.kind === 'prepaid' && account.status !== 'closed' && hadMoney;
  if (belowNanousd === 0n || !isWatched || account.balanceNanousd >= belowNanousd)
    return { findings: [], cleared: [condition] };
  const left = formatDollars(account.balanceNanousd);
  const finding: Finding = {
    condition,
    kind: 'balance',
    accountId: account.id,
    subject: formatId(ACCOUNT_PREFIX, account.id),
    message: `The account "${account.name}" has a balance of ${left}, below ${formatDollars(belowNanousd)}.`,
    figures: { balance_nanousd: account.balanceNanousd, below_nanousd: belowNanousd },
  };
  return { findings: [finding], cleared: [] };
}

/** How far a cap is used, and whether a call was refused because of it. */
interface CapUse {
  readonly kind: 'key_cap' | 'person_cap';
  readonly who: string;
  readonly subject: string;
  readonly accountId: bigint;
  readonly capNanousd: bigint | null;
  readonly spentNanousd: bigint;
  readonly resetsMs: number | null;
  readonly isRefused: boolean;
}

export function checkKeyCap(
  key: KeyRow,
  spending: KeySpending | undefined,
  percent: number,
  isRefused: boolean,
): Checked {
  const subject = formatId(KEY_PREFIX, key.id);
  return checkCap(percent, {
    kind: 'key_cap',
    who: `The key "${key.name}" (${subject})`,
    subject,
    accountId: key.accountId,
    capNanousd: key.revokedMs === null ? key.capNanousd : null,
    spentNanousd: spending?.spentNanousd ?? 0n,
    resetsMs: spending?.resetsMs ?? null,
    isRefused,
  });
}

export function checkPersonCap({ person, membership, window }: Member, percent: number, isRefused: boolean): Checked {
  return checkCap(percent, {
    kind: 'person_cap',
    who: person.email,
    subject: formatId(PERSON_PREFIX, person.id),
    accountId: membership.accountId,
    capNanousd: membership.capNanousd,
    spentNanousd: window.spentNanousd,
    resetsMs: window.resetsMs,
    isRefused,
  });
}

/**
 * At a share of the cap, and when it is used up. Spending seldom reaches a cap exactly, because the worst case of a call has
 * to fit: it counts as used up too if a call was refused after most of it was spent.
 */
function checkCap(percent: number, use: CapUse): Checked {
  const { capNanousd, spentNanousd } = use;
  if (capNanousd === null || percent === 0) return NOTHING;
  const isNear = spentNanousd * 100n >= capNanousd * BigInt(percent);
  // Without a refusal nothing is known about the second level, because an earlier refusal may still apply.
  if (!isNear) return { findings: [], cleared: [percent, 100].map((level) => capCondition(use, level)) };
  const isUsedUp = spentNanousd >= capNanousd || use.isRefused;
  const levels = isUsedUp ? [percent, 100] : [percent];
  return { findings: levels.map((level) => capFinding(use, capNanousd, level)), cleared: [] };
}

/** A new window is a new condition. */
function capCondition({ kind, accountId, subject, resetsMs }: CapUse, level: number): string {
  return `${kind}:${accountId}:${subject}:${level}:${resetsMs ?? 'lifetime'}`;
}

function capFinding(use: CapUse, capNanousd: bigint, level: number): Finding {
  const { kind, who, subject, accountId, spentNanousd } = use;
  const spent = `has spent ${formatDollars(spentNanousd)} of the cap of ${formatDollars(capNanousd)}`;
  return {
    condition: capCondition(use, level),
    kind,
    accountId,
    subject,
    message: level === 100 ? `${who} ${spent}; calls are refused.` : `${who} ${spent}, more than ${level} %.`,
    figures: { spent_nanousd: spentNanousd, cap_nanousd: capNanousd, percent: level },
  };
}
