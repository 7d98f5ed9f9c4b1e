import type { AccountRole, Actor } from '../store/people.ts';

export type { AccountRole } from '../store/people.ts';

/** Who asks, and what they may do. */
export interface Principal {
  readonly actor: Actor;
  readonly isOperator: boolean;
  /** Roles by account; an operator needs none. */
  readonly roles: ReadonlyMap<bigint, AccountRole>;
  readonly isReadOnly: boolean;
  /** The session of a person who signed in; null for keys and the local token. */
  readonly sessionId: bigint | null;
}

/** Each role may do what those after it may. */
const RANK: Readonly<Record<AccountRole, number>> = { owner: 3, member: 2, viewer: 1 };

export function hasRole(principal: Principal, accountId: bigint, least: AccountRole): boolean {
  if (principal.isOperator) return true;
  const role = principal.roles.get(accountId);
  return role !== undefined && RANK[role] >= RANK[least];
}
