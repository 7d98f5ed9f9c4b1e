import type { GatewayError } from '../canonical/errors.ts';
import type { Settlement } from '../canonical/receipt.ts';
import type { Ledger, SettleResult, SettleTerms } from '../ledger/ledger.ts';
import type { WholeResponse } from './client-sink.ts';

/** The part of the ledger that calls use. A deferred call has one of its own, which moves its reservation. */
export interface CallLedger extends Pick<Ledger, 'hold' | 'release' | 'findRepeat' | 'balance'> {
  settle(id: bigint, settlement: Settlement, terms: CallSettleTerms): Promise<SettleResult>;
}

export interface CallSettleTerms extends SettleTerms {
  /** Only of a deferred call. */
  readonly ending?: CallEnding;
}

/** How a deferred call ended: its response, or null if its caller cancelled it before there was one. */
export interface CallEnding {
  readonly error: GatewayError | null;
  readonly answer: WholeResponse | null;
  /** A host may have worked on the call, so making it again could run it twice. */
  readonly mayHaveRun: boolean;
  /** It failed after a host had begun to answer: the host bills that, and the next attempt may end in the same way. */
  readonly brokeOff: boolean;
}
