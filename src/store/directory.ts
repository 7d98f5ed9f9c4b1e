import type { ClosingOutcome, Payout } from './account-rows.ts';
import type { AlertRows } from './alerts.ts';
import type { BookSums } from './book-sums.ts';
import type {
  Acceptance,
  Accepting,
  AuditFilter,
  AuditRow,
  Invitation,
  InvitationStatus,
  KnownMembership,
  ManagementKey,
  Member,
  Membership,
  NewInvitation,
  NewManagementKey,
  NewPerson,
  NewSession,
  Offer,
  Person,
  PersonCap,
  PersonChange,
  Session,
  SsoIdentity,
} from './people.ts';
import type { ArchiveFile } from './receipt-archive.ts';
import type { SigningRows } from './signing.ts';
import type { TokenOverrun } from './token-overruns.ts';
import type { WebhookRows } from './webhooks.ts';

interface IdPage {
  readonly after: bigint | null;
  readonly limit: number;
}

/**
 * Rows that change rarely: names and states of accounts, people, their roles, invitations, sessions and management keys, and the audit of every change. Each change is one
 * commit together with its row in the audit; a change that is refused, or changes nothing, writes none.
 */
export interface Directory extends WebhookRows, AlertRows, SigningRows {
  /** With a null version, the account is renamed whatever its version is. */
  renameAccount(
    id: bigint,
    name: string,
    expectedVersion: bigint | null,
    audit: AuditRow,
  ): Promise<'renamed' | 'not_found' | 'name_taken' | 'version_conflict'>;
  /** Every hold is decided before the change or after it. Running calls finish and are charged. */
  setAccountStatus(
    id: bigint,
    to: 'active' | 'suspended',
    audit: AuditRow,
  ): Promise<'changed' | 'unchanged' | 'not_found' | 'closed'>;
  /** Pays out the balance of a suspended account without open calls, deletes its provider keys and closes it for good, in one commit. */
  closeAccount(id: bigint, payout: Payout, audit: AuditRow): Promise<ClosingOutcome>;

  createPerson(person: NewPerson, audit: AuditRow): Promise<'created' | 'email_taken'>;
  findPerson(id: bigint): Promise<Person | null>;
  findPersonByEmail(email: string): Promise<Person | null>;
  findPersonByIdentity(identity: SsoIdentity): Promise<Person | null>;
  listPeople(page: IdPage): Promise<Person[]>;
  /**
   * `version_conflict`: somebody changed the person since the expected version was read. `unconfirmed`: nobody becomes an
   * operator whose address is not confirmed. `not_allowed`, here and below: whoever makes the change may no longer make it.
   */
  changePerson(
    id: bigint,
    change: PersonChange,
    expectedVersion: bigint | null,
    audit: AuditRow,
  ): Promise<Person | 'not_found' | 'version_conflict' | 'identity_taken' | 'unconfirmed' | 'not_allowed'>;
  /** Ends the person's other sessions. Confirming the address ends the password too, which somebody else may know. */
  linkIdentity(
    id: bigint,
    link: { readonly identity: SsoIdentity; readonly confirmsAddress: boolean; readonly keptSessionId: bigint },
    audit: AuditRow,
  ): Promise<Person | 'not_found' | 'identity_taken'>;
  /** Ends the person's other sessions. Refused if the person was disabled or changed since that version was read. */
  setPassword(
    id: bigint,
    change: { readonly passwordHash: string; readonly expectedVersion: bigint; readonly keptSessionId: bigint | null },
    audit: AuditRow,
  ): Promise<'changed' | 'person_changed'>;
  /**
   * Ends the person's sessions, disables their keys and revokes the management keys they minted, in the same commit.
   * Disabling again changes nothing.
   */
  disablePerson(id: bigint, nowMs: number, audit: AuditRow): Promise<Person | 'not_found' | 'not_allowed'>;
  /** The person may sign in again, and their keys work again; their management keys stay revoked. */
  enablePerson(id: bigint, audit: AuditRow): Promise<Person | 'not_found' | 'not_allowed'>;

  /**
   * Gives a role, or replaces role and cap. `unconfirmed`: the person's address is confirmed for another account only.
   * `changed`: role or cap are no longer those that were read before; without these, nothing is compared.
   */
  putMembership(
    membership: Membership,
    audit: AuditRow,
    known?: KnownMembership,
  ): Promise<'stored' | 'no_person' | 'no_account' | 'unconfirmed' | 'changed' | 'not_allowed'>;
  /** The person's keys in the account stop working, until the person has a role there again. Open links for them end. */
  removeMembership(accountId: bigint, personId: bigint, audit: AuditRow): Promise<boolean | 'not_allowed'>;
  membershipsOf(personId: bigint): Promise<Membership[]>;
  listMembers(accountId: bigint, page: IdPage, nowMs: number): Promise<Member[]>;
  findMember(accountId: bigint, personId: bigint, nowMs: number): Promise<Member | null>;
  /** The cap that the person has in the account, or had when they left it; null if they never had a role there. */
  findPersonCap(accountId: bigint, personId: bigint): Promise<PersonCap | null>;

