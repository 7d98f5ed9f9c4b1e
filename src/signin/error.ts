const STATUSES = {
  invalid_input: 400,
  sso_refused: 400,
  sign_in_failed: 401,
  sign_in_required: 401,
  permission_denied: 403,
  not_found: 404,
  refused: 409,
  rate_limit_exceeded: 429,
  overloaded: 503,
  unavailable: 503,
} as const;

export type SignInErrorCode = keyof typeof STATUSES;

/** Why somebody could not sign in, or could not change how they sign in. */
export class SignInError extends Error {
  override readonly name = 'SignInError';
  readonly code: SignInErrorCode;
  /** When it is worth trying again. */
  readonly retryMs: number | null;

  constructor(code: SignInErrorCode, message: string, retryMs: number | null = null) {
    super(message);
    this.code = code;
    this.retryMs = retryMs;
  }

  get status(): number {
    return STATUSES[this.code];
  }
}

/** The same words for every reason, so that nobody learns which addresses belong to a person. */
export function signInFailed(): SignInError {
  return new SignInError('sign_in_failed', 'The email address or the password is wrong.');
}
