const WORDS: Readonly<Record<string, string>> = {
  sso_refused: 'The provider did not confirm who you are, or it took too long. Start again.',
  permission_denied:
    'Nobody has invited your email address, or the provider has not verified it. Ask the operator or an owner for an invitation.',
  refused:
    'Your email address already belongs to a person here, or the identity belongs to somebody else. Sign in with the password, and then link single sign-on under “Your sign-in”.',
  sign_in_failed: 'You may not sign in. Ask the operator.',
  sign_in_required: 'The session has ended in the meantime. Sign in, and link single sign-on again.',
  rate_limit_exceeded: 'Too many sign-ins failed. Wait a minute and try again.',
  unavailable: 'The provider of single sign-on cannot be reached. Try again later.',
};

/** What to say when single sign-on led back here without success; the gateway puts only its code into the address. */
export function ssoFailure(code: string | undefined): string | null {
  if (code === undefined) return null;
  return WORDS[code] ?? 'Single sign-on failed. Start again.';
}
