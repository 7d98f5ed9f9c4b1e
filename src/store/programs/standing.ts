import { ACCOUNT_ROLES, type AuditRow } from '../people.ts';
import { type Program, rowOf } from './program.ts';

const OWNER = ACCOUNT_ROLES.indexOf('owner');

/**
 * Whether whoever makes the change is still an operator, or an owner of this account. They were when the request arrived, but
 * somebody else may have ended that since. Roles change only under the lock of people, which the program must have.
 */
export function* mayStill({ actorKind, actorId, atMs }: AuditRow, accountId: bigint | null): Program<boolean> {
  if (actorKind === 'person')
    return isFound(
      yield* rowOf(
        `SELECT id FROM person WHERE id = ? AND disabled_ms IS NULL AND (operator = 1 OR EXISTS
           (SELECT 1 FROM membership WHERE person_id = person.id AND account_id = ? AND role = ${OWNER}))`,
        actorId,
        accountId,
      ),
    );
  if (actorKind !== 'management_key') return true;
  // A key is revoked in the commit in which its minter loses the role.
  return isFound(
    yield* rowOf(
      `SELECT id FROM management_key WHERE id = ? AND revoked_ms IS NULL AND (expires_ms IS NULL OR expires_ms > ?)
         AND (account_id IS NULL OR (account_id = ? AND role = ${OWNER}))`,
      actorId,
      atMs,
      accountId,
    ),
  );
}

function isFound(row: unknown): boolean {
  return row !== null;
}
