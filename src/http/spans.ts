import { ACCOUNT_PREFIX, KEY_PREFIX } from '../canonical/id-prefixes.ts';
import { inputTokens } from '../canonical/usage.ts';
import type { CallTrace, HostSpan } from '../gateway/call-trace.ts';
import type { ExchangeRecord } from '../gateway/exchange-record.ts';
import { formatId } from '../kit/ids.ts';

export type SpanKind = 'server' | 'client' | 'internal';
type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** One span, with times in milliseconds from the start of the call. */
export interface CallSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly spanId: string | null;
  readonly parentSpanId: string | null;
  readonly fromMs: number;
  readonly toMs: number;
  readonly attributes: SpanAttributes;
  /** What went wrong, by a word of ours; null if nothing did. */
  readonly error: string | null;
}

/**
 * The spans of a finished call: the request, its hold and settlement in the ledger, and each attempt at a host. They say
 * what the log line says and nothing that the caller or the host wrote.
 */
export function spansOf(record: ExchangeRecord, trace: CallTrace): CallSpan[] {
  return [requestSpan(record, trace), ...ledgerSpans(record, trace), ...hostSpans(record, trace)];
}

function requestSpan(record: ExchangeRecord, trace: CallTrace): CallSpan {
  const { route, status, errorCode, caller } = record;
  return {
    name: `POST ${route}`,
    kind: 'server',
    spanId: trace.spanId,
    parentSpanId: trace.parentSpanId,
    fromMs: 0,
    toMs: record.totalMs,
    attributes: {
      'http.request.method': 'POST',
      'http.route': route,
      'http.response.status_code': status,
      'tollgate.request_id': record.requestId,
      'tollgate.account': formatId(ACCOUNT_PREFIX, caller.accountId),
      ...(caller.keyId !== null && { 'tollgate.key': formatId(KEY_PREFIX, caller.keyId) }),
      ...(record.effectiveModel !== null && { 'tollgate.model': record.effectiveModel }),
      'tollgate.stream': record.stream,
      'tollgate.ended': record.ended,
      'tollgate.attempts': record.attempts,
      'tollgate.held_nanousd': Number(record.heldNanousd),
      'tollgate.cost_nanousd': Number(record.costNanousd),
      ...(errorCode !== null && { 'error.type': errorCode }),
    },
    error: status >= 500 ? (errorCode ?? String(status)) : null,
  };
}

function ledgerSpans(record: ExchangeRecord, { spanId, holdStartedMs }: CallTrace): CallSpan[] {
  const { startedMs, heldAfterMs, answeredAfterMs, settledAfterMs } = record;
  const spans: CallSpan[] = [];
  const add = (name: string, fromMs: number, toMs: number, attributes: SpanAttributes): void => {
    spans.push({ name, kind: 'internal', spanId: null, parentSpanId: spanId, fromMs, toMs, attributes, error: null });
  };
  if (holdStartedMs !== null && heldAfterMs !== null)
    add('ledger hold', holdStartedMs - startedMs, heldAfterMs, { 'tollgate.held_nanousd': Number(record.heldNanousd) });
  if (answeredAfterMs !== null && settledAfterMs !== null)
    add('ledger settle', answeredAfterMs, settledAfterMs, { 'tollgate.cost_nanousd': Number(record.costNanousd) });
  return spans;
}

function hostSpans(record: ExchangeRecord, trace: CallTrace): CallSpan[] {
  return trace.hostSpans.map((span, at) => hostSpan(record, trace, span, at === trace.hostSpans.length - 1));
}

/** What a model's operations are called in the semantic conventions for generative AI. */
const OPERATIONS: Readonly<Record<string, string>> = {
  '/v1/completions': 'text_completion',
  '/v1/embeddings': 'embeddings',
};

function hostSpan(record: ExchangeRecord, trace: CallTrace, span: HostSpan, isLast: boolean): CallSpan {
  const { effectiveModel, usage, startedMs, route, ended } = record;
  const operation = OPERATIONS[route] ?? 'chat';
  const isAnswered = isLast && (ended === 'complete' || ended === 'client_gone');
  const tokens: SpanAttributes =
    !isLast || usage === null
      ? {}
      : {
          'gen_ai.usage.input_tokens': inputTokens(usage),
          'gen_ai.usage.output_tokens': usage.outputTokens,
          'gen_ai.usage.cache_read.input_tokens': usage.cacheReadTokens,
        };
  return {
    name: effectiveModel === null ? operation : `${operation} ${effectiveModel}`,
    kind: 'client',
    spanId: span.spanId,
    parentSpanId: trace.spanId,
    fromMs: span.startedMs - startedMs,
    toMs: (span.endedMs ?? startedMs + record.totalMs) - startedMs,
    attributes: {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': span.host,
      ...(effectiveModel !== null && { 'gen_ai.request.model': effectiveModel }),
      ...tokens,
      'tollgate.outcome': span.outcome ?? 'failed',
      ...(!isAnswered && { 'error.type': span.outcome ?? 'failed' }),
    },
    error: isAnswered ? null : (span.outcome ?? 'failed'),
  };
}
