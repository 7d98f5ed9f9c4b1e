import { z } from 'zod';
import type { AccountServices } from '../accounts/accounts.ts';
import { AUDIT_PREFIX, MANAGEMENT_KEY_PREFIX, PERSON_PREFIX } from '../canonical/id-prefixes.ts';
import { parseId } from '../kit/ids.ts';
import { LIMITS } from '../limits.ts';
import { OperatorError } from './error.ts';
import { idOrName, page, seconds } from './input.ts';
import { accountNamed, afterId } from './lookup.ts';
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
  services: AccountServices,
  input: z.output<typeof auditPage>,
): Promise<ListView<AuditView>> {
  const account = input.account === null ? null : await accountNamed(services, input.account);
  const before = afterId(AUDIT_PREFIX, input.after);
  const filter = {
    accountId: account?.id ?? null,
    actorId: await actorId(services, input.actor ?? input.person),
    action: input.action,
    subject: input.subject,
    sinceMs: input.since === null ? null : input.since * 1000,
    untilMs: input.until === null ? null : input.until * 1000,
  };
  const rows = await services.store.directory.listAudit(filter, { before, limit: input.limit });
  return listView(rows.map(auditView), input.limit);
}

async function actorId({ store }: AccountServices, idOrEmail: string | null): Promise<bigint | null> {
  if (idOrEmail === null) return null;
  const id =
    parseId(PERSON_PREFIX, idOrEmail) ??
    parseId(MANAGEMENT_KEY_PREFIX, idOrEmail) ??
    (await store.directory.findPersonByEmail(idOrEmail))?.id;
  if (id === undefined)
    throw new OperatorError(
      'not_found',
      `There is no person or management key "${idOrEmail}".`,
      'tollgate people list',
    );
  return id;
}
