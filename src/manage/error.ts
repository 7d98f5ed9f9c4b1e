import type { OperatorErrorCode } from '../operator/error.ts';

/** Why a management request failed, in the envelope of the whole interface. */
export class ManageError extends Error {
  override readonly name = 'ManageError';
  readonly status: number;
  readonly code: ManageErrorCode;

  constructor(status: number, code: ManageErrorCode, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

type ManageErrorCode =
  | OperatorErrorCode
  | 'unauthenticated'
  | 'permission_denied'
  | 'forbidden_origin'
  | 'unknown_url'
  | 'method_not_allowed'
  | 'unsupported_media_type'
  | 'request_too_large'
  | 'invalid_request_body'
  | 'internal_error';

export function envelopeOf({ status, code, message }: ManageError): object {
  const type = status >= 500 ? 'api_error' : 'invalid_request_error';
  return { error: { message, type, param: null, code } };
}
