import { GatewayError } from '../canonical/errors.ts';
import { headerLine } from '../http1/headers.ts';
import { StoreUnavailable } from '../store/store.ts';
import type { WrittenError } from '../wires/wire.ts';
import type { Call } from './call.ts';
import type { ClientSink, WholeResponse } from './client-sink.ts';
import type { ExchangeRecord } from './exchange-record.ts';
import { adjustedLines, receiptLines, type SettledCost } from './receipt-headers.ts';

/** Header lines with the request id and the models, if known. Every response has them, errors too. */
export function identityLines(requestId: string, requested: string | null, effective: string | null): string {
  const ids = `x-gateway-request-id: ${requestId}\r\nrequest-id: ${requestId}\r\nx-request-id: ${requestId}\r\n`;
  return ids + modelLine('requested', requested) + modelLine('effective', effective);
}

function modelLine(which: string, model: string | null): string {
  return model !== null && isHeaderText(model) ? `x-gateway-${which}-model: ${model}\r\n` : '';
}

/** A model's name comes from JSON and may contain characters that are not allowed in a header. */
function isHeaderText(text: string): boolean {
  return /^[\x20-\x7e]+$/.test(text);
}

/** Header lines that tell a client how to handle an error. */
export function errorLines(error: GatewayError): string {
  let lines = 'content-type: application/json; charset=utf-8\r\n';
  if (error.mustNotRetry) lines += MUST_NOT_RETRY;
  if (error.retryAfterS !== null) lines += headerLine('retry-after', String(error.retryAfterS));
  if (error.status === 401) lines += 'www-authenticate: Bearer\r\n';
  return lines;
}

const MUST_NOT_RETRY = 'x-should-retry: false\r\n';

/**
 * Sends an error. By default it says that nothing was charged. If `settlement` is null, the cost is unknown, and the
 * error says nothing about it.
 */
export function refuse(
  call: Call,
  record: ExchangeRecord,
  sink: ClientSink,
  cause: unknown,
  settlement: SettledCost | null = NOTHING_CHARGED,
): void {
  const charged = settlement === null || settlement.costNanousd > 0n;
  const error = asGatewayError(cause, charged);
  record.errorCode = error.ownCode;
  record.refusedCap = error.amounts?.cap ?? null;
  record.status = sink.gone ? record.status || 499 : statusOnWire(call, error);
  if (!(cause instanceof GatewayError))
    record.fault = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
  if (sink.gone) return;
  if (sink.headSent) {
    sink.end(call.wire.client.writeStreamError(error, call.requestId));
    return;
  }
  const { status, lines, body } = refusalOf(call, record, error, settlement);
  sink.head(status, lines, body.length);
  sink.end(body);
}

/** The status with which a caller gets an error; one wire has a status of its own. */
export function statusOnWire({ wire }: Pick<Call, 'wire'>, error: GatewayError): number {
  return wire.client.statusOf?.(error) ?? error.status;
}

/** The whole response of an error. */
export function refusalOf(
  call: Pick<Call, 'wire' | 'requestId'>,
  record: Pick<ExchangeRecord, 'requestedModel' | 'effectiveModel'>,
  error: GatewayError,
  settlement: SettledCost | null = NOTHING_CHARGED,
): WholeResponse {
  const charged = settlement === null || settlement.costNanousd > 0n;
  const written: WrittenError = call.wire.client.writeError(error, call.requestId);
  const lines =
    identityLines(call.requestId, record.requestedModel, record.effectiveModel) +
    (settlement === null ? '' : receiptLines(settlement) + adjustedLines(settlement.adjusted)) +
    errorLines(error) +
    (charged && !error.mustNotRetry ? MUST_NOT_RETRY : '');
  return { status: written.status, lines, body: Buffer.from(error.body ?? written.body) };
}

const NOTHING_CHARGED: SettledCost = { costNanousd: 0n, components: null };

/** Any other error is a defect in the gateway: the caller gets a general message, and the log gets the details. */
export function asGatewayError(cause: unknown, charged = false): GatewayError {
  if (cause instanceof GatewayError) return cause;
  if (cause instanceof StoreUnavailable) {
    const message = charged
      ? 'The call has ended, but the ledger could not be written in time, so the response is withheld. The receipt will show whether anything was charged.'
      : 'The ledger cannot be written right now, so no call is admitted; nothing was charged. Try again.';
    return new GatewayError('store_unavailable', { message, retryAfterS: 1 });
  }
  const money = charged ? 'the receipt says what was charged' : 'nothing was charged';
  return new GatewayError('internal_error', {
    message: `Something went wrong in the gateway; ${money}. Quote the request id when you report it.`,
  });
}
