import { ACCOUNT_ROLES } from '../people.ts';
import { type Program, query, rowsOf } from './program.ts';

/** Viewers change nothing and pay for nothing, so they have no keys that work. */
export const VIEWER = ACCOUNT_ROLES.indexOf('viewer');

/** Every change of any key takes the next version number, so that caches that poll for changes see it. */
export const NEXT_KEY_VERSION = '(SELECT coalesce(max(version), 0) + 1 FROM api_key)';

interface PersonKeyColumns {
  readonly id: bigint;
  readonly works: bigint;
  readonly person_disabled_ms: bigint | null;
}

/**
 * Keys of a person work while the person is enabled and is an owner or a member of the key's account. This is part of
 * every program that changes either.
 */
export function* followPerson(personId: bigint, nowMs: number): Program<void> {
  yield { lock: 'keys' };
  const keys = yield* rowsOf<PersonKeyColumns>(
    `SELECT api_key.id, api_key.person_disabled_ms,
       CASE WHEN person.disabled_ms IS NULL AND membership.role <> ${VIEWER} THEN 1 ELSE 0 END AS works
     FROM api_key JOIN person ON person.id = api_key.person_id
     LEFT JOIN membership ON membership.account_id = api_key.account_id AND membership.person_id = api_key.person_id
     WHERE api_key.person_id = ? AND api_key.revoked_ms IS NULL ORDER BY api_key.id`,
    personId,
  );
  for (const { id, works, person_disabled_ms: disabledMs } of keys) {
    if ((works === 1n) === (disabledMs === null)) continue;
    const change = `UPDATE api_key SET person_disabled_ms = ?, version = ${NEXT_KEY_VERSION} WHERE id = ?`;
    yield query(change, works === 1n ? null : nowMs, id);
  }
}
