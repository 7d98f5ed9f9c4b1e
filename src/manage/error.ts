import type { OperatorErrorCode } from '../operator/error.ts';
import type { SignInErrorCode } from '../signin/error.ts';

/** Why a management request failed, in the envelope of the whole interface. */
export class ManageError extends Error {
  override readonly name = 'ManageError';
  readonly status: number;
  readonly code: ManageErrorCode;
  readonly details: ManageErrorDetails;

  constructor(status: number, code: ManageErrorCode, message: string, details: Partial<ManageErrorDetails> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = { ...NO_DETAILS, ...details };
  }
}

interface ManageErrorDetails {
  /** The member at fault; null if there is not exactly one. */
  readonly param: string | null;
  /** When it is worth trying again. */
  readonly retryMs: number | null;
  /** The methods that the path has, if it lacks the one that was used. */
  readonly allow: readonly string[];
}

const NO_DETAILS: ManageErrorDetails = { param: null, retryMs: null, allow: [] };

type ManageErrorCode =
  | OperatorErrorCode
  | SignInErrorCode
  | 'unauthenticated'
  | 'permission_denied'
  | 'forbidden_origin'
  | 'unknown_url'
  | 'method_not_allowed'
  | 'unsupported_media_type'
  | 'request_too_large'
  | 'invalid_request_body'
  | 'internal_error';

export function envelopeOf({ status, code, message, details: { param } }: ManageError): object {
  const type = status >= 500 ? 'api_error' : 'invalid_request_error';
  return { error: { message, type, param, code } };
}

export function headersOf({ status, details: { retryMs, allow } }: ManageError): Record<string, string> {
  return {
    ...(allow.length > 0 && { allow: allow.join(', ') }),
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    ...(retryMs !== null && { 'retry-after': String(Math.max(1, Math.ceil(retryMs / 1000))) }),
  };
}

export function unauthenticated(): ManageError {
  return new ManageError(
    401,
    'unauthenticated',
    'Sign in, or send a management key as `authorization: Bearer tg_mgmt_…`.',
  );
}
