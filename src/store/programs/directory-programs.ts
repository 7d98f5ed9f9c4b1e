import type { Directory } from '../directory.ts';
import { closeAccount, renameAccount, setAccountStatus } from './accounts.ts';
import {
  acknowledgeAlert,
  alertSettings,
  confirmAlerts,
  findAlert,
  forgetAlerts,
  listAlerts,
  lossesBetween,
  openAlerts,
  openConditions,
  putAlertSettings,
  raiseAlert,
  resolveAlert,
} from './alerts.ts';
import { archiveFileOf, listArchiveFiles, noteArchiveFile } from './archive-files.ts';
import { forgetAudit, listAudit, writeAudit } from './audit.ts';
import { bookSums } from './book-sums.ts';
import {
  claimDelivery,
  countPending,
  dueWebhooks,
  emitEvent,
  findDelivery,
  finishDelivery,
  listDeliveries,
} from './deliveries.ts';
import {
  acceptInvitation,
  createInvitation,
  findInvitation,
  findInvitationById,
  findOffer,
  forgetInvitations,
  invitationsFor,
  listInvitations,
  resetPassword,
  revokeInvitation,
} from './invitations.ts';
import {
  createManagementKey,
  findManagementKey,
  findManagementKeyByHash,
  forgetManagementKeys,
  listManagementKeys,
  revokeManagementKey,
  touchManagementKey,
} from './management-keys.ts';
import { findMember, listMembers } from './members.ts';
import { findPersonCap, membershipsOf, putMembership, removeMembership } from './memberships.ts';
import {
  changePerson,
  createPerson,
  disablePerson,
  enablePerson,
  findPerson,
  findPersonByEmail,
  findPersonByIdentity,
  linkIdentity,
  listPeople,
  setPassword,
} from './people.ts';
import type { Program } from './program.ts';
import {
  createSession,
  endSession,
  endSessionsOf,
  findSession,
  listSessions,
  proveSession,
  sweepSessions,
  touchSession,
} from './sessions.ts';
import {
  addMonthRoot,
  addReceiptKey,
  booksMark,
  closedMonths,
  lastMonthRoot,
  listRefunds,
  monthAccounts,
  monthSalt,
  pricesOf,
  receiptKeys,
  receiptKeysAfter,
  resealReceiptKey,
} from './signing.ts';
import { forgetTokenOverruns, listTokenOverruns, noteTokenOverrun } from './token-overruns.ts';
import {
  findWebhook,
  listWebhooks,
  putWebhook,
  removeWebhook,
  resealWebhookSecret,
  rotateWebhookSecret,
  webhookSecrets,
  webhookSecretsAfter,
} from './webhooks.ts';

/** Programs that only read. */
const DIRECTORY_READS = {
  findPerson,
  findPersonByEmail,
  findPersonByIdentity,
  listPeople,
  membershipsOf,
  listMembers,
  findMember,
  findPersonCap,
  findInvitation,
  findInvitationById,
  findOffer,
  invitationsFor,
  listInvitations,
  findSession,
  listSessions,
  findManagementKey,
  findManagementKeyByHash,
  listManagementKeys,
  listAudit,
  listTokenOverruns,
  findWebhook,
  listWebhooks,
  webhookSecrets,
  webhookSecretsAfter,
  dueWebhooks,
  listDeliveries,
  findDelivery,
  countPending,
  openAlerts,
  openConditions,
  findAlert,
  listAlerts,
  alertSettings,
  lossesBetween,
  bookSums,
  listArchiveFiles,
  archiveFileOf,
  booksMark,
  receiptKeys,
  receiptKeysAfter,
  pricesOf,
  listRefunds,
  closedMonths,
  monthAccounts,
  lastMonthRoot,
};

/** Those of them that may look at many more rows than they return. */
export const LONG_DIRECTORY_READS: ReadonlySet<DirectoryRead> = new Set(['listAudit']);

/** Programs that change rows, each in one commit together with its row in the audit. */
const DIRECTORY_CHANGES = {
  renameAccount,
  setAccountStatus,
  closeAccount,
  createPerson,
  changePerson,
  setPassword,
  linkIdentity,
  disablePerson,
  enablePerson,
  putMembership,
  removeMembership,
  createInvitation,
  revokeInvitation,
  forgetInvitations,
  acceptInvitation,
  resetPassword,
  createSession,
  proveSession,
  touchSession,
  endSession,
  endSessionsOf,
  sweepSessions,
  createManagementKey,
  revokeManagementKey,
  forgetManagementKeys,
  touchManagementKey,
  writeAudit,
  forgetAudit,
  noteTokenOverrun,
  forgetTokenOverruns,
  putWebhook,
  removeWebhook,
  rotateWebhookSecret,
  resealWebhookSecret,
  emitEvent,
  claimDelivery,
  finishDelivery,
  raiseAlert,
  confirmAlerts,
  resolveAlert,
  acknowledgeAlert,
  forgetAlerts,
  putAlertSettings,
  noteArchiveFile,
  addReceiptKey,
  resealReceiptKey,
  monthSalt,
  addMonthRoot,
};

type Programs = { readonly [name: string]: (...args: never[]) => Program<unknown> };
type Verbs<Of extends Programs> = {
  readonly [Name in keyof Of]: (...args: Parameters<Of[Name]>) => Promise<ResultOf<ReturnType<Of[Name]>>>;
};
type ResultOf<Made> = Made extends Program<infer Result> ? Result : never;

/** What the programs make; the interface must be the same, and the compiler compares them. */
type AllVerbs = Verbs<typeof DIRECTORY_READS> & Verbs<typeof DIRECTORY_CHANGES>;

export type DirectoryRead = keyof typeof DIRECTORY_READS;
export type DirectoryChange = keyof typeof DIRECTORY_CHANGES;

/** What an engine adds: how it runs one program by name. */
interface DirectoryEngine {
  read(name: DirectoryRead, args: readonly unknown[]): Promise<unknown>;
  change(name: DirectoryChange, args: readonly unknown[]): Promise<unknown>;
}

export function directoryOver(engine: DirectoryEngine): Directory {
  const verbs: Record<string, (...args: unknown[]) => Promise<unknown>> = {};
  for (const name of Object.keys(DIRECTORY_READS)) {
    verbs[name] = (...args) => engine.read(name as DirectoryRead, args);
  }
  for (const name of Object.keys(DIRECTORY_CHANGES)) {
    verbs[name] = (...args) => engine.change(name as DirectoryChange, args);
  }
  return verbs as unknown as AllVerbs;
}

/** The program of that name, ready to run. The arguments were checked where the typed verb was called. */
export function programOf(name: DirectoryRead | DirectoryChange, args: readonly unknown[]): Program<unknown> {
  const programs = { ...DIRECTORY_READS, ...DIRECTORY_CHANGES } as Record<string, (...args: unknown[]) => unknown>;
  return programs[name]!(...args) as Program<unknown>;
}
