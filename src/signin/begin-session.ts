import { findSession, newSessionSecret, sessionCookie } from '../accounts/sessions.ts';
import { SESSION_PREFIX } from '../canonical/id-prefixes.ts';
import { formatId } from '../kit/ids.ts';
import { LIMITS } from '../limits.ts';
import { auditRow } from '../operator/actor.ts';
import { type SessionView, sessionView } from '../operator/people-view.ts';
import type { NewSession, Person } from '../store/people.ts';
import { signInFailed } from './error.ts';
import { actorOf, type SignInServices, type Visitor } from './services.ts';

export interface SignedIn {
  readonly view: SessionView;
  /** The `Set-Cookie` line with the only copy of the secret. */
  readonly cookie: string;
}

/** A new session for a person who has just proved who they are. The session that the browser had before ends. */
export async function beginSession(
  services: SignInServices,
  person: Person,
  visitor: Visitor,
  by: 'password' | 'invitation' | 'single_sign_on',
): Promise<SignedIn> {
  const { directory, clock, ids } = services;
  const { secret, sha256Hex } = newSessionSecret();
  const nowMs = clock.nowMs();
  const session: NewSession = {
    id: ids.next(),
    sha256Hex,
    personId: person.id,
    createdMs: nowMs,
    expiresMs: nowMs + LIMITS.sessionMs,
    address: visitor.address ?? '',
    userAgent: visitor.userAgent.slice(0, LIMITS.sessionUserAgentCharsMax),
  };
  const subject = formatId(SESSION_PREFIX, session.id);
  const acting = { actor: actorOf(person, visitor), clock, ids };
  const audit = auditRow(acting, { action: 'session.begin', subject, after: { by } });
  const made = await directory.createSession(session, person.version, LIMITS.sessionsPerPersonMax, audit);
  if (made === 'person_changed') throw signInFailed();
  services.count('succeeded');
  await endSessionBefore(services, visitor);
  return { view: sessionView({ ...session, usedMs: nowMs, provedMs: nowMs }), cookie: sessionCookie(secret) };
}

async function endSessionBefore({ directory, clock, ids }: SignInServices, visitor: Visitor): Promise<void> {
  const before = await findSession(visitor.cookies, { directory, clock });
  if (before === null) return;
  const { session, person } = before;
  const subject = formatId(SESSION_PREFIX, session.id);
  const acting = { actor: actorOf(person, visitor), clock, ids };
  await directory.endSession(session.id, person.id, auditRow(acting, { action: 'session.end', subject }));
}
