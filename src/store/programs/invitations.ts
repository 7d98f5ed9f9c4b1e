import { LIMITS } from '../../limits.ts';
import { CAP_WINDOW } from '../codes.ts';
import {
  ACCOUNT_ROLES,
  type Acceptance,
  type Accepting,
  type AuditRow,
  type Invitation,
  type InvitationStatus,
  isOpenInvitation,
  type NewInvitation,
  type Offer,
  type Person,
} from '../people.ts';
import { writeAudit } from './audit.ts';
import { findManagementKey } from './management-keys.ts';
import { findPersonCap, mayJoin, membershipsOf, storeMembership } from './memberships.ts';
import { emailKey, findPerson, findPersonByEmail, insertPerson } from './people.ts';
import { insert, type Program, query, rowOf, rowsOf } from './program.ts';

interface InvitationColumns {
  readonly id: bigint;
  readonly sha256: string;
  readonly email: string;
  readonly operator: bigint;
  readonly account_id: bigint | null;
  readonly role: bigint | null;
  readonly invited_by: bigint | null;
  readonly made_with: bigint | null;
  readonly cap: bigint | null;
  readonly cap_window: bigint | null;
  readonly resets_person: bigint | null;
  readonly created_ms: bigint;
  readonly expires_ms: bigint;
  readonly accepted_ms: bigint | null;
  readonly revoked_ms: bigint | null;
}

/** `too_many`: the account has as many open invitations as it may. */
export function* createInvitation(invitation: NewInvitation, audit: AuditRow): Program<'created' | 'too_many'> {
  yield { lock: 'people' };
  if (invitation.accountId !== null) {
    const open = yield* rowOf<{ count: bigint }>(
      `SELECT count(*) AS count FROM invitation
       WHERE account_id = ? AND accepted_ms IS NULL AND revoked_ms IS NULL AND expires_ms > ?`,
      invitation.accountId,
      invitation.createdMs,
    );
    if (open!.count >= LIMITS.openInvitationsMax) return 'too_many';
  }
  yield insert('invitation', {
    id: invitation.id,
    sha256: invitation.sha256Hex,
    email: invitation.email,
    email_key: emailKey(invitation.email),
    operator: invitation.isOperator ? 1 : 0,
    account_id: invitation.accountId,
    role: invitation.role === null ? null : ACCOUNT_ROLES.indexOf(invitation.role),
    invited_by: invitation.invitedBy,
    made_with: invitation.madeWith,
    cap: invitation.cap?.capNanousd ?? null,
    cap_window: invitation.cap === null ? null : CAP_WINDOW.of[invitation.cap.capWindow],
    resets_person: invitation.resetsPersonId,
    created_ms: invitation.createdMs,
    expires_ms: invitation.expiresMs,
  });
  yield* writeAudit(audit);
  return 'created';
}

export function* findInvitation(sha256Hex: string): Program<Invitation | null> {
  const row = yield* rowOf<InvitationColumns>('SELECT * FROM invitation WHERE sha256 = ?', sha256Hex);
  return row === null ? null : invitationOf(row);
}

/** Open ones for this address, oldest first: single sign-on gives their roles to a verified address. */
export function* invitationsFor(email: string, nowMs: number): Program<Invitation[]> {
  const rows = yield* rowsOf<InvitationColumns>(
    `SELECT * FROM invitation WHERE email_key = ? AND resets_person IS NULL AND accepted_ms IS NULL AND revoked_ms IS NULL AND expires_ms > ?
     ORDER BY id`,
    emailKey(email),
    nowMs,
  );
  return rows.map(invitationOf);
}

export function* findInvitationById(id: bigint): Program<Invitation | null> {
  const row = yield* rowOf<InvitationColumns>('SELECT * FROM invitation WHERE id = ?', id);
  return row === null ? null : invitationOf(row);
}

export function* findOffer(sha256Hex: string, nowMs: number): Program<Offer | null> {
  const invitation = yield* findInvitation(sha256Hex);
  if (invitation === null || !isOpenInvitation(invitation, nowMs)) return null;
  if ((yield* giverOf(invitation, nowMs)) === null) return null;
  const known = yield* findPersonByEmail(invitation.email);
  const account = yield* rowOf<{ name: string }>('SELECT name FROM account WHERE id = ?', invitation.accountId);
  const mayAccept = known === null || mayJoin(known, joined(invitation));
  return { invitation, accountName: account?.name ?? null, known, mayJoin: mayAccept };
}

