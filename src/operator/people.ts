import { z } from 'zod';
import type { AccountServices } from '../accounts/accounts.ts';
import { ACCOUNT_PREFIX, PERSON_PREFIX, SESSION_PREFIX } from '../canonical/id-prefixes.ts';
import { stringifyJson } from '../json/stringify.ts';
import { formatId, parseId } from '../kit/ids.ts';
import { shellWord } from '../kit/shell-words.ts';
import { ACCOUNT_ROLES, type Person, type PersonCap } from '../store/people.ts';
import { type Account, CAP_WINDOWS } from '../store/store.ts';
import { type ActingServices, auditRow } from './actor.ts';
import { actsAsOperator } from './acts-as-operator.ts';
import { againIfChanged } from './again-if-changed.ts';
import { invalidMember, noLongerAllowed, OperatorError, versionConflict } from './error.ts';
import { cap, idOrName, name, page } from './input.ts';
import { accountNamed, afterId, personIn, personNamed, unknownPerson } from './lookup.ts';
import { isOfAccount } from './names-in-account.ts';
import {
  type MemberSpendingView,
  type MemberView,
  memberSpendingView,
  memberView,
  type PersonView,
  personView,
  type SessionView,
  sessionView,
} from './people-view.ts';
import { type ListView, listView } from './view.ts';

/** What the verbs about people work with. */
export interface PeopleServices extends AccountServices, ActingServices {
  /** The address that links begin with; null if none is configured. */
  readonly publicUrl: string | null;
}

export const personChoice = z.strictObject({ person: idOrName });
export const peoplePage = z.strictObject(page);
export const sessionChoice = z.strictObject({ session: idOrName });
export const memberPage = z.strictObject({ account: idOrName, ...page });
export const memberChoice = z.strictObject({ account: idOrName, person: idOrName });
/** Fields that are absent stay as they are; a new member needs a role. */
export const memberInput = z.strictObject({
  account: idOrName,
  person: idOrName,
  role: z.enum(ACCOUNT_ROLES).optional(),
  spend_cap_nanousd: cap.optional(),
  window: z.enum(CAP_WINDOWS).optional(),
});
export const personUpdate = z.strictObject({
  person: idOrName,
  name: name.optional(),
  operator: z.boolean().optional(),
  version: z.int().nonnegative().optional(),
});

export async function listPeople(
  { store }: PeopleServices,
  input: z.output<typeof peoplePage>,
): Promise<ListView<PersonView>> {
  const people = await store.directory.listPeople({ limit: input.limit, after: afterId(PERSON_PREFIX, input.after) });
  return listView(people.map(personView), input.limit);
}

export async function showPerson(
  services: PeopleServices,
  input: z.output<typeof personChoice>,
): Promise<PersonView & { readonly roles: readonly MemberView[] }> {
  const person = await personNamed(services, input.person);
  const memberships = await services.store.directory.membershipsOf(person.id);
  return { ...personView(person), roles: memberships.map((membership) => memberView(person, membership)) };
}

export async function updatePerson(
  services: PeopleServices,
  input: z.output<typeof personUpdate>,
): Promise<PersonView> {
  const person = await personNamed(services, input.person);
  const change = {
    ...(input.name !== undefined && { name: input.name }),
    ...(input.operator !== undefined && { isOperator: input.operator }),
  };
  if (Object.keys(change).length === 0)
    throw new OperatorError('invalid_input', 'Name at least one setting to change.');
  const subject = formatId(PERSON_PREFIX, person.id);
  const { name: nameBefore, operator } = personView(person);
  const after = { name: input.name ?? nameBefore, operator: input.operator ?? operator };
  const audit = auditRow(services, { action: 'person.change', subject, before: { name: nameBefore, operator }, after });
  const version = input.version === undefined ? null : BigInt(input.version);
  const changed = await services.store.directory.changePerson(person.id, change, version, audit);
  if (changed === 'version_conflict') throw versionConflict('person');
  if (changed === 'unconfirmed') throw unconfirmed(person);
  if (changed === 'not_allowed') throw noLongerAllowed();
  if (typeof changed === 'string') throw unknownPerson(input.person);
  return personView(changed);
}

