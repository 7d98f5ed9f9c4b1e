import { isObject, type JsonObject, textOf, tryParse } from './json.ts';
import type { Receipt } from './receipt.ts';

interface ErrorFields {
  readonly status: number | null;
  readonly type: string | null;
  readonly code: string | null;
  readonly param: string | null;
  readonly receipt: Receipt | null;
  readonly retryable: boolean;
}

/** A call that failed: refused by the gateway, failed at a host, or never answered. */
export class TollgateError extends Error implements ErrorFields {
  override readonly name = 'TollgateError';
  /** Null if no response came, or if a stream failed after it began. */
  declare readonly status: number | null;
  declare readonly type: string | null;
  /** As in the gateway's table of errors, or `connection_error`, `stream_cut` or `no_receipt`. */
  declare readonly code: string | null;
  declare readonly param: string | null;
  /** What the call cost nevertheless; null if unknown. */
  declare readonly receipt: Receipt | null;
  /** Whether the same call may succeed later, or another model's now. */
  declare readonly retryable: boolean;

  constructor(message: string, fields: ErrorFields, options?: ErrorOptions) {
    super(message, options);
    Object.assign(this, fields);
  }

  get requestId(): string | null {
    return this.receipt?.requestId ?? null;
  }
}

/** Of an error that is not the gateway's. */
const NO_FIELDS: ErrorFields = {
  status: null,
  type: null,
  code: null,
  param: null,
  receipt: null,
  retryable: false,
};

const STATUSES = [408, 409, 425, 429];

/** A retryable failure: the only kind that advances a chain. The gateway marks failures that it would refuse or charge again. */
export function isRetryable({ status, headers }: Response): boolean {
  if (headers.get('x-should-retry') === 'false') return false;
  return status >= 500 || STATUSES.includes(status);
}

/** These are not retryable as HTTP errors, so they are not retryable inside a stream either. */
const FINAL_CODES = ['host_timeout', 'context_length_exceeded'];

export function isRetryableEvent({ type, code }: JsonObject): boolean {
  return type !== 'invalid_request_error' && !FINAL_CODES.includes(String(code));
}

export async function errorFromResponse(response: Response, receipt: Receipt | null): Promise<TollgateError> {
  const { status } = response;
  const body = tryParse(await response.text().catch(() => ''));
  const error = isObject(body) && isObject(body.error) ? body.error : {};
  const fields = { ...errorFields(error), status, receipt, retryable: isRetryable(response) };
  return new TollgateError(textOf(error.message) ?? `The gateway answered with status ${status}.`, fields);
}

/** A stream that failed after it began. Its content may have been used, so it is not retryable. */
export function errorFromEvent(error: JsonObject, receipt: Receipt | null): TollgateError {
  const fields = { ...NO_FIELDS, ...errorFields(error), receipt };
  return new TollgateError(textOf(error.message) ?? 'The stream failed.', fields);
}

export function connectionError(cause: unknown, receipt: Receipt | null, retryable: boolean): TollgateError {
  const { message, code } = causeOf(cause);
  const reason = `The connection to the gateway failed: ${message || code || cause}`;
  return new TollgateError(reason, { ...NO_FIELDS, code: 'connection_error', receipt, retryable }, { cause });
}

/**
 * What made a request fail. The platform's own error says only that it failed, and has the reason as its cause; attempts at
 * several addresses have together a code, but no message.
 */
export function causeOf(error: unknown): { readonly message?: unknown; readonly code?: unknown } {
  return Object(Object(error).cause ?? error);
}

export function streamCut(receipt: Receipt | null): TollgateError {
  const message = 'The stream ended before the answer was complete.';
  return new TollgateError(message, { ...NO_FIELDS, code: 'stream_cut', receipt });
}

/** The answer came from something else, or a browser may not see its headers. */
export function noReceipt(): TollgateError {
  return notOurs('has no receipt', ', and are pages of this origin in its `origins`');
}

/** The answer of a route without receipts came from something else, such as a proxy. */
export function notJson(cause: unknown): TollgateError {
  return notOurs('is not JSON', '', { cause });
}

function notOurs(fault: string, remedy: string, options?: ErrorOptions): TollgateError {
  const message = `The response ${fault}. Is \`baseURL\` a Tollgate gateway${remedy}?`;
  return new TollgateError(message, { ...NO_FIELDS, code: 'no_receipt' }, options);
}

function errorFields(error: JsonObject): Pick<ErrorFields, 'type' | 'code' | 'param'> {
  return { type: textOf(error.type), code: textOf(error.code), param: textOf(error.param) };
}
