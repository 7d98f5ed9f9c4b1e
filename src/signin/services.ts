import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import type { Actor } from '../operator/actor.ts';
import type { Directory } from '../store/directory.ts';
import type { Person } from '../store/people.ts';
import type { SignInAttempts } from './attempts.ts';
import { SignInError } from './error.ts';
import type { PasswordQueue } from './password-queue.ts';
import type { SingleSignOn } from './single-sign-on.ts';

/** `limited`: refused because too many had failed before. */
export type SignInOutcome = 'succeeded' | 'failed' | 'limited';

export interface SignInServices {
  readonly directory: Directory;
  readonly clock: Clock;
  readonly ids: { next(): bigint };
  readonly attempts: SignInAttempts;
  readonly passwords: PasswordQueue;
  /** Null if it is not configured. */
  readonly singleSignOn: SingleSignOn | null;
  readonly log: Log;
  /** For metrics. */
  count(outcome: SignInOutcome): void;
  /** Why nobody can sign in here, with the remedy; null if people can. */
  readonly unavailable: string | null;
}

/** The client of a request, before it is known which person it is. */
export interface Visitor {
  readonly address: string | null;
  /** What counts as one client for limits: the address, or its network. */
  readonly client: string;
  readonly userAgent: string;
  /** The `Cookie` header. */
  readonly cookies: string | undefined;
}

export function actorOf(person: Pick<Person, 'id' | 'email'>, { address }: Pick<Visitor, 'address'>): Actor {
  return { kind: 'person', id: person.id, name: person.email, address };
}

export function requireSignIn({ unavailable }: SignInServices): void {
  if (unavailable !== null) throw new SignInError('refused', unavailable);
}
