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

/** The same for somebody who is known only by name. What is not an address is the name of a key. */
export async function nameInAccount(store: People, accountId: bigint, name: string): Promise<string> {
  if (!name.includes('@')) return name;
  const person = await store.directory.findPersonByEmail(name);
  return person !== null && (await isOfAccount(store, accountId, person.id)) ? name : OPERATOR_NAME;
}
