import { ACCOUNT_ROLES } from '../people.ts';
import { NEXT_KEY_VERSION } from './person-keys.ts';
import { type Program, query, rowOf, rowsOf } from './program.ts';

const OWNER = ACCOUNT_ROLES.indexOf('owner');

/** For somebody who is no longer an owner of the account. */
export function* endGrantsIn(accountId: bigint, personId: bigint, nowMs: number): Program<void> {
  const operator = yield* rowOf('SELECT id FROM person WHERE id = ? AND operator = 1', personId);
  if (operator === null) yield* endGrants(personId, nowMs, accountId);
}

/** For somebody who is no longer an operator. In accounts of which they are an owner, nothing changes. */
export function* endGrantsOfOperator(personId: bigint, nowMs: number): Program<void> {
  yield* endGrants(personId, nowMs, null);
}

/**
 * Only owners and operators give keys permissions and mint management keys. Both end with the role: otherwise somebody would
 * have the permissions as a member, and the management keys again when they are given the role again.
 */
function* endGrants(personId: bigint, nowMs: number, accountId: bigint | null): Program<void> {
  yield { lock: 'keys' };
  const isOwner = `IN (SELECT account_id FROM membership WHERE person_id = ? AND role = ${OWNER})`;
  const [where, values] = accountId === null ? [`NOT ${isOwner}`, [personId]] : ['= ?', [accountId]];
  const keys = yield* rowsOf<{ id: bigint }>(
    `SELECT id FROM api_key WHERE person_id = ? AND permissions <> 0 AND revoked_ms IS NULL AND account_id ${where} ORDER BY id`,
    personId,
    ...values,
  );
  for (const { id } of keys)
    yield query(`UPDATE api_key SET permissions = 0, version = ${NEXT_KEY_VERSION} WHERE id = ?`, id);
  const orGateway = accountId === null ? 'account_id IS NULL OR ' : '';
  yield query(
    `UPDATE management_key SET revoked_ms = ? WHERE minted_by = ? AND revoked_ms IS NULL AND (${orGateway}account_id ${where})`,
    nowMs,
    personId,
    ...values,
  );
}
