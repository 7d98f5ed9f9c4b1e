import type { ExchangeRecord } from '../gateway/exchange-record.ts';
import { formatId } from '../kit/ids.ts';
import type { Log } from '../kit/log.ts';

/** One line a request: who, what, how it ended and what it cost; no word of the prompt or the answer, no secret. */
export function logCall(log: Log, record: ExchangeRecord): void {
  const { usage } = record;
  const fields = {
    request_id: record.requestId,
    route: record.route,
    account: formatId('acct_', record.accountId),
    key: record.keyId === null ? null : formatId('key_', record.keyId),
    requested_model: record.requestedModel,
    model: record.effectiveModel,
    host: record.host,
    attempts: record.attempts,
    tries: record.tries ?? undefined,
    stream: record.stream,
    status: record.status,
    ended: record.ended,
    error: record.errorCode,
    fault: record.fault ?? undefined,
    usage_source: record.usageSource,
    fresh_tokens: usage?.freshTokens,
    cache_read_tokens: usage?.cacheReadTokens,
    cache_write_tokens: usage === null ? undefined : usage.cacheWriteTokens + usage.cacheWrite1hTokens,
    output_tokens: usage?.outputTokens,
    cost_nanousd: Number(record.costNanousd),
    held_nanousd: Number(record.heldNanousd),
    loss_nanousd: record.lossReason === null ? undefined : Number(record.lossNanousd),
    loss_reason: record.lossReason ?? undefined,
    held_after_ms: rounded(record.heldAfterMs),
    answered_after_ms: rounded(record.answeredAfterMs),
    settled_after_ms: rounded(record.settledAfterMs),
    total_ms: rounded(record.totalMs),
  };
  if (record.status >= 500 || record.lossReason !== null) log.warn(fields, 'call');
  else log.info(fields, 'call');
  if (record.fault !== null || record.tries !== null || record.lossReason !== null) raiseAlarm(log, record);
}

/** What somebody must mend and is told of nowhere else: hosts that speak of our account in a 400, counts that nobody can bill. */
function raiseAlarm(log: Log, { requestId, host, fault, tries, lossReason }: ExchangeRecord): void {
  const fields = { request_id: requestId, host, fault: fault ?? undefined };
  for (const attempt of tries ?? [{ host, outcome: fault }]) {
    if (!attempt.outcome?.startsWith('credentials 400')) continue;
    log.error({ ...fields, host: attempt.host }, 'A host spoke of our account with it: check key and credit.');
  }
  if (lossReason === 'host_usage_unusable') log.error(fields, 'A host sent token counts that nobody can bill.');
}

/** A request that was no call, or never became one. */
export interface RequestRecord {
  readonly requestId: string;
  readonly method: string;
  readonly route: string | null;
  readonly keyId: bigint | null;
  readonly status: number;
  readonly errorCode: string | null;
  readonly totalMs: number;
}

export function logRequest(log: Log, record: RequestRecord): void {
  const fields = {
    request_id: record.requestId,
    method: record.method,
    route: record.route,
    key: record.keyId === null ? null : formatId('key_', record.keyId),
    status: record.status,
    error: record.errorCode,
    total_ms: rounded(record.totalMs),
  };
  if (record.status >= 500) log.warn(fields, 'request');
  else log.info(fields, 'request');
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 100) / 100;
}
