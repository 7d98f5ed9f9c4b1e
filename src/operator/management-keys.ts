import { z } from 'zod';
import type { AccountServices } from '../accounts/accounts.ts';
import { mintManagementSecret } from '../accounts/keys.ts';
import { MANAGEMENT_KEY_PREFIX } from '../canonical/id-prefixes.ts';
import { parseId } from '../kit/ids.ts';
import { LIMITS } from '../limits.ts';
import type { ManagementKey } from '../store/people.ts';
import { type ActingServices, auditRow } from './actor.ts';
import { actsAsOperator } from './acts-as-operator.ts';
import { MANAGEMENT_KEY_ROLES } from './choices.ts';
import { invalidMember, noLongerAllowed, OperatorError } from './error.ts';
import { idOrName, name, page, seconds } from './input.ts';
import { accountNamed, afterId } from './lookup.ts';
import { isOfAccount, OPERATOR_NAME } from './names-in-account.ts';
import { type ManagementKeyView, managementKeyView } from './people-view.ts';
import { type ListView, listView } from './view.ts';

type Services = AccountServices & ActingServices;

const DAY_MS = 86_400_000;

export const managementKeyMinting = z.strictObject({
  name: name.default('default'),
  account: idOrName.nullable().default(null),
  role: z.enum(['operator', ...MANAGEMENT_KEY_ROLES]).default('operator'),
  read_only: z.boolean().default(false),
  expires_at: seconds,
});
export const managementKeyPage = z.strictObject({ account: idOrName.nullable().default(null), ...page });
export const managementKeyChoice = z.strictObject({ management_key: idOrName });

/** A management key always expires, because nobody reviews a permission that lasts for ever. */
export async function mintManagementKey(
  services: Services,
  input: z.output<typeof managementKeyMinting>,
): Promise<ManagementKeyView & { readonly secret: string }> {
  const { store, clock, ids, actor } = services;
  if ((input.role === 'operator') !== (input.account === null))
    throw new OperatorError(
      'invalid_input',
      'The role operator is for the whole gateway, and every other role for one account: name account and role together.',
    );
  const account = input.account === null ? null : await accountNamed(services, input.account);
  const nowMs = clock.nowMs();
  const expiresMs = input.expires_at * 1000;
  if (expiresMs <= nowMs || expiresMs > nowMs + LIMITS.managementKeyDaysMax * DAY_MS)
    throw invalidMember('expires_at', `must be in the future, within ${LIMITS.managementKeyDaysMax} days.`);
  const { secret, ...shown } = mintManagementSecret();
  const key = {
    id: ids.next(),
    ...shown,
    name: input.name,
    mintedBy: actor.kind === 'person' ? actor.id : null,
    accountId: account?.id ?? null,
    role: input.role === 'operator' ? null : input.role,
    isReadOnly: input.read_only,
    createdMs: nowMs,
    expiresMs,
  };
  const minted = { ...key, revokedMs: null, usedMs: null };
  const view = managementKeyView(minted, key.mintedBy === null ? null : actor.name, nowMs);
  const audit = auditRow(services, {
    action: 'management_key.mint',
    subject: view.id,
    accountId: key.accountId,
    after: nameless(view),
  });
  if ((await store.directory.createManagementKey(key, audit)) === 'not_allowed') throw noLongerAllowed();
  return { ...view, secret: secret.reveal() };
}

export async function listManagementKeys(
  services: Services,
  input: z.output<typeof managementKeyPage>,
): Promise<ListView<ManagementKeyView>> {
  const account = input.account === null ? null : await accountNamed(services, input.account);
  const after = afterId(MANAGEMENT_KEY_PREFIX, input.after);
  const keys = await services.store.directory.listManagementKeys(account?.id ?? null, { limit: input.limit, after });
  const nowMs = services.clock.nowMs();
  const names = await minterNames(services, keys);
  return listView(
    keys.map((key) => managementKeyView(key, names.get(key) ?? null, nowMs)),
    input.limit,
  );
}

/** The audit has the id of who minted the key: everybody who reads it may know that, but not everybody the address. */
function nameless({ minted_by_name: _, ...view }: ManagementKeyView): object {
  return view;
}

/** The addresses of those who minted the keys. Each is looked up once in each account. */
async function minterNames(
  services: Services,
  keys: readonly ManagementKey[],
): Promise<ReadonlyMap<ManagementKey, string | null>> {
  const seesAll = await actsAsOperator(services);
  const seen = new Map<string, string | null>();
  const names = new Map<ManagementKey, string | null>();
  for (const key of keys) {
    if (key.mintedBy === null) continue;
    const minter = `${key.mintedBy} in ${seesAll ? 'all' : key.accountId}`;
    if (!seen.has(minter)) seen.set(minter, await minterName(services, key.mintedBy, seesAll ? null : key));
    names.set(key, seen.get(minter)!);
  }
  return names;
}

/** As whoever reads the key sees the name; null for somebody who sees all. */
async function minterName(
  { store }: Services,
  personId: bigint,
  seenOn: Pick<ManagementKey, 'accountId'> | null,
): Promise<string | null> {
  const isSeen =
    seenOn === null || (seenOn.accountId !== null && (await isOfAccount(store, seenOn.accountId, personId)));
  return isSeen ? ((await store.directory.findPerson(personId))?.email ?? null) : OPERATOR_NAME;
}

/** Revoking a key again changes nothing: the first time stands. */
export async function revokeManagementKey(
  services: Services,
  input: z.output<typeof managementKeyChoice>,
): Promise<ManagementKeyView> {
  const id = parseId(MANAGEMENT_KEY_PREFIX, input.management_key);
  if (id === null) throw unknownManagementKey('Name the management key by its id, like mkey_….');
  const accountId = (await services.store.directory.findManagementKey(id))?.accountId ?? null;
  const audit = auditRow(services, { action: 'management_key.revoke', subject: input.management_key, accountId });
  const nowMs = services.clock.nowMs();
  const revoked = await services.store.directory.revokeManagementKey(id, nowMs, audit);
  if (revoked === 'not_found') throw unknownManagementKey(`There is no management key ${input.management_key}.`);
  const names = await minterNames(services, [revoked]);
  return managementKeyView(revoked, names.get(revoked) ?? null, nowMs);
}

function unknownManagementKey(message: string): OperatorError {
  return new OperatorError('not_found', message, 'tollgate management-keys list');
}
