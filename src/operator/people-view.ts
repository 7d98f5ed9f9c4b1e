import { describeKey } from '../accounts/keys.ts';
import {
  ACCOUNT_PREFIX,
  AUDIT_PREFIX,
  INVITATION_PREFIX,
  KEY_PREFIX,
  MANAGEMENT_KEY_PREFIX,
  PERSON_PREFIX,
  SESSION_PREFIX,
} from '../canonical/id-prefixes.ts';
import { tryParseExact } from '../json/json.ts';
import { formatId } from '../kit/ids.ts';
import { secondsOrNull, toSeconds } from '../kit/unix-seconds.ts';
import type {
  AccountRole,
  ActorKind,
  AuditRow,
  Invitation,
  InvitationStatus,
  ManagementKey,
  Member,
  Membership,
  Person,
  Session,
} from '../store/people.ts';
import type { CapWindow } from '../store/store.ts';

/** Times are in seconds since 1970, as everywhere in the interface. */
export interface PersonView {
  readonly object: 'person';
  readonly id: string;
  readonly email: string;
  /** False while only an owner of one account has invited the address: until then the person has no role elsewhere. */
  readonly address_confirmed: boolean;
  readonly name: string;
  readonly operator: boolean;
  readonly status: 'active' | 'disabled';
  /** How the person can sign in; both are false until an invitation is accepted. */
  readonly password: boolean;
  readonly single_sign_on: boolean;
  readonly created: number;
  readonly version: number;
}

export function personView(person: Person): PersonView {
  return {
    object: 'person',
    id: formatId(PERSON_PREFIX, person.id),
    email: person.email,
    address_confirmed: person.unconfirmedIn === null,
    name: person.name,
    operator: person.isOperator,
    status: person.disabledMs === null ? 'active' : 'disabled',
    password: person.passwordHash !== null,
    single_sign_on: person.identity !== null,
    created: toSeconds(person.createdMs),
    version: Number(person.version),
  };
}

export interface MemberView {
  readonly object: 'member';
  readonly account: string;
  readonly person: string;
  readonly email: string;
  readonly address_confirmed: boolean;
  readonly name: string;
  readonly role: AccountRole;
  readonly spend_cap_nanousd: bigint | null;
  readonly window: CapWindow;
}

export function memberView(person: Person, membership: Membership): MemberView {
  return {
    object: 'member',
    account: formatId(ACCOUNT_PREFIX, membership.accountId),
    person: formatId(PERSON_PREFIX, person.id),
    email: person.email,
    address_confirmed: person.unconfirmedIn === null,
    name: person.name,
    role: membership.role,
    spend_cap_nanousd: membership.capNanousd,
    window: membership.capWindow,
  };
}

/** With what the person's keys have spent and held in the present window. */
export interface MemberSpendingView extends MemberView {
  readonly spent_nanousd: bigint;
  readonly held_nanousd: bigint;
  readonly reserved_nanousd: bigint;
  /** Null without a cap. */
  readonly remaining_nanousd: bigint | null;
  /** Null for a cap that never resets. */
  readonly resets_at: number | null;
}

export function memberSpendingView({ person, membership, window }: Member): MemberSpendingView {
  const { capNanousd } = membership;
  const left =
    capNanousd === null ? null : capNanousd - window.spentNanousd - window.heldNanousd - window.reservedNanousd;
  return {
    ...memberView(person, membership),
    spent_nanousd: window.spentNanousd,
    held_nanousd: window.heldNanousd,
    reserved_nanousd: window.reservedNanousd,
    remaining_nanousd: left !== null && left < 0n ? 0n : left,
    resets_at: secondsOrNull(window.resetsMs),
  };
}

export interface InvitationView {
  readonly object: 'invitation';
  readonly id: string;
  readonly email: string;
  readonly operator: boolean;
  readonly account: string | null;
  readonly role: AccountRole | null;
  /** What all keys of the person may spend in the account; null keeps the cap that the person has, if any. */
  readonly spend_cap_nanousd: bigint | null;
  readonly window: CapWindow;
  /** It sets a new password for a person who already exists. */
  readonly resets_password: boolean;
  readonly status: InvitationStatus;
  readonly created: number;
  readonly expires: number;
}

