import { userInfo } from 'node:os';
import { stringifyJson } from '../json/stringify.ts';
import type { Clock } from '../kit/clock.ts';
import type { Actor, AuditRow } from '../store/people.ts';

export { ACTOR_KINDS, type Actor } from '../store/people.ts';

export interface ActingServices {
  readonly actor: Actor;
  readonly clock: Clock;
  readonly ids: { next(): bigint };
}

interface Change {
  /** What is done, like `person.disable`. */
  readonly action: string;
  /** The id of what is changed, in the form that people see. */
  readonly subject: string;
  readonly accountId?: bigint | null;
  /** The members that change, without secrets. */
  readonly before?: object | null;
  readonly after?: object | null;
}

/** The row that is written in the same commit as the change. */
export function auditRow({ actor, clock, ids }: ActingServices, change: Change): AuditRow {
  return {
    id: ids.next(),
    atMs: clock.nowMs(),
    actorKind: actor.kind,
    actorId: actor.id,
    actorName: actor.name,
    action: change.action,
    subject: change.subject,
    accountId: change.accountId ?? null,
    before: jsonOrNull(change.before),
    after: jsonOrNull(change.after),
    address: actor.address,
  };
}

/** The members of two views of the same thing that are not equal. */
export function differences<View extends object>(before: View, after: View): { before: object; after: object } {
  const changed = Object.keys(after).filter(
    (name) => stringifyJson(before[name as keyof View]) !== stringifyJson(after[name as keyof View]),
  );
  const pick = (view: View): object => Object.fromEntries(changed.map((name) => [name, view[name as keyof View]]));
  return { before: pick(before), after: pick(after) };
}

function jsonOrNull(members: object | null | undefined): string | null {
  return members == null ? null : stringifyJson(members);
}

/** Anybody who can open the data folder or its socket. The command runs as the same user as the server, or as root. */
export function commandLine(): Actor {
  return { kind: 'command_line', id: null, name: userName(), address: null };
}

/** A container may run as a user that has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
