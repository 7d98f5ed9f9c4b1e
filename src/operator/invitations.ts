import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { hashSecret } from '../accounts/keys.ts';
import { INVITATION_PREFIX, PERSON_PREFIX } from '../canonical/id-prefixes.ts';
import { formatId, parseId } from '../kit/ids.ts';
import { LIMITS } from '../limits.ts';
import { ACCOUNT_ROLES, INVITATION_STATUSES, type NewInvitation, type PersonCap } from '../store/people.ts';
import { CAP_WINDOWS } from '../store/store.ts';
import { auditRow } from './actor.ts';
import { invalidMember, OperatorError } from './error.ts';
import { cap, idOrName, page } from './input.ts';
import { accountNamed, afterId, personNamed } from './lookup.ts';
import type { PeopleServices, personChoice } from './people.ts';
import { type InvitationView, invitationView } from './people-view.ts';
import { type ListView, listView } from './view.ts';

const email = z
  .string()
  .max(LIMITS.emailCharsMax)
  .regex(/^[^\s\p{C}@]+@[^\s\p{C}@]+$/u, 'must be an email address');

export const invitationInput = z.strictObject({
  email,
  operator: z.boolean().default(false),
  account: idOrName.nullable().default(null),
  role: z.enum(ACCOUNT_ROLES).nullable().default(null),
  /** What all keys of the person may spend in the account. Without it, somebody who comes back keeps their earlier cap. */
  spend_cap_nanousd: cap.default(null),
  window: z.enum(CAP_WINDOWS).optional(),
});
export const invitationPage = z.strictObject({
  account: idOrName.nullable().default(null),
  status: z.enum(INVITATION_STATUSES).nullable().default(null).describe('Only those that have this status now.'),
  ...page,
});
export const invitationChoice = z.strictObject({ invitation: idOrName });

/** The secret is part of the link and shown once. */
export type InvitedView = InvitationView & { readonly secret: string; readonly link: string | null };

/** An invitation without a role lets somebody sign in and see nothing until a role is given. */
export async function invite(services: PeopleServices, input: z.output<typeof invitationInput>): Promise<InvitedView> {
  if ((input.account === null) !== (input.role === null))
    throw new OperatorError('invalid_input', 'account and role belong together: name both, or neither.');
  const account = input.account === null ? null : await accountNamed(services, input.account);
  return makeInvitation(services, {
    email: input.email,
    isOperator: input.operator,
    accountId: account?.id ?? null,
    role: input.role,
    cap: capOf(input),
    resetsPersonId: null,
  });
}

function capOf({ account, spend_cap_nanousd: capNanousd, window }: z.output<typeof invitationInput>): PersonCap | null {
  if (capNanousd === null && window === undefined) return null;
  if (capNanousd === null) throw invalidMember('window', 'sets when a cap resets. Name spend_cap_nanousd too.');
  if (account === null)
    throw new OperatorError('invalid_input', 'A cap is for one account. Name account and role too.');
  return { capNanousd, capWindow: window ?? 'lifetime' };
}

/** A link that sets a new password. Its sender decides who can sign in with it, so only an operator may make one. */
export async function resetPerson(
  services: PeopleServices,
  input: z.output<typeof personChoice>,
): Promise<InvitedView> {
  const person = await personNamed(services, input.person);
  const hint = `tollgate people enable ${person.email}`;
  if (person.disabledMs !== null)
    throw new OperatorError('refused', `${person.email} is disabled. Enable the person first.`, hint);
  return makeInvitation(services, {
    email: person.email,
    isOperator: false,
    accountId: null,
    role: null,
    cap: null,
    resetsPersonId: person.id,
  });
}

type InvitationTerms = Pick<NewInvitation, 'email' | 'isOperator' | 'accountId' | 'role' | 'cap' | 'resetsPersonId'>;

async function makeInvitation(services: PeopleServices, terms: InvitationTerms): Promise<InvitedView> {
  const { store, clock, ids, actor, publicUrl } = services;
  const secret = randomBytes(32).toString('base64url');
  const nowMs = clock.nowMs();
  const invitation = {
    id: ids.next(),
    sha256Hex: hashSecret(secret),
    invitedBy: actor.kind === 'person' ? actor.id : (actor.mintedBy ?? null),
    madeWith: actor.kind === 'management_key' ? actor.id : null,
    createdMs: nowMs,
    expiresMs: nowMs + LIMITS.invitationMs,
    ...terms,
  };
  const view = invitationView({ ...invitation, acceptedMs: null, revokedMs: null }, nowMs);
  const change =
    terms.resetsPersonId === null
      ? { action: 'invitation.create', subject: view.id }
      : { action: 'person.reset', subject: formatId(PERSON_PREFIX, terms.resetsPersonId) };
  const audit = auditRow(services, { ...change, accountId: terms.accountId, after: view });
  const made = await store.directory.createInvitation(invitation, audit);
  if (made === 'too_many')
    throw new OperatorError(
      'refused',
      `The account has ${LIMITS.openInvitationsMax} open invitations. Revoke some, or wait until they expire.`,
    );
  return { ...view, secret, link: publicUrl === null ? null : `${publicUrl}/console/join#${secret}` };
}

export async function listInvitations(
  services: PeopleServices,
  input: z.output<typeof invitationPage>,
): Promise<ListView<InvitationView>> {
  const account = input.account === null ? null : await accountNamed(services, input.account);
  const page = { limit: input.limit, after: afterId(INVITATION_PREFIX, input.after) };
  const nowMs = services.clock.nowMs();
  const at = input.status === null ? undefined : { status: input.status, nowMs };
  const rows = await services.store.directory.listInvitations(account?.id ?? null, page, at);
  return listView(
    rows.map((row) => invitationView(row, nowMs)),
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
