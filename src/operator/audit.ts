import { z } from 'zod';
import { AUDIT_PREFIX, MANAGEMENT_KEY_PREFIX, PERSON_PREFIX } from '../canonical/id-prefixes.ts';
import { parseId } from '../kit/ids.ts';
import { LIMITS } from '../limits.ts';
import type { AuditRow, Person } from '../store/people.ts';
import type { Account } from '../store/store.ts';
import { actsAsOperator } from './acts-as-operator.ts';
import { OperatorError } from './error.ts';
import { idOrName, page, seconds } from './input.ts';
import { accountNamed, afterId } from './lookup.ts';
import { isOfAccount, OPERATOR_NAME } from './names-in-account.ts';
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
  // Only operators may ask for the changes of all accounts.
  const isForOperator = account === null || (await actsAsOperator(services));
  const views = isForOperator ? rows.map(auditView) : await asAccountSees(services, account.id, rows);
  return listView(views, input.limit);
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

/** Strangers to the account are the same as people who do not exist, except for operators, who see everybody. */
async function isKnownIn(services: PeopleServices, account: Account, { id }: Person): Promise<boolean> {
  return (await actsAsOperator(services)) || isOfAccount(services.store, account.id, id);
}

/** Looks up each author of a change once. */
async function asAccountSees(
  { store }: PeopleServices,
  accountId: bigint,
  rows: readonly AuditRow[],
): Promise<AuditView[]> {
  const known = new Map<string, boolean>();
  const views: AuditView[] = [];
  for (const row of rows) {
    const who = `${row.actorKind} ${row.actorId}`;
    if (!known.has(who)) known.set(who, await isActorOfAccount(store, accountId, row));
    views.push(known.get(who) === true ? auditView(row) : withoutOperator(auditView(row)));
  }
  return views;
}

async function isActorOfAccount(
  store: PeopleServices['store'],
  accountId: bigint,
  { actorKind, actorId }: AuditRow,
): Promise<boolean> {
  switch (actorKind) {
    case 'person':
      return isOfAccount(store, accountId, actorId!);
    case 'management_key':
      return (await store.directory.findManagementKey(actorId!))?.accountId === accountId;
    case 'gateway_key':
      return true;
    case 'command_line':
    case 'configuration':
      return false;
  }
}

/** The id stays, so that the changes of one operator can be told from those of another. */
function withoutOperator(view: AuditView): AuditView {
  return { ...view, actor: { ...view.actor, name: OPERATOR_NAME }, address: null };
}
