import { jsonReply, type Refusal, RefusedRequest, type Reply, type SimHost } from '../../reply.ts';

/** The vendor's 400. It names the field in the message, because it has no member for it. */
export function reject(message: string): never {
  throw new RefusedRequest({ status: 400, message, type: 'invalid_request_error', code: null, param: null });
}

const TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

const MESSAGES: Record<string, string> = {
  invalid_request_error: 'Simulated: the request was invalid.',
  authentication_error: 'invalid x-api-key',
  billing_error: 'Simulated: your credit balance is too low.',
  permission_error: 'Simulated: your key may not use this resource.',
  not_found_error: 'model: simulated',
  conflict_error: 'Simulated: the resource was changed by another request.',
  request_too_large: 'Request exceeds the maximum size',
  rate_limit_error: 'Simulated: this request would exceed the rate limit of your organization.',
  api_error: 'Internal server error',
  timeout_error: 'Simulated: the request took too long.',
  overloaded_error: 'Overloaded',
};

function typeOf(status: number): string {
  return TYPES[status] ?? (status < 500 ? TYPES[400]! : TYPES[500]!);
}

export function usualError(status: number): Refusal {
  const type = typeOf(status);
  return { status, message: MESSAGES[type]!, type, code: null, param: null };
}

export function refuseMessages({ status, message }: Refusal, host: SimHost): Reply {
  const requestId = host.mintId('req_');
  const headers = { 'request-id': requestId, ...(status === 429 && { 'retry-after': '1' }) };
  return jsonReply(status, errorJson(status, message, `,"request_id":"${requestId}"`), headers);
}

/** `more` follows the error: the request id in a body, or usage in a stream if the script asks for it. */
export function errorJson(status: number, message: string, more: string): string {
  const error = JSON.stringify({ type: typeOf(status), message });
  return `{"type":"error","error":${error}${more}}`;
}
