import { PERSON_PREFIX } from '../canonical/id-prefixes.ts';
import { formatId } from '../kit/ids.ts';
import { errorFields } from '../kit/log.ts';
import { LIMITS } from '../limits.ts';
import { auditRow } from '../operator/actor.ts';
import { name as nameInput } from '../operator/input.ts';
import type { NewPerson, Person } from '../store/people.ts';
import { acceptInName } from './accept-in-name.ts';
import { beginSession } from './begin-session.ts';
import { SignInError } from './error.ts';
import { finishLink } from './link-identity.ts';
import type { OwnSession } from './own-sessions.ts';
import { providerFields } from './provider-response.ts';
import { actorOf, type SignInServices, type Visitor } from './services.ts';
import type { ProvenIdentity, SingleSignOn } from './single-sign-on.ts';

/** Sends the browser to the provider. */
export async function startSso(
  services: SignInServices,
  linkPersonId: bigint | null = null,
): Promise<{ readonly url: string; readonly cookie: string }> {
  const singleSignOn = configured(services);
  try {
    return await singleSignOn.start(linkPersonId);
  } catch (error) {
    services.log.warn(
      { ...providerFields(error), ...errorFields(error) },
      'The single sign-on provider cannot be reached.',
    );
    throw new SignInError('unavailable', 'The single sign-on provider cannot be reached. Try again later.');
  }
}

/** Takes the provider's response. Returns the cookie of a new session; null if it linked an identity to the current session. */
export async function finishSso(
  services: SignInServices,
  visitor: Visitor,
  own: OwnSession | null,
  query: URLSearchParams,
): Promise<{ readonly cookie: string | null }> {
  const singleSignOn = configured(services);
  const begun = singleSignOn.begunBy(visitor.cookies, query);
  const attempt = services.attempts.beginSso(visitor.client);
  const proven = await singleSignOn.finish(begun, query).catch((error: unknown) => {
    services.count('failed');
    const fields = { address: visitor.address, ...providerFields(error), ...errorFields(error) };
    services.log.warn(fields, 'Single sign-on failed.');
    throw new SignInError('sso_refused', 'The single sign-on provider did not confirm who you are. Start again.');
  });
  attempt.forgive();
  if (proven.linkPersonId !== null) {
    await finishLink(services, visitor, own, proven);
    return { cookie: null };
  }
  const person = await personOf(services, visitor, proven, singleSignOn.settings.allowedDomains);
  const { cookie } = await beginSession(services, person, visitor, 'single_sign_on');
  return { cookie };
}

function configured({ singleSignOn }: SignInServices): SingleSignOn {
  if (singleSignOn === null)
    throw new SignInError('refused', 'Single sign-on is not configured. Sign in with a password.');
  return singleSignOn;
}

/**
 * The person of an identity. It is pinned by issuer and subject; an address alone never leads to a person who has another way
 * in. A new person needs an invitation for the verified address, or an address in an allowed domain.
 */
async function personOf(
  services: SignInServices,
  visitor: Visitor,
  proven: ProvenIdentity,
  allowedDomains: readonly string[],
): Promise<Person> {
  const { directory, clock } = services;
  const known = await directory.findPersonByIdentity(proven.identity);
  if (known !== null) return giveInvited(services, visitor, known, proven);
  const email = proven.verifiedEmail;
  if (email === null || !ADDRESS.test(email) || email.length > LIMITS.emailCharsMax)
    throw new SignInError('permission_denied', 'The single sign-on provider has not verified your email address.');
  if ((await directory.findPersonByEmail(email)) !== null) throw linkFirst();
  const newPerson: NewPerson = {
    id: services.ids.next(),
    email,
    name: nameInput.safeParse(proven.name).data ?? email,
    passwordHash: null,
    identity: proven.identity,
    isOperator: false,
    createdMs: clock.nowMs(),
  };
  const [first] = await directory.invitationsFor(email, clock.nowMs());
  if (first !== undefined) {
    const person = await accept(services, visitor, first, newPerson, { newPerson });
    if (person !== null) return giveInvited(services, visitor, person, proven);
  }
  return joinByDomain(services, visitor, newPerson, allowedDomains);
}

/** Printable ASCII only: other letters may become the same in lower case, and so one address another. */
const ADDRESS = /^[\x21-\x3f\x41-\x7e]+@[\x21-\x3f\x41-\x7e]+$/;

async function joinByDomain(
  { directory, clock, ids }: SignInServices,
  visitor: Visitor,
  newPerson: NewPerson,
  allowedDomains: readonly string[],
): Promise<Person> {
  const domain = newPerson.email.slice(newPerson.email.indexOf('@') + 1).toLowerCase();
  if (!allowedDomains.includes(domain))
    throw new SignInError('permission_denied', 'Nobody has invited you. Ask for an invitation to this email address.');
  const actor = actorOf(newPerson, visitor);
  const subject = formatId(PERSON_PREFIX, newPerson.id);
  const audit = auditRow(
    { actor, clock, ids },
    { action: 'person.create', subject, after: { email: newPerson.email } },
  );
  if ((await directory.createPerson(newPerson, audit)) === 'email_taken') throw linkFirst();
  return (await directory.findPerson(newPerson.id))!;
}

/** The roles of all open invitations for the address, if the provider has verified that it is this person's. */
async function giveInvited(
  services: SignInServices,
  visitor: Visitor,
  person: Person,
  { verifiedEmail }: ProvenIdentity,
): Promise<Person> {
  if (person.disabledMs !== null) throw new SignInError('sign_in_failed', 'This person may not sign in.');
  if (verifiedEmail?.toLowerCase() !== person.email.toLowerCase()) return person;
  const { directory, clock } = services;
  let latest = person;
  for (const invitation of await directory.invitationsFor(person.email, clock.nowMs()))
    latest = (await accept(services, visitor, invitation, person)) ?? latest;
  return latest;
}

/** Null if the invitation was accepted in the meantime, or if its maker may no longer invite. */
async function accept(...terms: Parameters<typeof acceptInName>): Promise<Person | null> {
  const accepted = await acceptInName(...terms);
  return typeof accepted === 'string' ? null : accepted;
}

function linkFirst(): SignInError {
  return new SignInError(
    'refused',
    'Your email address already belongs to a person. Sign in as that person in the usual way, then link single sign-on. If you cannot, ask an operator for a reset link.',
  );
}
