import { findAccount } from '../accounts/accounts.ts';
import { KEY_PREFIX, PERSON_PREFIX, REQUEST_PREFIX } from '../canonical/id-prefixes.ts';
import type { Receipt } from '../canonical/receipt.ts';
import { parseId } from '../kit/ids.ts';
import type { Person } from '../store/people.ts';
import { ArchiveUnreadable } from '../store/receipt-archive.ts';
import type { Account, KeyRow, Store } from '../store/store.ts';
import { invalidMember, OperatorError } from './error.ts';

interface Books {
  readonly store: Store;
}

export async function accountNamed({ store }: Books, idOrName: string): Promise<Account> {
  const account = await findAccount(store, idOrName);
  if (account === null) throw unknownAccount(idOrName);
  return account;
}

export async function keyNamed({ store }: Books, idText: string): Promise<KeyRow> {
  const id = parseId(KEY_PREFIX, idText);
  const key = id === null ? null : await store.findKey(id);
  if (key === null) throw unknownKey(idText);
  return key;
}

/** A key that a list or a report is about; null if it is about all keys. A key of another account would find nothing. */
export async function keyIn(books: Books, idText: string | null, account: Account | null): Promise<KeyRow | null> {
  if (idText === null) return null;
  const key = await keyNamed(books, idText);
  if (account === null || key.accountId === account.id) return key;
  throw new OperatorError('invalid_input', `The key ${idText} does not belong to the account "${account.name}".`);
}

export async function receiptNamed({ store }: Books, idText: string): Promise<Receipt> {
  const id = parseId(REQUEST_PREFIX, idText);
  const receipt = id === null ? null : ((await store.findReceipt(id, null)) ?? (await archived(store, id)));
  if (receipt !== null) return receipt;
  throw new OperatorError('not_found', `There is no receipt "${idText}".`, 'tollgate receipts list');
}

/** Says why a receipt that was archived cannot be shown. */
async function archived(store: Store, id: bigint): Promise<Receipt | null> {
  try {
    return await store.archive.find(id, null);
  } catch (error) {
    if (error instanceof ArchiveUnreadable) throw new OperatorError('not_found', error.message);
    throw error;
  }
}

export function unknownAccount(idOrName: string): OperatorError {
  return new OperatorError('not_found', `There is no account "${idOrName}".`, 'tollgate accounts list');
}

/** The text is repeated only if it is an id: it may be a secret, pasted by mistake. */
export function unknownKey(idText: string): OperatorError {
  const named =
    parseId(KEY_PREFIX, idText) === null ? 'Name the key by its id, like key_….' : `There is no key ${idText}.`;
  return new OperatorError('not_found', named, 'tollgate keys list');
}

/** By id or by email address. */
export async function personNamed(books: Books, idOrEmail: string): Promise<Person> {
  const person = await findPerson(books, idOrEmail);
  if (person === null) throw unknownPerson(idOrEmail);
  return person;
}

export function findPerson({ store }: Books, idOrEmail: string): Promise<Person | null> {
  const id = parseId(PERSON_PREFIX, idOrEmail);
  return id === null ? store.directory.findPersonByEmail(idOrEmail) : store.directory.findPerson(id);
}

/** Strangers to the account are the same as people who do not exist, so that nobody learns who uses the gateway. */
export async function personIn(books: Books, idOrEmail: string, account: Account | null): Promise<Person> {
  if (account === null) return personNamed(books, idOrEmail);
  const person = await findPerson(books, idOrEmail);
  const memberships = person === null ? [] : await books.store.directory.membershipsOf(person.id);
  if (person !== null && memberships.some(({ accountId }) => accountId === account.id)) return person;
  throw new OperatorError('not_found', `There is no person "${idOrEmail}" in this account.`, 'tollgate people list');
}

export function unknownPerson(idOrEmail: string): OperatorError {
  return new OperatorError('not_found', `There is no person "${idOrEmail}".`, 'tollgate people list');
}

/** The id that a page starts after; null for the first page. */
export function afterId(prefix: string, text: string | null): bigint | null {
  return optionalId(prefix, text, 'after');
}

/** The id that this member of the input names; null if it is absent. */
export function optionalId(prefix: string, text: string | null, member: string): bigint | null {
  if (text === null) return null;
  const id = parseId(prefix, text);
  if (id === null) throw invalidMember(member, `must be an id, like ${prefix}….`);
  return id;
}
