import type { Caller } from '../accounts/authenticate.ts';
import { ACCOUNT_PREFIX, KEY_PREFIX } from '../canonical/id-prefixes.ts';
import type { ExchangeRecord } from '../gateway/exchange-record.ts';
import { formatId } from '../kit/ids.ts';
import { type Log, quoted, WrittenFields } from '../kit/log.ts';
import { inOnePiece } from '../kit/one-piece.ts';

/** Writes one line per call: who, what, how it ended and what it cost. Never prompt text, response text or a secret. */
export function logCall(log: Log, record: ExchangeRecord): void {
  const fields = new WrittenFields(membersOf(record));
  if (record.status >= 500 || record.lossReason !== null) log.warn(fields, 'call');
  else log.info(fields, 'call');
  if (record.fault !== null || record.tries !== null || record.lossReason !== null) raiseAlarm(log, record);
}

/** Built by hand, because JSON.stringify takes longer and every call pays for it. */
function membersOf(record: ExchangeRecord): string {
  const { usage, tries, fault, lossReason } = record;
  const mishaps =
    (tries === null ? '' : `,"tries":${JSON.stringify(tries)}`) +
    (fault === null ? '' : `,"fault":${quoted(fault)}`) +
    (lossReason === null ? '' : `,"loss_nanousd":${Number(record.lossNanousd)},"loss_reason":${quoted(lossReason)}`);
  const tokens =
    usage === null
      ? ''
      : `,"fresh_tokens":${usage.freshTokens},"cache_read_tokens":${usage.cacheReadTokens}` +
        `,"cache_write_tokens":${usage.cacheWriteTokens + usage.cacheWrite1hTokens},"output_tokens":${usage.outputTokens}`;
  return (
    `"request_id":"${record.requestId}",${payerOf(record.caller)},${shared.textOf(record)}${mishaps}${tokens}` +
    `,"cost_nanousd":${Number(record.costNanousd)},"held_nanousd":${Number(record.heldNanousd)}` +
    `,"held_after_ms":${msText(record.heldAfterMs)},"answered_after_ms":${msText(record.answeredAfterMs)}` +
    `,"settled_after_ms":${msText(record.settledAfterMs)},"total_ms":${msText(record.totalMs)}`
  );
}

/** Most calls share these fields with the previous call, so its text is kept. */
class SharedText {
  #last: ExchangeRecord | null = null;
  #text = '';

  textOf(record: ExchangeRecord): string {
    if (this.#last === null || !areAlike(this.#last, record)) this.#text = inOnePiece(whatHappened(record));
    this.#last = record;
    return this.#text;
  }
}

const shared = new SharedText();

function areAlike(one: ExchangeRecord, other: ExchangeRecord): boolean {
  return (
    one.route === other.route &&
    one.requestedModel === other.requestedModel &&
    one.effectiveModel === other.effectiveModel &&
    one.host === other.host &&
    one.attempts === other.attempts &&
    one.stream === other.stream &&
    one.status === other.status &&
    one.ended === other.ended &&
    one.errorCode === other.errorCode &&
    one.usageSource === other.usageSource
  );
}

function whatHappened(record: ExchangeRecord): string {
  return (
    `"route":${quoted(record.route)}` +
    `,"requested_model":${quoted(record.requestedModel)},"model":${quoted(record.effectiveModel)}` +
    `,"host":${quoted(record.host)},"attempts":${record.attempts},"stream":${record.stream}` +
    `,"status":${record.status},"ended":"${record.ended}","error":${quoted(record.errorCode)}` +
    `,"usage_source":"${record.usageSource}"`
  );
}

/** The account and key of a call as log text, by the key's row, which stays the same object while it is in memory. */
const PAYERS = new WeakMap<NonNullable<Caller['key']>, string>();

function payerOf(caller: Caller): string {
  if (caller.key === null) return payerText(caller);
  let text = PAYERS.get(caller.key);
  if (text === undefined) {
    text = inOnePiece(payerText(caller));
    PAYERS.set(caller.key, text);
  }
  return text;
}

function payerText({ accountId, keyId }: Caller): string {
  const key = keyId === null ? 'null' : `"${formatId(KEY_PREFIX, keyId)}"`;
  return `"account":"${formatId(ACCOUNT_PREFIX, accountId)}","key":${key}`;
}

/** At most two decimals. Formatting a whole number is faster than formatting a fraction. */
function msText(ms: number | null): string {
  if (ms === null) return 'null';
  const hundredths = Math.round(ms * 100);
  const whole = Math.floor(hundredths / 100);
  return whole + FRACTIONS[hundredths - whole * 100]!;
}

const FRACTIONS = Array.from({ length: 100 }, (_, hundredths) => String(hundredths / 100).slice(1));

/** Logs an error for faults that need the operator: a 400 that is about our account, token counts that cannot be billed. */
function raiseAlarm(log: Log, { requestId, host, fault, tries, lossReason }: ExchangeRecord): void {
  const fields = { request_id: requestId, host, fault: fault ?? undefined };
  for (const attempt of tries ?? [{ host, outcome: fault }]) {
    // A model that the host does not know has a line of its own, once, in `src/main/host-events.ts`.
    if (!attempt.outcome?.startsWith('credentials 400') || attempt.outcome.endsWith(' model_not_found')) continue;
    log.error(
      { ...fields, host: attempt.host },
      'A host rejected our account in a 400 response. Check its key and credit.',
    );
  }
  if (lossReason === 'host_usage_unusable') log.error(fields, 'A host sent token counts that cannot be billed.');
}

/** A request that did not become a call. */
interface RequestRecord {
  readonly requestId: string;
  /** Null if it could not be read. */
  readonly method: string | null;
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
    key: record.keyId === null ? null : formatId(KEY_PREFIX, record.keyId),
    status: record.status,
    error: record.errorCode,
    total_ms: rounded(record.totalMs),
  };
  if (record.status >= 500) log.warn(fields, 'request');
  else log.info(fields, 'request');
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
