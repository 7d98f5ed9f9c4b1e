import { LIMITS } from '../limits.ts';
import type { ManagementKey } from '../store/people.ts';
import type { Store } from '../store/store.ts';

/** What people of an account read instead of the name of whoever runs the gateway. */
export const OPERATOR_NAME = 'operator';

type People = Pick<Store, 'directory'>;

/**
 * Whether the person has or had a role in the account. Its owners know the addresses of those people; that of an operator is
 * nobody's business there, and a good target for whoever wants to sign in as one.
 */
export async function isOfAccount({ directory }: People, accountId: bigint, personId: bigint): Promise<boolean> {
  return (await directory.findPersonCap(accountId, personId)) !== null;
}

/**
 * What people of the account read for each of these names, which are addresses of people, names of management keys, or, for
 * commands, names of users of the operator's machine.
 */
export async function namesInAccount(
  store: People,
  accountId: bigint,
  names: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const keys = names.size === 0 ? new Set() : await keyNames(store, accountId);
  const seen = new Map<string, string>();
  for (const name of names) {
    const isOwn = keys.has(name) || (await isAddressIn(store, accountId, name));
    seen.set(name, isOwn ? name : OPERATOR_NAME);
  }
  return seen;
}

async function isAddressIn(store: People, accountId: bigint, name: string): Promise<boolean> {
  const person = await store.directory.findPersonByEmail(name);
  return person !== null && isOfAccount(store, accountId, person.id);
}

/** Includes those of revoked keys, because what they did stays in the audit and among alerts. */
async function keyNames({ directory }: People, accountId: bigint): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  const limit = LIMITS.storePageRowsMax;
  let after: bigint | null = null;
  for (;;) {
    const page: ManagementKey[] = await directory.listManagementKeys(accountId, { limit, after });
    for (const { name } of page) names.add(name);
    if (page.length < limit) return names;
    after = page.at(-1)!.id;
  }
}
