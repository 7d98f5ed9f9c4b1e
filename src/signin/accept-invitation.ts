import { z } from 'zod';
import { hashSecret } from '../accounts/keys.ts';
import { hashPassword, passwordFault } from '../accounts/passwords.ts';
import { PERSON_PREFIX } from '../canonical/id-prefixes.ts';
import { formatId } from '../kit/ids.ts';
import { LIMITS } from '../limits.ts';
import { auditRow } from '../operator/actor.ts';
import { name } from '../operator/input.ts';
import { type PersonView, personView } from '../operator/people-view.ts';
import { type Invitation, isOpenInvitation, type Person } from '../store/people.ts';
import { acceptInName } from './accept-in-name.ts';
import { beginSession } from './begin-session.ts';
import { SignInError } from './error.ts';
import { actorOf, type SignInServices, type Visitor } from './services.ts';
import { passwordText } from './sign-in.ts';

export const acceptanceInput = z.strictObject({
  secret: z.string().min(1).max(LIMITS.managementSecretCharsMax),
  name: name.optional(),
  password: passwordText.optional(),
});

interface Accepted {
  readonly view: PersonView;
  /** The `Set-Cookie` line of a new session; null for somebody who had signed in already. */
  readonly cookie: string | null;
}

/**
 * A link makes a new person, or gives a role to the person who has signed in, or sets a new password if an operator made
 * it for that. It never sets the password of an address that already belongs to a person: whoever holds a link has not proved to
 * be that person.
 */
export async function acceptInvitation(
  services: SignInServices,
  visitor: Visitor,
  signedIn: { readonly personId: bigint } | null,
  input: z.output<typeof acceptanceInput>,
): Promise<Accepted> {
  const { directory, clock } = services;
  const invitation = await directory.findInvitation(hashSecret(input.secret));
  if (invitation === null || !isOpenInvitation(invitation, clock.nowMs())) throw notOpen();
  if (invitation.resetsPersonId !== null) return setNewPassword(services, visitor, invitation, input);
  const known = await directory.findPersonByEmail(invitation.email);
  if (known === null) return join(services, visitor, invitation, input);
  if (known.id !== signedIn?.personId) throw signInFirst();
  if (input.password !== undefined || input.name !== undefined)
    throw new SignInError('invalid_input', 'You have signed in: send the secret of the link only.');
  return { view: personView(await accept(services, visitor, invitation, known)), cookie: null };
}

async function join(
  services: SignInServices,
  visitor: Visitor,
  invitation: Invitation,
  input: z.output<typeof acceptanceInput>,
): Promise<Accepted> {
  if (input.name === undefined) throw new SignInError('invalid_input', 'name is missing.');
  const passwordHash = await newPasswordHash(services, input.password);
  const newPerson = {
    id: services.ids.next(),
    email: invitation.email,
    name: input.name,
    passwordHash,
    identity: null,
    isOperator: false,
    createdMs: services.clock.nowMs(),
  };
  const person = await accept(services, visitor, invitation, newPerson, { newPerson });
  return signedInBy(services, visitor, person);
}

async function accept(...terms: Parameters<typeof acceptInName>): Promise<Person> {
  const accepted = await acceptInName(...terms);
  if (accepted === 'not_open') throw notOpen();
  if (accepted === 'unconfirmed') throw unconfirmed();
  if (typeof accepted === 'string') throw signInFirst();
  return accepted;
}

async function setNewPassword(
  services: SignInServices,
  visitor: Visitor,
  invitation: Invitation,
  input: z.output<typeof acceptanceInput>,
): Promise<Accepted> {
  const { directory, clock, ids } = services;
  if (input.name !== undefined) throw new SignInError('invalid_input', 'This link sets a password: leave out name.');
  const passwordHash = await newPasswordHash(services, input.password);
  const subject = formatId(PERSON_PREFIX, invitation.resetsPersonId!);
  const person = { id: invitation.resetsPersonId!, email: invitation.email };
  const audit = auditRow({ actor: actorOf(person, visitor), clock, ids }, { action: 'person.password', subject });
  const reset = await directory.resetPassword(invitation.sha256Hex, passwordHash, clock.nowMs(), audit);
  if (reset === 'not_open') throw notOpen();
  return signedInBy(services, visitor, reset);
}

async function signedInBy(services: SignInServices, visitor: Visitor, person: Person): Promise<Accepted> {
  const { cookie } = await beginSession(services, person, visitor, 'invitation');
  return { view: personView(person), cookie };
}

export async function newPasswordHash({ passwords }: SignInServices, password: string | undefined): Promise<string> {
  if (password === undefined) throw new SignInError('invalid_input', 'password is missing.');
  const fault = passwordFault(password);
  if (fault !== null) throw new SignInError('invalid_input', fault);
  return passwords.run(() => hashPassword(password));
}

export function notOpen(): SignInError {
  return new SignInError('not_found', 'This link does not work any more. Ask for a new one.');
}

function signInFirst(): SignInError {
  return new SignInError(
    'sign_in_required',
    'The address of this invitation already belongs to a person. Sign in as that person, then open the link again.',
  );
}

function unconfirmed(): SignInError {
  return new SignInError(
    'refused',
    'Your email address is not confirmed: only an owner of another account has invited it. Ask an operator for a reset link, or link an identity of single sign-on with this address, then open the link again.',
  );
}