/** Null for the whole gateway. */
function joined({ isOperator, accountId }: Invitation): bigint | null {
  return isOperator ? null : accountId;
}

export function* listInvitations(
  accountId: bigint | null,
  page: { readonly after: bigint | null; readonly limit: number },
  at?: { readonly status: InvitationStatus; readonly nowMs: number },
): Program<Invitation[]> {
  const ofAccount = accountId === null ? '' : 'AND account_id = ?';
  const ofStatus = at === undefined ? '' : `AND ${HAS_STATUS[at.status]}`;
  const rows = yield* rowsOf<InvitationColumns>(
    `SELECT * FROM invitation WHERE id > ? ${ofAccount} ${ofStatus} ORDER BY id LIMIT ?`,
    page.after ?? 0n,
    ...(accountId === null ? [] : [accountId]),
    ...(ofStatus.includes('?') ? [at!.nowMs] : []),
    page.limit,
  );
  return rows.map(invitationOf);
}

/** The same as `invitationStatus` decides. */
const HAS_STATUS: Readonly<Record<InvitationStatus, string>> = {
  open: 'accepted_ms IS NULL AND revoked_ms IS NULL AND expires_ms > ?',
  accepted: 'accepted_ms IS NOT NULL',
  revoked: 'accepted_ms IS NULL AND revoked_ms IS NOT NULL',
  expired: 'accepted_ms IS NULL AND revoked_ms IS NULL AND expires_ms <= ?',
};

export function* revokeInvitation(id: bigint, nowMs: number, audit: AuditRow): Program<boolean> {
  const revoked = yield* rowOf(
    'UPDATE invitation SET revoked_ms = ? WHERE id = ? AND accepted_ms IS NULL AND revoked_ms IS NULL RETURNING id',
    nowMs,
    id,
  );
  if (revoked === null) return false;
  yield* writeAudit(audit);
  return true;
}

/** Deletes links that ended before then. None works after its time, so the other ways to end need no look. */
export function* forgetInvitations(endedBeforeMs: number, limit: number): Program<number> {
  const rows = yield* rowsOf(
    'DELETE FROM invitation WHERE id IN (SELECT id FROM invitation WHERE expires_ms < ? ORDER BY id LIMIT ?) RETURNING id',
    endedBeforeMs,
    limit,
  );
  return rows.length;
}

/** Gives the invitation's roles and closes it, in one commit: of two who accept at once, one succeeds. */
export function* acceptInvitation(
  sha256Hex: string,
  who: Accepting,
  nowMs: number,
  audit: AuditRow,
): Program<Acceptance> {
  yield { lock: 'people' };
  const invitation = yield* findInvitation(sha256Hex);
  if (invitation === null || invitation.resetsPersonId !== null || !isOpenInvitation(invitation, nowMs))
    return 'not_open';
  const giver = yield* giverOf(invitation, nowMs);
  if (giver === null) return 'not_open';
  const known = yield* findPersonByEmail(invitation.email);
  if ('newPerson' in who) {
    if (known !== null) return 'person_exists';
    // The provider of single sign-on has verified the address of a person with an identity.
    const isConfirmed = giver === 'operator' || who.newPerson.identity !== null;
    yield insertPerson({ ...who.newPerson, email: invitation.email }, isConfirmed ? null : invitation.accountId);
  } else if (known?.id !== who.personId || known.disabledMs !== null) return 'other_person';
  else if (!mayJoin(known, joined(invitation))) return 'unconfirmed';
  const personId = 'newPerson' in who ? who.newPerson.id : who.personId;
  yield* giveRoles(personId, invitation, nowMs);
  yield query('UPDATE invitation SET accepted_ms = ? WHERE id = ?', nowMs, invitation.id);
  yield* writeAudit(audit);
  return (yield* findPerson(personId))!;
}

/**
 * Sets the password of the person that the link was made for. Every other way to use the gateway in their name ends:
 * sessions, the identity of single sign-on, management keys they minted, and other such links. Only operators make these
 * links, so the address is confirmed from then on.
 */
