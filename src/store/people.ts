import type { CapWindow, KeyWindow } from './cap-window.ts';

export const ACCOUNT_ROLES = ['owner', 'member', 'viewer'] as const;

export type AccountRole = (typeof ACCOUNT_ROLES)[number];

/** Who a single sign-on provider says a person is. */
export interface SsoIdentity {
  readonly issuer: string;
  readonly subject: string;
}

export interface NewPerson {
  readonly id: bigint;
  readonly email: string;
  readonly name: string;
  /** The hash with its algorithm and parameters; null for a person who signs in elsewhere, or not yet. */
  readonly passwordHash: string | null;
  readonly identity: SsoIdentity | null;
  readonly isOperator: boolean;
  readonly createdMs: number;
}

export interface Person extends NewPerson {
  readonly disabledMs: number | null;
  /**
   * The account whose owner invited the person, while nothing else confirms that the email address is theirs: until then
   * they have roles in no other account. Null once it is confirmed.
   */
  readonly unconfirmedIn: bigint | null;
  /** Increased by every change, so that two people who edit at once do not overwrite each other. */
  readonly version: bigint;
}

/** Absent members do not change. */
export interface PersonChange {
  readonly name?: string;
  readonly passwordHash?: string | null;
  readonly identity?: SsoIdentity | null;
  readonly isOperator?: boolean;
}

/** A person's role in one account. The cap limits what all keys of the person spend there. */
export interface Membership {
  readonly accountId: bigint;
  readonly personId: bigint;
  readonly role: AccountRole;
  readonly capNanousd: bigint | null;
  readonly capWindow: CapWindow;
}

/** A membership with what the person's keys have spent and held in its present window. */
export interface Member {
  readonly person: Person;
  readonly membership: Membership;
  readonly window: KeyWindow;
}

/** What an invitation gives: the whole gateway, a role in one account, or only a way in. */
interface InvitedRoles {
  readonly isOperator: boolean;
  readonly accountId: bigint | null;
  readonly role: AccountRole | null;
}

/** What the keys of a person may spend in an account. */
export type PersonCap = Pick<Membership, 'capNanousd' | 'capWindow'>;

/** What a change of a membership was made from: the role, and the cap that the person has or had in the account. */
export interface KnownMembership {
  /** Null if the person has no role in the account. */
  readonly role: AccountRole | null;
  readonly cap: PersonCap | null;
}

export interface NewInvitation extends InvitedRoles {
  readonly id: bigint;
  /** The hash of the secret in the link. The secret itself is not stored. */
  readonly sha256Hex: string;
  readonly email: string;
  /** The person who invited; null for the command line. */
  readonly invitedBy: bigint | null;
  /** The management key that made it: the link ends with the key. */
  readonly madeWith: bigint | null;
  /** The cap of the person who accepts; null for the cap they had in this account before, if any. */
  readonly cap: PersonCap | null;
  /** For a link that sets a new password for a person who already exists. */
  readonly resetsPersonId: bigint | null;
  readonly createdMs: number;
  readonly expiresMs: number;
}

export interface Invitation extends NewInvitation {
  readonly acceptedMs: number | null;
  readonly revokedMs: number | null;
}

export const INVITATION_STATUSES = ['open', 'accepted', 'revoked', 'expired'] as const;
export type InvitationStatus = (typeof INVITATION_STATUSES)[number];

export function isOpenInvitation({ acceptedMs, revokedMs, expiresMs }: Invitation, nowMs: number): boolean {
  return acceptedMs === null && revokedMs === null && expiresMs > nowMs;
}

/** What accepting a link would give, and to whom. */
export interface Offer {
  readonly invitation: Invitation;
  /** Null if it gives no role in an account. */
  readonly accountName: string | null;
  /** The person who has its address; null for somebody new. */
  readonly known: Person | null;
  /** False if an address that is not confirmed keeps this person from accepting it. */
  readonly mayJoin: boolean;
}

/**
 * Who accepts: somebody new, or a person who has signed in. An address that already belongs to a person is never given
 * to somebody new, because a link alone does not prove who holds it.
 */
export type Accepting = { readonly newPerson: NewPerson } | { readonly personId: bigint };

/** `unconfirmed`: the address of the person is not confirmed, and the invitation is not of the account that invited them. */
export type Acceptance = Person | 'not_open' | 'person_exists' | 'other_person' | 'unconfirmed';

export interface NewSession {
  readonly id: bigint;
  /** The hash of the cookie's secret. The secret itself is not stored. */
  readonly sha256Hex: string;
  readonly personId: bigint;
  readonly createdMs: number;
  /** When the session ends at the latest, however often it is used. */
  readonly expiresMs: number;
  readonly address: string;
  readonly userAgent: string;
}

export interface Session extends NewSession {
  readonly usedMs: number;
  /** When the person last proved in this session who they are. */
  readonly provedMs: number;
}

export interface NewManagementKey {
  readonly id: bigint;
  readonly sha256Hex: string;
  readonly prefix: string;
  readonly lastFour: string;
  readonly name: string;
  /** The person whose rights bound those of the key; null for the command line. */
  readonly mintedBy: bigint | null;
  /** Null for a key of the whole gateway. */
  readonly accountId: bigint | null;
  /** Null together with `accountId`: the key acts as an operator. */
  readonly role: AccountRole | null;
  readonly isReadOnly: boolean;
  readonly createdMs: number;
  readonly expiresMs: number | null;
}

export interface ManagementKey extends NewManagementKey {
  readonly revokedMs: number | null;
  readonly usedMs: number | null;
}

/** Who made a change: a person, a management key, somebody with access to the data folder or the configuration, or a caller. */
export const ACTOR_KINDS = ['person', 'management_key', 'command_line', 'configuration', 'gateway_key'] as const;

export type ActorKind = (typeof ACTOR_KINDS)[number];

/** Who makes a change, as the audit keeps it. */
export interface Actor {
  readonly kind: ActorKind;
  /** Null for the command line and the configuration. */
  readonly id: bigint | null;
  readonly name: string;
  /** The client's network address; null for the command line. */
  readonly address: string | null;
  /** The person whose rights bound those of a management key. */
  readonly mintedBy?: bigint | null;
}

/** One change, as it is kept for good. Neither `before` nor `after` ever holds a secret. */
export interface AuditRow {
  readonly id: bigint;
  readonly atMs: number;
  readonly actorKind: ActorKind;
  /** Null for the command line and the configuration. */
  readonly actorId: bigint | null;
  /** The email address of a person, the name of a key, or the user of the machine, as it was then. */
  readonly actorName: string;
  /** What was done, like `key.mint`. */
  readonly action: string;
  /** The id of what was changed, in the form that people see. */
  readonly subject: string;
  /** The account that the change belongs to; null for changes of the whole gateway. */
  readonly accountId: bigint | null;
  /** JSON objects of the members that changed; null where there was nothing. */
  readonly before: string | null;
  readonly after: string | null;
  /** The client's network address; null for the command line. */
  readonly address: string | null;
}

/** Null members filter nothing. */
export interface AuditFilter {
  readonly accountId: bigint | null;
  readonly actorId: bigint | null;
  readonly action: string | null;
  readonly subject: string | null;
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
}
