import type { HangupFacts } from '../canonical/balance-view.ts';
import type { Account } from '../ledger/ledger.ts';
import { LIMITS } from '../limits.ts';
import { lossAt } from '../store/loss-allowance.ts';
import type { Gateway } from './gateway.ts';

interface AllowanceTerms {
  readonly limits: Pick<Gateway['limits'], 'hangupAllowanceNanousd'>;
  readonly clock: Gateway['clock'];
}

/** What is left of an account's loss allowance; null for an unlimited account, or if there is no limit. */
export function hangupFacts({ limits, clock }: AllowanceTerms, account: Account): HangupFacts | null {
  const { hangupAllowanceNanousd: allowanceNanousd } = limits;
  if (allowanceNanousd === null || account.kind === 'unlimited') return null;
  const { lossHour, lostNanousd } = lossAt(account, clock.nowMs());
  return { allowanceNanousd, lostNanousd, resetsMs: (lossHour + 1) * LIMITS.lossWindowMs };
}

/** A count may fall short at the operator's expense, so an account without loss allowance goes by bytes. */
export function isUsedUp(facts: HangupFacts | null): boolean {
  return facts !== null && facts.lostNanousd >= facts.allowanceNanousd;
}
