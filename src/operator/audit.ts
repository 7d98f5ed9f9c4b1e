import { z } from 'zod';
import { AUDIT_PREFIX, MANAGEMENT_KEY_PREFIX, PERSON_PREFIX } from '../canonical/id-prefixes.ts';
import { parseId } from '../kit/ids.ts';
import { LIMITS } from '../limits.ts';
import type { Person } from '../store/people.ts';
import type { Account } from '../store/store.ts';
import { actsAsOperator } from './acts-as-operator.ts';
import { OperatorError } from './error.ts';
import { idOrName, page, seconds } from './input.ts';
import { accountNamed, afterId } from './lookup.ts';
import type { PeopleServices } from './people.ts';
import { type AuditView, auditView } from './people-view.ts';
import { type ListView, listView } from './view.ts';

const word = z.string().min(1).max(LIMITS.nameCharsMax);

/** Null members filter nothing; `since` and `until` are seconds since 1970. */
export const auditPage = z.strictObject({
  account: idOrName.nullable().default(null),
  /** A person, by id or email address. */
  person: idOrName.nullable().default(null),
  /** A person or a management key, by id. */
  actor: idOrName.nullable().default(null),
  action: word.nullable().default(null),
  subject: word.nullable().default(null),
  since: seconds.nullable().default(null),
  until: seconds.nullable().default(null),
  ...page,
});

/** Newest first. */
export async function listAudit(
  services: PeopleServices,
  input: z.output<typeof auditPage>,
): Promise<ListView<AuditView>> {
  const account = input.account === null ? null : await accountNamed(services, input.account);
  const before = afterId(AUDIT_PREFIX, input.after);
  const filter = {
    accountId: account?.id ?? null,
    actorId: await actorId(services, input, account),
    action: input.action,
    subject: input.subject,
    sinceMs: input.since === null ? null : input.since * 1000,
    untilMs: input.until === null ? null : input.until * 1000,
  };
  const rows = await services.store.directory.listAudit(filter, { before, limit: input.limit });
  return listView(rows.map(auditView), input.limit);
}

async function actorId(
  services: PeopleServices,
  { actor, person }: z.output<typeof auditPage>,
  account: Account | null,
): Promise<bigint | null> {
  if (actor !== null && person !== null)
    throw new OperatorError('invalid_input', 'actor and person both say who made the change. Name only one of them.');
  const named = actor ?? person;
  if (named === null) return null;
  const id = parseId(PERSON_PREFIX, named) ?? parseId(MANAGEMENT_KEY_PREFIX, named);
  if (id !== null) return id;
  const found = await services.store.directory.findPersonByEmail(named);
  if (found !== null && (account === null || (await isKnownIn(services, account, found)))) return found.id;
  const where = account === null ? '' : ' in this account';
  throw new OperatorError(
    'not_found',
    `There is no person or management key "${named}"${where}.`,
    'tollgate people list',
  );
}

/**
 * Strangers to the account are the same as people who do not exist, except for operators, who see everybody. Operators have no
 * role in it, but may have changed it.
 */
async function isKnownIn(services: PeopleServices, account: Account, { id: actorId }: Person): Promise<boolean> {
  const { store } = services;
  if (await actsAsOperator(services)) return true;
  const memberships = await store.directory.membershipsOf(actorId);
  if (memberships.some(({ accountId }) => accountId === account.id)) return true;
  const everything = { action: null, subject: null, sinceMs: null, untilMs: null };
  const changes = { ...everything, accountId: account.id, actorId };
  return (await store.directory.listAudit(changes, { before: null, limit: 1 })).length > 0;
}