/** Ends the person's sessions, disables their keys and revokes the management keys they minted. */
export async function disablePerson(
  services: PeopleServices,
  input: z.output<typeof personChoice>,
): Promise<PersonView> {
  const person = await personNamed(services, input.person);
  const subject = formatId(PERSON_PREFIX, person.id);
  const audit = auditRow(services, { action: 'person.disable', subject, after: { status: 'disabled' } });
  const disabled = await services.store.directory.disablePerson(person.id, services.clock.nowMs(), audit);
  if (disabled === 'not_allowed') throw noLongerAllowed();
  if (disabled === 'not_found') throw unknownPerson(input.person);
  return personView(disabled);
}

export async function enablePerson(
  services: PeopleServices,
  input: z.output<typeof personChoice>,
): Promise<PersonView> {
  const person = await personNamed(services, input.person);
  const subject = formatId(PERSON_PREFIX, person.id);
  const audit = auditRow(services, { action: 'person.enable', subject, after: { status: 'active' } });
  const enabled = await services.store.directory.enablePerson(person.id, audit);
  if (enabled === 'not_allowed') throw noLongerAllowed();
  if (enabled === 'not_found') throw unknownPerson(input.person);
  return personView(enabled);
}

export async function listSessions(
  services: PeopleServices,
  input: z.output<typeof personChoice>,
): Promise<ListView<SessionView>> {
  const { id } = await personNamed(services, input.person);
  const sessions = await services.store.directory.listSessions(id);
  return { object: 'list', data: sessions.map(sessionView), next: null };
}

export async function endSession(
  services: PeopleServices,
  input: z.output<typeof sessionChoice>,
): Promise<{ object: 'session'; id: string; status: 'ended' }> {
  const id = parseId(SESSION_PREFIX, input.session);
  const audit = auditRow(services, { action: 'session.end', subject: input.session });
  if (id === null || !(await services.store.directory.endSession(id, null, audit)))
    throw new OperatorError('not_found', `There is no session "${input.session}".`, 'tollgate people sessions PERSON');
  return { object: 'session', id: input.session, status: 'ended' };
}

export async function signOut(
  services: PeopleServices,
  input: z.output<typeof personChoice>,
): Promise<{ object: 'person'; id: string; sessions_ended: number }> {
  const person = await personNamed(services, input.person);
  const subject = formatId(PERSON_PREFIX, person.id);
  const audit = auditRow(services, { action: 'person.sign_out', subject });
  const ended = await services.store.directory.endSessionsOf(person.id, audit);
  return { object: 'person', id: subject, sessions_ended: ended };
}

export async function listMembers(
  services: PeopleServices,
  input: z.output<typeof memberPage>,
): Promise<ListView<MemberSpendingView>> {
  const account = await accountNamed(services, input.account);
  const page = { limit: input.limit, after: afterId(PERSON_PREFIX, input.after) };
  const members = await services.store.directory.listMembers(account.id, page, services.clock.nowMs());
  const views = members.map(memberSpendingView);
  return { object: 'list', data: views, next: views.length === input.limit ? (views.at(-1)?.person ?? null) : null };
}

/**
 * Gives the person a role in the account, or changes role and cap. Somebody who comes back keeps their earlier cap,
 * unless another is named.
 */
export function putMember(services: PeopleServices, input: z.output<typeof memberInput>): Promise<MemberView> {
  return againIfChanged('this member', () => changeMember(services, input, { mayJoin: true }));
}

/** Changes role and cap of somebody who has a role in the account: whoever was removed meanwhile does not come back. */
export async function updateMember(services: PeopleServices, input: z.output<typeof memberInput>): Promise<MemberView> {
  if (input.role === undefined && input.spend_cap_nanousd === undefined && input.window === undefined)
    throw new OperatorError('invalid_input', 'Name at least one setting to change: role, spend_cap_nanousd or window.');
  return againIfChanged('this member', () => changeMember(services, input, { mayJoin: false }));
}

