import { z } from 'zod';
import { endedSessionCookie } from '../accounts/sessions.ts';
import { PERSON_PREFIX, SESSION_PREFIX } from '../canonical/id-prefixes.ts';
import { formatId, parseId } from '../kit/ids.ts';
import { auditRow } from '../operator/actor.ts';
import { idOrName } from '../operator/input.ts';
import { type SessionView, sessionView } from '../operator/people-view.ts';
import { newPasswordHash } from './accept-invitation.ts';
import { SignInError, signInFailed } from './error.ts';
import { actorOf, type SignInServices, type Visitor } from './services.ts';
import { passwordText, provenPerson } from './sign-in.ts';

/** A person who has signed in, as they ask about themselves. */
export interface OwnSession {
  readonly personId: bigint;
  readonly email: string;
  readonly sessionId: bigint;
}

export const passwordChange = z.strictObject({ current: passwordText, password: passwordText });
export const ownSessionChoice = z.strictObject({ session: idOrName });

export type OwnSessionView = SessionView & { readonly current: boolean };

export async function listOwnSessions(
  { directory }: SignInServices,
  own: OwnSession,
): Promise<readonly OwnSessionView[]> {
  const sessions = await directory.listSessions(own.personId);
  return sessions.map((session) => ({ ...sessionView(session), current: session.id === own.sessionId }));
}

/** A session of somebody else does not exist for this person. */
export async function endOwnSession(
  services: SignInServices,
  visitor: Visitor,
  own: OwnSession,
  input: z.output<typeof ownSessionChoice>,
): Promise<{ readonly object: 'session'; readonly id: string; readonly status: 'ended' }> {
  const { directory, clock, ids } = services;
  const id = parseId(SESSION_PREFIX, input.session);
  const acting = { actor: actorOf({ id: own.personId, email: own.email }, visitor), clock, ids };
  const audit = auditRow(acting, { action: 'session.end', subject: input.session });
  if (id === null || !(await directory.endSession(id, own.personId, audit)))
    throw new SignInError('not_found', `You have no session "${input.session}".`);
  return { object: 'session', id: input.session, status: 'ended' };
}

export async function signOut(
  services: SignInServices,
  visitor: Visitor,
  own: OwnSession,
): Promise<{ readonly view: object; readonly cookie: string }> {
  const view = await endOwnSession(services, visitor, own, { session: formatId(SESSION_PREFIX, own.sessionId) });
  return { view, cookie: endedSessionCookie() };
}

/** Ends the person's other sessions. The current password is asked for, because a browser may have been left open. */
export async function changePassword(
  services: SignInServices,
  visitor: Visitor,
  own: OwnSession,
  input: z.output<typeof passwordChange>,
): Promise<{ readonly object: 'person'; readonly id: string; readonly password: true }> {
  const { directory, clock, ids } = services;
  const proof = { email: own.email, password: input.current };
  const person = await provenPerson(services, visitor, proof, () => directory.findPerson(own.personId));
  const passwordHash = await newPasswordHash(services, input.password);
  const subject = formatId(PERSON_PREFIX, person.id);
  const audit = auditRow({ actor: actorOf(person, visitor), clock, ids }, { action: 'person.password', subject });
  const change = { passwordHash, expectedVersion: person.version, keptSessionId: own.sessionId };
  if ((await directory.setPassword(person.id, change, audit)) === 'person_changed') throw signInFailed();
  return { object: 'person', id: subject, password: true };
}