export function* resetPassword(
  sha256Hex: string,
  passwordHash: string,
  nowMs: number,
  audit: AuditRow,
): Program<Person | 'not_open'> {
  yield { lock: 'people' };
  const invitation = yield* findInvitation(sha256Hex);
  const personId = invitation?.resetsPersonId ?? null;
  if (invitation === null || personId === null || !isOpenInvitation(invitation, nowMs)) return 'not_open';
  if ((yield* giverOf(invitation, nowMs)) === null) return 'not_open';
  const changed = yield* rowOf(
    `UPDATE person SET password = ?, sso_issuer = NULL, sso_subject = NULL, unconfirmed_in = NULL, version = version + 1
     WHERE id = ? AND disabled_ms IS NULL RETURNING id`,
    passwordHash,
    personId,
  );
  if (changed === null) return 'not_open';
  yield query('DELETE FROM session WHERE person_id = ?', personId);
  yield query('UPDATE management_key SET revoked_ms = ? WHERE minted_by = ? AND revoked_ms IS NULL', nowMs, personId);
  yield query('UPDATE invitation SET accepted_ms = ? WHERE id = ?', nowMs, invitation.id);
  yield query(
    'UPDATE invitation SET revoked_ms = ? WHERE resets_person = ? AND accepted_ms IS NULL AND revoked_ms IS NULL',
    nowMs,
    personId,
  );
  yield* writeAudit(audit);
  return (yield* findPerson(personId))!;
}

/**
 * The capacity in which the link's maker may still give what it gives; null if they no longer may, or if the key that
 * made it has ended.
 */
function* giverOf(invitation: Invitation, nowMs: number): Program<'operator' | 'owner' | null> {
  const { invitedBy, madeWith, accountId, isOperator, resetsPersonId } = invitation;
  const key = madeWith === null ? null : yield* findManagementKey(madeWith);
  if (key !== null && (key.revokedMs !== null || (key.expiresMs !== null && key.expiresMs <= nowMs))) return null;
  const isByOperator = yield* isOperatorNow(invitedBy);
  if (isByOperator && (key === null || key.accountId === null)) return 'operator';
  if (isOperator || resetsPersonId !== null || accountId === null) return null;
  return isByOperator || (yield* isOwnerNow(invitedBy!, accountId)) ? 'owner' : null;
}

/** Null is the command line. */
function* isOperatorNow(personId: bigint | null): Program<boolean> {
  if (personId === null) return true;
  const person = yield* findPerson(personId);
  return person !== null && person.disabledMs === null && person.isOperator;
}

function* isOwnerNow(personId: bigint, accountId: bigint): Program<boolean> {
  const person = yield* findPerson(personId);
  if (person === null || person.disabledMs !== null) return false;
  const roles = yield* membershipsOf(personId);
  return roles.some((each) => each.accountId === accountId && each.role === 'owner');
}

/** Without a cap in the invitation, somebody who has or had a role in the account keeps the cap from then. */
function* giveRoles(personId: bigint, { isOperator, accountId, role, cap }: Invitation, nowMs: number): Program<void> {
  if (isOperator) yield query('UPDATE person SET operator = 1, version = version + 1 WHERE id = ?', personId);
  if (accountId !== null && role !== null) {
    const before = cap ?? (yield* findPersonCap(accountId, personId));
    const { capNanousd, capWindow } = before ?? { capNanousd: null, capWindow: 'lifetime' };
    yield* storeMembership({ accountId, personId, role, capNanousd, capWindow }, nowMs);
  }
}

function invitationOf(row: InvitationColumns): Invitation {
  return {
    id: row.id,
    sha256Hex: row.sha256,
    email: row.email,
    isOperator: row.operator === 1n,
    accountId: row.account_id,
    role: row.role === null ? null : ACCOUNT_ROLES[Number(row.role)]!,
    invitedBy: row.invited_by,
    madeWith: row.made_with,
    cap: row.cap_window === null ? null : { capNanousd: row.cap, capWindow: CAP_WINDOW.word(row.cap_window) },
    resetsPersonId: row.resets_person,
    createdMs: Number(row.created_ms),
    expiresMs: Number(row.expires_ms),
    acceptedMs: row.accepted_ms === null ? null : Number(row.accepted_ms),
    revokedMs: row.revoked_ms === null ? null : Number(row.revoked_ms),
  };
}
