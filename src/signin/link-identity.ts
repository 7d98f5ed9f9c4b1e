import { z } from 'zod';
import { PERSON_PREFIX } from '../canonical/id-prefixes.ts';
import { formatId } from '../kit/ids.ts';
import { LIMITS } from '../limits.ts';
import { auditRow } from '../operator/actor.ts';
import type { SsoIdentity } from '../store/people.ts';
import { SignInError } from './error.ts';
import type { OwnSession } from './own-sessions.ts';
import { actorOf, type SignInServices, type Visitor } from './services.ts';
import { passwordText, provenPerson } from './sign-in.ts';
import type { ProvenIdentity } from './single-sign-on.ts';

export const linkInput = z.strictObject({ password: passwordText.optional() });

/**
 * An identity gives lasting access in the person's name, so a browser that was left open is not enough to replace it.
 * The session keeps when the person last proved who they are: the cookie of single sign-on is the browser's own and
 * proves nothing.
 */
export async function proveForLink(
  services: SignInServices,
  visitor: Visitor,
  own: OwnSession,
  { password }: z.output<typeof linkInput>,
): Promise<void> {
  const { directory, clock } = services;
  if (password !== undefined) {
    await provenPerson(services, visitor, { email: own.email, password }, () => directory.findPerson(own.personId));
    await directory.proveSession(own.sessionId, clock.nowMs());
  }
  await requireFreshProof(services, own, LIMITS.freshSignInMs);
}

async function requireFreshProof(
  { directory, clock }: SignInServices,
  own: OwnSession,
  ageMsMax: number,
): Promise<void> {
  const sessions = await directory.listSessions(own.personId);
  const provedMs = sessions.find(({ id }) => id === own.sessionId)?.provedMs ?? 0;
  if (clock.nowMs() - provedMs <= ageMsMax) return;
  throw new SignInError(
    'sign_in_required',
    `Linking an identity needs a sign-in within the last ${LIMITS.freshSignInMs / 60_000} minutes. Send your password, or sign in again.`,
  );
}

/** The provider's answer for a person who asked to link the identity that it proves. */
export async function finishLink(
  services: SignInServices,
  visitor: Visitor,
  own: OwnSession | null,
  { identity, verifiedEmail, linkPersonId }: ProvenIdentity,
): Promise<void> {
  const { directory, clock, ids } = services;
  const person = own === null || own.personId !== linkPersonId ? null : await directory.findPerson(own.personId);
  if (own === null || person === null)
    throw new SignInError(
      'sign_in_required',
      'Sign in as the person who began to link this identity, and start again.',
    );
  await requireFreshProof(services, own, LIMITS.freshSignInMs + LIMITS.ssoMs);
  const confirmsAddress = verifiedEmail?.toLowerCase() === person.email.toLowerCase();
  const audit = auditRow(
    { actor: actorOf(person, visitor), clock, ids },
    {
      action: 'person.link',
      subject: formatId(PERSON_PREFIX, person.id),
      before: person.identity === null ? null : auditedIdentity(person.identity),
      after: { ...auditedIdentity(identity), address_confirmed: confirmsAddress || person.unconfirmedIn === null },
    },
  );
  const link = { identity, confirmsAddress, keptSessionId: own.sessionId };
  const linked = await directory.linkIdentity(person.id, link, audit);
  if (linked === 'identity_taken') throw new SignInError('refused', 'This identity belongs to another person.');
  if (linked === 'not_found') throw new SignInError('sign_in_failed', 'This person may not sign in.');
}

function auditedIdentity({ issuer, subject }: SsoIdentity): object {
  return { issuer, subject };
}