/**
 * An owner who gives a role to somebody new has to know their address: owners read the ids of operators in the audit, and
 * would learn the address from the answer.
 */
async function personToJoin(services: PeopleServices, idOrEmail: string, account: Account): Promise<Person> {
  const person = await personNamed(services, idOrEmail);
  if (parseId(PERSON_PREFIX, idOrEmail) === null || (await isOfAccount(services.store, account.id, person.id)))
    return person;
  if (await actsAsOperator(services)) return person;
  throw unknownPerson(idOrEmail);
}

async function changeMember(
  services: PeopleServices,
  input: z.output<typeof memberInput>,
  { mayJoin }: { readonly mayJoin: boolean },
): Promise<MemberView | 'changed'> {
  const { directory } = services.store;
  const account = await accountNamed(services, input.account);
  const person = await (mayJoin ? personToJoin : personIn)(services, input.person, account);
  const before = (await directory.membershipsOf(person.id)).find((each) => each.accountId === account.id);
  if (before === undefined && !mayJoin) return 'changed';
  const role = input.role ?? before?.role;
  if (role === undefined)
    throw new OperatorError(
      'invalid_input',
      `${person.email} has no role in the account "${account.name}". Name a role.`,
      `tollgate people invite ${shellWord(person.email)} --account ${shellWord(account.name)} --role member`,
    );
  // What the change is compared with, and what the audit says was before, must come from one read.
  const known = before ?? (await directory.findPersonCap(account.id, person.id));
  const membership = { accountId: account.id, personId: person.id, role, ...capOf(input, known) };
  const view = memberView(person, membership);
  const isSame = before !== undefined && stringifyJson(memberView(person, before)) === stringifyJson(view);
  if (isSame) return view;
  const audit = auditRow(services, {
    action: 'member.put',
    subject: view.person,
    accountId: account.id,
    before: before === undefined ? null : memberView(person, before),
    after: view,
  });
  const outcome = await directory.putMembership(membership, audit, { role: before?.role ?? null, cap: known });
  if (outcome === 'unconfirmed') throw unconfirmed(person);
  if (outcome === 'not_allowed') throw noLongerAllowed();
  return outcome === 'changed' ? 'changed' : view;
}

function capOf(
  { spend_cap_nanousd: named, window }: Pick<z.output<typeof memberInput>, 'spend_cap_nanousd' | 'window'>,
  known: PersonCap | null,
): PersonCap {
  const capNanousd = named === undefined ? (known?.capNanousd ?? null) : named;
  if (window !== undefined && capNanousd === null)
    throw invalidMember('window', 'sets when a cap resets. Name spend_cap_nanousd too.');
  return { capNanousd, capWindow: window ?? known?.capWindow ?? 'lifetime' };
}

/** The reset link goes to the holder of the address. It ends every other way to sign in as this person. */
function unconfirmed({ email }: Person): OperatorError {
  return new OperatorError(
    'refused',
    `The email address ${email} is not confirmed: only an owner of another account has invited it. An operator can confirm it with a reset link.`,
    `tollgate people reset ${email}`,
  );
}

export async function removeMember(
  services: PeopleServices,
  input: z.output<typeof memberChoice>,
): Promise<{ object: 'member'; account: string; person: string; status: 'removed' }> {
  const account = await accountNamed(services, input.account);
  const person = await personIn(services, input.person, account);
  const subject = formatId(PERSON_PREFIX, person.id);
  const audit = auditRow(services, { action: 'member.remove', subject, accountId: account.id });
  const removed = await services.store.directory.removeMembership(account.id, person.id, audit);
  if (removed === 'not_allowed') throw noLongerAllowed();
  if (!removed) throw new OperatorError('not_found', `${person.email} has no role in the account "${account.name}".`);
  return { object: 'member', account: formatId(ACCOUNT_PREFIX, account.id), person: subject, status: 'removed' };
}
