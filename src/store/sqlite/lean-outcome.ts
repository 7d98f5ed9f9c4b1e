import type { LedgerOutcome } from '../store.ts';

/** Common outcomes are passed as small numbers. */
export type LeanOutcome = number | LedgerOutcome;
const USUAL: readonly LedgerOutcome[] = [{ kind: 'held' }, { kind: 'settled' }, { kind: 'voided' }];

export function leanOutcome(outcome: LedgerOutcome): LeanOutcome {
  if (outcome.kind === 'held' && outcome.lostNanousd === undefined) return 0;
  if (outcome.kind === 'settled') return 1;
  return outcome.kind === 'voided' ? 2 : outcome;
}

export function fullOutcome(lean: LeanOutcome): LedgerOutcome {
  return typeof lean === 'number' ? USUAL[lean]! : lean;
}
