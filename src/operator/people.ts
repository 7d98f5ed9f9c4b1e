import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type AccountServices, findAccount } from '../accounts/accounts.ts';
import { hashSecret } from '../accounts/keys.ts';
import { INVITATION_PREFIX, PERSON_PREFIX, SESSION_PREFIX } from '../canonical/id-prefixes.ts';
import { formatId, parseId } from '../kit/ids.ts';
import { LIMITS } from '../limits.ts';
import { ACCOUNT_ROLES, type Person } from '../store/people.ts';
import { CAP_WINDOWS } from '../store/store.ts';
import { type ActingServices, auditRow } from './actor.ts';
import { OperatorError } from './error.ts';
import { cap, idOrName, name, page } from './input.ts';
import { accountNamed, afterId, personNamed, unknownAccount, unknownPerson } from './lookup.ts';
import {
  type InvitationView,
  invitationView,
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

export { ACCOUNT_ROLES, type AccountRole } from '../store/people.ts';

/** What the verbs about people work with. */
export interface PeopleServices extends AccountServices, ActingServices {
  /** The address that links begin with; null if none is configured and no server runs. */
  readonly publicUrl: string | null;
}

const email = z
  .string()
  .max(LIMITS.emailCharsMax)
  .regex(/^[^\s@]+@[^\s@]+$/, 'must be an email address');

export const invitationInput = z.strictObject({
  email,
  operator: z.boolean().default(false),
  account: idOrName.nullable().default(null),
  role: z.enum(ACCOUNT_ROLES).nullable().default(null),
});
export const personChoice = z.strictObject({ person: idOrName });
export const peoplePage = z.strictObject(page);
export const invitationPage = z.strictObject({ account: idOrName.nullable().default(null), ...page });
export const invitationChoice = z.strictObject({ invitation: idOrName });
export const sessionChoice = z.strictObject({ session: idOrName });
export const memberPage = z.strictObject({ account: idOrName, ...page });
export const memberChoice = z.strictObject({ account: idOrName, person: idOrName });
export const memberInput = z.strictObject({
  account: idOrName,
  person: idOrName,
  role: z.enum(ACCOUNT_ROLES),
  spend_cap_nanousd: cap.default(null),
  window: z.enum(CAP_WINDOWS).default('lifetime'),
});
export const personUpdate = z.strictObject({
  person: idOrName,
  name: name.optional(),
  operator: z.boolean().optional(),
  version: z.int().nonnegative().optional(),
});

/** The secret is part of the link and shown once. */
export type InvitedView = InvitationView & { readonly secret: string; readonly link: string | null };

/** An invitation without a role lets somebody sign in and see nothing until a role is given. */
export async function invite(services: PeopleServices, input: z.output<typeof invitationInput>): Promise<InvitedView> {
  if ((input.account === null) !== (input.role === null))
    throw new OperatorError('invalid_input', 'account and role belong together: name both, or neither.');
  const account = input.account === null ? null : await findAccount(services.store, input.account);
  if (input.account !== null && account === null) throw unknownAccount(input.account);
  return makeInvitation(services, {
    email: input.email,
    isOperator: input.operator,
    accountId: account?.id ?? null,
    role: input.role,
    resetsPersonId: null,
  });
}

/** A link that sets a new password. Whoever sends it decides who gets in, so only an operator may. */
export async function resetPerson(
  services: PeopleServices,
  input: z.output<typeof personChoice>,
): Promise<InvitedView> {
  const person = await personNamed(services, input.person);
  if (person.disabledMs !== null)
    throw new OperatorError('refused', `${person.email} is disabled. Enable the person first.`, enableHint(person));
  return makeInvitation(services, {
    email: person.email,
    isOperator: false,
    accountId: null,
    role: null,
    resetsPersonId: person.id,
  });
}

async function makeInvitation(
  services: PeopleServices,
  terms: Pick<
    Parameters<PeopleServices['store']['directory']['createInvitation']>[0],
    'email' | 'isOperator' | 'accountId' | 'role' | 'resetsPersonId'
  >,
): Promise<InvitedView> {
  const { store, clock, ids, actor, publicUrl } = services;
  const secret = randomBytes(32).toString('base64url');
  const nowMs = clock.nowMs();
  const invitation = {
    id: ids.next(),
    sha256Hex: hashSecret(secret),
    invitedBy: actor.kind === 'person' ? actor.id : (actor.mintedBy ?? null),
    createdMs: nowMs,
    expiresMs: nowMs + LIMITS.invitationMs,
    ...terms,
  };
  const view = invitationView({ ...invitation, acceptedMs: null, revokedMs: null }, nowMs);
  const action = terms.resetsPersonId === null ? 'invitation.create' : 'person.reset';
  const audit = auditRow(services, { action, subject: view.id, accountId: terms.accountId, after: view });
  await store.directory.createInvitation(invitation, audit);
  return { ...view, secret, link: publicUrl === null ? null : `${publicUrl}/console/join#${secret}` };
}

export async function listInvitations(
  services: PeopleServices,
  input: z.output<typeof invitationPage>,
): Promise<ListView<InvitationView>> {
  const account = input.account === null ? null : await accountNamed(services, input.account);
  const page = { limit: input.limit, after: afterId(INVITATION_PREFIX, input.after) };
  const rows = await services.store.directory.listInvitations(account?.id ?? null, page);
  return listView(
    rows.map((row) => invitationView(row, services.clock.nowMs())),
    input.limit,
  );
}

export async function revokeInvitation(
  services: PeopleServices,
  input: z.output<typeof invitationChoice>,
): Promise<{ object: 'invitation'; id: string; status: 'revoked' }> {
  const id = parseId(INVITATION_PREFIX, input.invitation);
  const accountId = id === null ? null : ((await services.store.directory.findInvitationById(id))?.accountId ?? null);
  const audit = auditRow(services, { action: 'invitation.revoke', subject: input.invitation, accountId });
  if (id === null || !(await services.store.directory.revokeInvitation(id, services.clock.nowMs(), audit)))
    throw new OperatorError('not_found', `There is no open invitation "${input.invitation}".`, 'tollgate people list');
  return { object: 'invitation', id: input.invitation, status: 'revoked' };
}

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
  if (changed === 'version_conflict')
    throw new OperatorError('version_conflict', 'Somebody changed this person meanwhile. Read it again.');
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

/** Gives the person a role in the account, or replaces role and cap. */
export async function putMember(services: PeopleServices, input: z.output<typeof memberInput>): Promise<MemberView> {
  const account = await accountNamed(services, input.account);
  const person = await personNamed(services, input.person);
  const membership = {
    accountId: account.id,
    personId: person.id,
    role: input.role,
    capNanousd: input.spend_cap_nanousd,
    capWindow: input.window,
  };
  const view = memberView(person, membership);
  const before = (await services.store.directory.membershipsOf(person.id)).find(
    (each) => each.accountId === account.id,
  );
  const audit = auditRow(services, {
    action: 'member.put',
    subject: view.person,
    accountId: account.id,
    before: before === undefined ? null : memberView(person, before),
    after: view,
  });
  await services.store.directory.putMembership(membership, audit);
  return view;
}

export async function removeMember(
  services: PeopleServices,
  input: z.output<typeof memberChoice>,
): Promise<{ object: 'member'; account: string; person: string; status: 'removed' }> {
  const account = await accountNamed(services, input.account);
  const person = await personNamed(services, input.person);
  const subject = formatId(PERSON_PREFIX, person.id);
  const audit = auditRow(services, { action: 'member.remove', subject, accountId: account.id });
  if (!(await services.store.directory.removeMembership(account.id, person.id, audit)))
    throw new OperatorError('not_found', `${person.email} has no role in the account "${account.name}".`);
  return { object: 'member', account: input.account, person: subject, status: 'removed' };
}

function enableHint(person: Person): string {
  return `tollgate people enable ${person.email}`;
}
