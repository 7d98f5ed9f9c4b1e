import { hash } from 'node:crypto';
import { z } from 'zod';
import { passwordFits } from '../accounts/passwords.ts';
import { LIMITS } from '../limits.ts';
import type { Person } from '../store/people.ts';
import { beginSession, type SignedIn } from './begin-session.ts';
import { type SignInError, signInFailed } from './error.ts';
import type { SignInServices, Visitor } from './services.ts';

export const passwordText = z
  .string()
  .min(1)
  .max(2 * LIMITS.passwordCharsMax);

export const signInInput = z.strictObject({
  email: z.string().min(1).max(LIMITS.emailCharsMax),
  password: passwordText,
});

export interface WaysToSignIn {
  readonly object: 'sign_in';
  readonly password: boolean;
  /** The provider, and where a browser goes to begin; null if there is none. */
  readonly single_sign_on: { readonly issuer: string; readonly start: string } | null;
  /** Why nobody can sign in; null if people can. */
  readonly unavailable: string | null;
}

export function waysToSignIn({ unavailable, singleSignOn }: SignInServices): WaysToSignIn {
  const single_sign_on =
    singleSignOn === null ? null : { issuer: singleSignOn.settings.issuer, start: '/manage/v1/sso/start' };
  return { object: 'sign_in', password: unavailable === null, single_sign_on, unavailable };
}

export async function signIn(
  services: SignInServices,
  visitor: Visitor,
  input: z.output<typeof signInInput>,
): Promise<SignedIn> {
  const person = await provenPerson(services, visitor, input, () => services.directory.findPersonByEmail(input.email));
  return beginSession(services, person, visitor, 'password');
}

/**
 * The person, if the password is theirs. It takes as long for an unknown address, and a failure counts for the address
 * and for the client.
 */
export async function provenPerson(
  services: SignInServices,
  visitor: Visitor,
  { email, password }: { readonly email: string; readonly password: string },
  find: () => Promise<Person | null>,
): Promise<Person> {
  const attempt = services.attempts.begin(email, visitor.client);
  let hasRun = false;
  try {
    const person = await services.passwords.run(async () => {
      const found = await find();
      const fits = await passwordFits(password, found?.passwordHash ?? null);
      hasRun = true;
      return fits && found?.disabledMs === null ? found : null;
    });
    if (person === null) throw failed(services, email, visitor);
    attempt.succeed();
    return person;
  } catch (error) {
    if (!hasRun) attempt.forgive();
    throw error;
  }
}

/** What was typed as the address may be a password, so the log has a hash of it, which is always the same for the same address. */
function failed({ log, count }: SignInServices, email: string, { address }: Visitor): SignInError {
  count('failed');
  const email_sha256 = hash('sha256', email.toLowerCase()).slice(0, 16);
  log.warn({ address, email_sha256 }, 'A sign-in failed.');
  return signInFailed();
}
