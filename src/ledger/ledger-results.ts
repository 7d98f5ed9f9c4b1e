import type { LedgerOutcome } from '../store/store.ts';

/** The outcomes that may answer each kind of request; any other is a defect. */
const RESULTS = {
  hold: ['held', 'hold_refused', 'idempotent'],
  start: ['held', 'start_refused'],
  reserve: ['reserved', 'reserve_refused', 'idempotent'],
  release: ['released', 'release_refused'],
  credit: ['credited', 'credit_repeated', 'credit_refused'],
} as const satisfies Readonly<Record<string, readonly LedgerOutcome['kind'][]>>;

type Asked = keyof typeof RESULTS;
export type ResultOf<Request extends Asked> = Extract<LedgerOutcome, { kind: (typeof RESULTS)[Request][number] }>;

/** A ledger rule was about to be broken; never the caller's fault. */
export class LedgerDefect extends Error {
  override readonly name = 'LedgerDefect';
}

export function resultOf<Request extends Asked>(asked: Request, id: bigint, outcome: LedgerOutcome): ResultOf<Request> {
  const allowed: readonly string[] = RESULTS[asked];
  if (!allowed.includes(outcome.kind)) throw defect(id, outcome);
  return outcome as ResultOf<Request>;
}

export function defect(id: bigint, outcome: LedgerOutcome): LedgerDefect {
  const why = 'message' in outcome ? outcome.message : 'reason' in outcome ? outcome.reason : '';
  return new LedgerDefect(`Operation ${id}: ${outcome.kind} ${why}`.trimEnd());
}
