import type { Caller } from '../accounts/authenticate.ts';
import type { Ended, HostTry, UsageSource } from '../canonical/receipt.ts';
import type { Usage } from '../canonical/usage.ts';
import type { Call } from './call.ts';

/** All that is told about one call when it is over: the log line, the metrics and the trace read this and nothing else. */
export interface ExchangeRecord {
  readonly requestId: string;
  readonly route: string;
  readonly caller: Caller;
  readonly startedMs: number;
  requestedModel: string | null;
  effectiveModel: string | null;
  /** The provider whose deployment was called, with the caller's own key; its name is the caller's text. */
  deploymentOf: string | null;
  stream: boolean;
  host: string | null;
  attempts: number;
  /** Each attempt, where there was more than one. */
  tries: readonly HostTry[] | null;
  status: number;
  /** `replayed`: answered again under its idempotency key, and not charged again. */
  ended: Ended | 'refused' | 'replayed';
  errorCode: string | null;
  /** What went wrong at the host or in here, for the operator; never a host's own words. */
  fault: string | null;
  usageSource: UsageSource;
  usage: Usage | null;
  costNanousd: bigint;
  heldNanousd: bigint;
  lossNanousd: bigint;
  lossReason: string | null;
  /** Milliseconds, each from the start of the call. */
  heldAfterMs: number | null;
  answeredAfterMs: number | null;
  settledAfterMs: number | null;
  totalMs: number;
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
    fault: null,
    usageSource: 'none',
    usage: null,
    costNanousd: 0n,
    heldNanousd: 0n,
    lossNanousd: 0n,
    lossReason: null,
    heldAfterMs: null,
    answeredAfterMs: null,
    settledAfterMs: null,
    totalMs: 0,
  };
}
