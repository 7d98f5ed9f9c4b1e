import type { KeyChange, NewKey } from '../account-rows.ts';
import { ACCOUNT_ROLES, type AuditRow } from '../people.ts';
import { VIEWER } from './person-keys.ts';
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

type Grants = Pick<KeyChange, 'allow' | 'ownerTerms'>;

/**
 * Whether whoever makes the change may still change this key. Members change their own keys, but give them no permissions and
 * do not decide what owners fix.
 */
export function* mayStillChangeKey(
  audit: AuditRow,
  { accountId, personId }: Pick<NewKey, 'accountId' | 'personId'>,
  { allow = [], ownerTerms }: Grants,
): Program<boolean> {
  yield { lock: 'people' };
  if (yield* mayStill(audit, accountId)) return true;
  const isForMembers = allow.length === 0 && ownerTerms === undefined;
  if (!isForMembers || audit.actorKind !== 'person' || audit.actorId !== personId) return false;
  return isFound(
    yield* rowOf(
      `SELECT id FROM person WHERE id = ? AND disabled_ms IS NULL AND EXISTS
         (SELECT 1 FROM membership WHERE person_id = person.id AND account_id = ? AND role <> ${VIEWER})`,
      personId,
      accountId,
    ),
  );
}

/** The same for a key that is stored. If it is not, the change finds that out. */
export function* mayStillChangeStored(audit: AuditRow, keyId: bigint, grants: Grants): Program<boolean> {
  const key = yield* rowOf<{ readonly account_id: bigint; readonly person_id: bigint | null }>(
    'SELECT account_id, person_id FROM api_key WHERE id = ?',
    keyId,
  );
  if (key === null) return true;
  return yield* mayStillChangeKey(audit, { accountId: key.account_id, personId: key.person_id }, grants);
}

function isFound(row: unknown): boolean {
  return row !== null;
}
