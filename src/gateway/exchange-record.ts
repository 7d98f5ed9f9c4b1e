import type { Caller } from '../accounts/authenticate.ts';
import type { CapOwner } from '../canonical/errors.ts';
import type { Ended, HostTry, UsageSource } from '../canonical/receipt.ts';
import type { Usage } from '../canonical/usage.ts';
import type { Call } from './call.ts';
import type { CallTrace } from './call-trace.ts';

/** Everything that is reported about a finished call. The log line, the metrics and the trace read only this. */
export interface ExchangeRecord {
  readonly requestId: string;
  readonly route: string;
  readonly caller: Caller;
  readonly startedMs: number;
  requestedModel: string | null;
  effectiveModel: string | null;
  /**
   * The provider, if the caller's own deployment was called. The deployment's name is the caller's text and is not
   * recorded.
   */
  deploymentOf: string | null;
  stream: boolean;
  host: string | null;
  attempts: number;
  /** Every attempt, if there was more than one. */
  tries: readonly HostTry[] | null;
  status: number;
  /** `replayed`: the stored response was sent again under its idempotency key, without a second charge. */
  ended: Ended | 'refused' | 'replayed';
  /** A code of our own table, never one that a host sent. */
  errorCode: string | null;
  /** Whose spend cap the call was refused for; null for every other call. */
  refusedCap: CapOwner | null;
  /** What went wrong at the host or in the gateway, for the operator. It never quotes the host. */
  fault: string | null;
  usageSource: UsageSource;
  usage: Usage | null;
  costNanousd: bigint;
  heldNanousd: bigint;
  /** Wall time of the last attempt to hold, where the duration on the receipt begins; null before one. */
  heldSinceMs: number | null;
  lossNanousd: bigint;
  lossReason: string | null;
  /** In milliseconds from the start of the call. */
  heldAfterMs: number | null;
  answeredAfterMs: number | null;
  settledAfterMs: number | null;
  totalMs: number;
  readonly trace: CallTrace | null;
}

export function openRecord(call: Call): ExchangeRecord {
  return {
    requestId: call.requestId,
    route: call.route,
    caller: call.caller,
    startedMs: call.startedMs,
    requestedModel: null,
    effectiveModel: null,
    deploymentOf: null,
    stream: false,
    host: null,
    attempts: 0,
    tries: null,
    status: 0,
    ended: 'refused',
    errorCode: null,
    refusedCap: null,
    fault: null,
    usageSource: 'none',
    usage: null,
    costNanousd: 0n,
    heldNanousd: 0n,
    heldSinceMs: null,
    lossNanousd: 0n,
    lossReason: null,
    heldAfterMs: null,
    answeredAfterMs: null,
    settledAfterMs: null,
    totalMs: 0,
    trace: call.trace ?? null,
  };
}
