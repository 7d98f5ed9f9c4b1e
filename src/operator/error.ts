const STATUSES = {
  invalid_input: 400,
  permission_denied: 403,
  not_found: 404,
  refused: 409,
  moved: 409,
  version_conflict: 412,
  rate_limit_exceeded: 429,
  unknown_verb: 404,
  unavailable: 503,
} as const;
export type OperatorErrorCode = keyof typeof STATUSES;

/** Why a verb failed; the hint says what to try. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
  readonly code: OperatorErrorCode;
  readonly hint: string | null;
  /** The member of the input at fault; null if there is not exactly one. */
  readonly param: string | null;

  constructor(code: OperatorErrorCode, message: string, hint: string | null = null, param: string | null = null) {
    super(message);
    this.code = code;
    this.hint = hint;
    this.param = param;
  }

  get status(): number {
    return STATUSES[this.code];
  }
}

/** A member of the input is at fault; the rest of the sentence says what it must be. */
export function invalidMember(member: string, rest: string): OperatorError {
  return new OperatorError('invalid_input', `${member} ${rest}`, null, member);
}

/** The caller named the version of a row that has another one by now. */
export function versionConflict(what: 'account' | 'key' | 'person'): OperatorError {
  const remedy = `Read the ${what} again, and repeat the change with the new version.`;
  return new OperatorError('version_conflict', `Somebody else changed this ${what} in the meantime. ${remedy}`);
}

/** Somebody else ended the right to make this change after the request had arrived. */
export function noLongerAllowed(): OperatorError {
  const message = 'Your role was changed meanwhile and no longer allows this. Nothing was changed.';
  return new OperatorError('permission_denied', message);
}

export interface OperatorErrorView {
  readonly error: { readonly code: OperatorErrorCode; readonly message: string; readonly hint: string | null };
}

export function operatorErrorView({ code, message, hint }: OperatorError): OperatorErrorView {
  return { error: { code, message, hint } };
}
