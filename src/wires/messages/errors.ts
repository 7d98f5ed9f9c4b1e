import type { GatewayError } from '../../canonical/errors.ts';
import { readHostError, readInBandHostError } from '../errors/read-host-error.ts';
import { isObject } from '../fields/members.ts';
import type { HostError, WrittenError } from '../wire.ts';
import { frameText } from './frames.ts';

/** The vendor's error type for each status. */
const TYPE_OF_STATUS: Readonly<Record<number, string>> = {
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

const STATUS_OF_TYPE: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries(TYPE_OF_STATUS).map(([status, type]) => [type, Number(status)]),
);

/** Statuses whose errors have the same type on every wire. SDKs choose their exception by status, not by type. */
const OWN_TYPES: ReadonlySet<number> = new Set([401, 402, 404, 422, 429]);

/** Clients of this wire expect 529 for an overloaded service. */
const OVERLOADED = 529;

export function writeError(error: GatewayError, requestId: string): WrittenError {
  const status = statusOf(error);
  return { status, body: envelope(error, status, requestId) };
}

export function writeStreamError(error: GatewayError, requestId: string): string {
  return frameText('error', envelope(error, statusOf(error), requestId));
}

export function statusOf({ status }: GatewayError): number {
  return status === 503 ? OVERLOADED : status;
}

function envelope(error: GatewayError, status: number, requestId: string): string {
  const { code, param, message } = error;
  const vendors = TYPE_OF_STATUS[status] ?? TYPE_OF_STATUS[status < 500 ? 400 : 500]!;
  const type = OWN_TYPES.has(status) ? error.type : vendors;
  const details = code === 'unsupported_feature' && param === 'thread' ? { details: NO_THREADS } : {};
  return JSON.stringify({ type: 'error', error: { type, code, param, message, ...details }, request_id: requestId });
}

/** The vendor's tool runner asks for a thread by default. If it reads this, it sends the whole conversation instead. */
const NO_THREADS = { error_code: 'thread_unsupported_request' };

export function readError(status: number, body: Buffer | null): HostError {
  return readHostError(status, body);
}

/** Reads an error in a frame or a response; its type gives the status. */
export function readInBandError(error: unknown): HostError {
  const type = isObject(error) ? String(error.type) : '';
  const status = Object.hasOwn(STATUS_OF_TYPE, type) ? STATUS_OF_TYPE[type]! : 500;
  return readInBandHostError(status, error);
}