  /** `too_many`: the account has as many open invitations as it may. */
  createInvitation(invitation: NewInvitation, audit: AuditRow): Promise<'created' | 'too_many'>;
  findInvitation(sha256Hex: string): Promise<Invitation | null>;
  /** An open invitation whose maker may still give what it gives. */
  findOffer(sha256Hex: string, nowMs: number): Promise<Offer | null>;
  /** Open ones for this address, oldest first: single sign-on gives their roles to a verified address. */
  invitationsFor(email: string, nowMs: number): Promise<Invitation[]>;
  findInvitationById(id: bigint): Promise<Invitation | null>;
  /** Those into one account; null lists those into every account. With a status, only those that have it at that time. */
  listInvitations(
    accountId: bigint | null,
    page: IdPage,
    at?: { readonly status: InvitationStatus; readonly nowMs: number },
  ): Promise<Invitation[]>;
  revokeInvitation(id: bigint, nowMs: number, audit: AuditRow): Promise<boolean>;
  /** Deletes at most that many of those that ended before then. */
  forgetInvitations(endedBeforeMs: number, limit: number): Promise<number>;
  /**
   * Gives the invitation's roles and closes it, in one commit: of two who accept at once, one succeeds. `not_open`,
   * too, if its maker may no longer give them.
   */
  acceptInvitation(sha256Hex: string, who: Accepting, nowMs: number, audit: AuditRow): Promise<Acceptance>;
  /** Sets the password of the person that the link was made for, and ends all their sessions. */
  resetPassword(sha256Hex: string, passwordHash: string, nowMs: number, audit: AuditRow): Promise<Person | 'not_open'>;

  /** Refused if the person was disabled or changed since that version was read. If the person has too many sessions, the oldest ones end. */
  createSession(
    session: NewSession,
    personVersion: bigint,
    sessionsMax: number,
    audit: AuditRow,
  ): Promise<'created' | 'person_changed'>;
  /** With its person, so that a request needs one read. Whether either is still valid is the caller's to judge. */
  findSession(sha256Hex: string): Promise<{ session: Session; person: Person } | null>;
  listSessions(personId: bigint): Promise<Session[]>;
  touchSession(id: bigint, usedMs: number): Promise<void>;
  /** The person has proved again in this session who they are. */
  proveSession(id: bigint, provedMs: number): Promise<void>;
  /** A person may only end their own sessions; null, for an operator, ends any. */
  endSession(id: bigint, personId: bigint | null, audit: AuditRow): Promise<boolean>;
  endSessionsOf(personId: bigint, audit: AuditRow): Promise<number>;
  /** Deletes sessions that ended by themselves. */
  sweepSessions(nowMs: number, idleMs: number): Promise<number>;

  createManagementKey(key: NewManagementKey, audit: AuditRow): Promise<'created' | 'not_allowed'>;
  findManagementKey(id: bigint): Promise<ManagementKey | null>;
  findManagementKeyByHash(sha256Hex: string): Promise<ManagementKey | null>;
  /** The keys of one account; null: the keys of the gateway and of all accounts. */
  listManagementKeys(accountId: bigint | null, page: IdPage): Promise<ManagementKey[]>;
  /** Revoking again changes nothing: the first time stands. */
  revokeManagementKey(id: bigint, nowMs: number, audit: AuditRow): Promise<ManagementKey | 'not_found'>;
  /** Deletes at most that many of those that ended before then. Keys stay as long as a link that they made. */
  forgetManagementKeys(endedBeforeMs: number, limit: number): Promise<number>;
  touchManagementKey(id: bigint, usedMs: number): Promise<void>;

  /** A prompt that had more tokens than were counted for its hold. The highest factor of each account is kept. */
  noteTokenOverrun(overrun: TokenOverrun): Promise<void>;
  /** By model, the highest factor first. */
  listTokenOverruns(): Promise<TokenOverrun[]>;
  /** Returns how many accounts had overruns with the model. */
  forgetTokenOverruns(model: string, audit: AuditRow): Promise<number>;

  /** Files with archived receipts, in the order of these. */
  listArchiveFiles(): Promise<ArchiveFile[]>;
  /**
   * The file that has this receipt, if it was archived at all: receipts that were not archived can have ids between those
   * of archived ones.
   */
  archiveFileOf(id: bigint): Promise<ArchiveFile | null>;
  noteArchiveFile(file: ArchiveFile, audit: AuditRow): Promise<void>;

  /** Reads every balance and every open hold. */
  bookSums(): Promise<BookSums>;

  /** Newest first; `before` is the id of the last row of the previous page. */
  listAudit(filter: AuditFilter, page: { readonly before: bigint | null; readonly limit: number }): Promise<AuditRow[]>;
  /** For a change that is not one of these, and so has its row in a commit of its own. */
  writeAudit(row: AuditRow): Promise<void>;
  /** Deletes rows that are older than the receipts that are kept. */
  forgetAudit(beforeMs: number, limit: number): Promise<number>;
}