export function invitationView(invitation: Invitation, nowMs: number): InvitationView {
  return {
    object: 'invitation',
    id: formatId(INVITATION_PREFIX, invitation.id),
    email: invitation.email,
    operator: invitation.isOperator,
    account: invitation.accountId === null ? null : formatId(ACCOUNT_PREFIX, invitation.accountId),
    role: invitation.role,
    spend_cap_nanousd: invitation.cap?.capNanousd ?? null,
    window: invitation.cap?.capWindow ?? 'lifetime',
    resets_password: invitation.resetsPersonId !== null,
    status: invitationStatus(invitation, nowMs),
    created: toSeconds(invitation.createdMs),
    expires: toSeconds(invitation.expiresMs),
  };
}

function invitationStatus({ acceptedMs, revokedMs, expiresMs }: Invitation, nowMs: number): InvitationStatus {
  if (acceptedMs !== null) return 'accepted';
  if (revokedMs !== null) return 'revoked';
  return expiresMs <= nowMs ? 'expired' : 'open';
}

export interface SessionView {
  readonly object: 'session';
  readonly id: string;
  readonly person: string;
  readonly created: number;
  readonly last_used: number;
  readonly expires: number;
  readonly address: string;
  readonly user_agent: string;
}

export function sessionView(session: Session): SessionView {
  return {
    object: 'session',
    id: formatId(SESSION_PREFIX, session.id),
    person: formatId(PERSON_PREFIX, session.personId),
    created: toSeconds(session.createdMs),
    last_used: toSeconds(session.usedMs),
    expires: toSeconds(session.expiresMs),
    address: session.address,
    user_agent: session.userAgent,
  };
}

export interface ManagementKeyView {
  readonly object: 'management_key';
  readonly id: string;
  readonly name: string;
  /** The first and last characters of the secret. */
  readonly hint: string;
  readonly account: string | null;
  readonly role: 'operator' | AccountRole;
  readonly read_only: boolean;
  readonly status: 'active' | 'expired' | 'revoked';
  readonly minted_by: string | null;
  /** The email address of that person; `operator` if the reader is of an account in which that person has no role. */
  readonly minted_by_name: string | null;
  readonly created: number;
  readonly expires_at: number | null;
  readonly last_used: number | null;
}

export function managementKeyView(key: ManagementKey, mintedByName: string | null, nowMs: number): ManagementKeyView {
  return {
    object: 'management_key',
    id: formatId(MANAGEMENT_KEY_PREFIX, key.id),
    name: key.name,
    hint: describeKey(key),
    account: key.accountId === null ? null : formatId(ACCOUNT_PREFIX, key.accountId),
    role: key.role ?? 'operator',
    read_only: key.isReadOnly,
    status: managementKeyStatus(key, nowMs),
    minted_by: key.mintedBy === null ? null : formatId(PERSON_PREFIX, key.mintedBy),
    minted_by_name: mintedByName,
    created: toSeconds(key.createdMs),
    expires_at: secondsOrNull(key.expiresMs),
    last_used: secondsOrNull(key.usedMs),
  };
}

function managementKeyStatus({ revokedMs, expiresMs }: ManagementKey, nowMs: number): ManagementKeyView['status'] {
  if (revokedMs !== null) return 'revoked';
  return expiresMs !== null && expiresMs <= nowMs ? 'expired' : 'active';
}

export interface AuditView {
  readonly object: 'audit_entry';
  readonly id: string;
  readonly at: number;
  readonly actor: { readonly kind: ActorKind; readonly id: string | null; readonly name: string };
  readonly action: string;
  readonly subject: string;
  readonly account: string | null;
  readonly before: unknown;
  readonly after: unknown;
  readonly address: string | null;
}

const ACTOR_PREFIXES: Readonly<Partial<Record<AuditRow['actorKind'], string>>> = {
  management_key: MANAGEMENT_KEY_PREFIX,
  gateway_key: KEY_PREFIX,
};

export function auditView(row: AuditRow): AuditView {
  const prefix = ACTOR_PREFIXES[row.actorKind] ?? PERSON_PREFIX;
  return {
    object: 'audit_entry',
    id: formatId(AUDIT_PREFIX, row.id),
    at: toSeconds(row.atMs),
    actor: {
      kind: row.actorKind,
      id: row.actorId === null ? null : formatId(prefix, row.actorId),
      name: row.actorName,
    },
    action: row.action,
    subject: row.subject,
    account: row.accountId === null ? null : formatId(ACCOUNT_PREFIX, row.accountId),
    before: row.before === null ? null : tryParseExact(row.before),
    after: row.after === null ? null : tryParseExact(row.after),
    address: row.address,
  };
}
