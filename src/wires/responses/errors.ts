import { errorEnvelope, type GatewayError } from '../../canonical/errors.ts';
import { readHostError, readInBandHostError } from '../errors/read-host-error.ts';
import { isObject } from '../fields/members.ts';
import type { HostError } from '../wire.ts';
import { EventNumbers } from './event-numbers.ts';
import { responseId, responseObject } from './response-object.ts';

/** For a stream of which only the request id is known; an open stream writes its own failure. */
export function writeStreamError(error: GatewayError, requestId: string): string {
  return writeFailure(error, new EventNumbers(), responseObject({ id: responseId(requestId) }));
}

/** An error event, then the failed response: clients read either one. */
export function writeFailure(error: GatewayError, numbers: EventNumbers, response: Record<string, unknown>): string {
  const { message, code, param } = error;
  const failed = { ...response, status: 'failed', error: { code, message }, usage: null };
  return (
    // The published schema has these members at the top level, the vendor's service nests them; clients read either.
    numbers.write('error', { code, message, param, ...errorEnvelope(error) }) +
    numbers.write('response.failed', { response: failed })
  );
}

export const readError = readHostError;

/** Reads an error event, the error of a failed response, or any other error in a stream. */
export function readStreamError(error: unknown): HostError {
  const said = isObject(error) && isObject(error.error) ? error.error : error;
  return readInBandHostError(inBandStatus(said), said);
}

const RATE_CODE = /rate_limit|slow_down/;
/** Codes of failed responses that are about the caller's request. */
const REQUEST_CODE = /^(?:invalid_|context_length|image_|empty_image|unsupported_image|failed_to_download|.*_policy)/;
const ACCOUNT_CODE = /insufficient_quota|billing/;

function inBandStatus(error: unknown): number {
  if (!isObject(error)) return 500;
  for (const status of [error.status_code, error.status, error.code].map(Number)) {
    if (Number.isInteger(status) && status >= 400 && status <= 599) return status;
  }
  const code = String(error.code ?? '');
  if (ACCOUNT_CODE.test(code)) return 402;
  if (RATE_CODE.test(code) || error.type === 'rate_limit_error') return 429;
  return REQUEST_CODE.test(code) || error.type === 'invalid_request_error' ? 400 : 500;
}
