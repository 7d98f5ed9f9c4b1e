import type { z } from 'zod';
import { JsonError, parseJson } from '../json/json.ts';
import { stringifyJson } from '../json/stringify.ts';
import { StoreUnavailable } from '../ledger/ledger.ts';
import * as accountStates from './account-states.ts';
import * as accounts from './accounts.ts';
import * as alerts from './alerts.ts';
import { archiveInput, archivePlace, archiveStore, checkStoreArchive } from './archive.ts';
import { auditPage, listAudit } from './audit.ts';
import { credit } from './credit.ts';
import { listEntries } from './entries.ts';
import { OperatorError, operatorErrorView } from './error.ts';
import { holdFactorReset, listHoldFactors, resetHoldFactor } from './hold-factors.ts';
import { hostLossesInput, reportHostLosses } from './host-losses.ts';
import { listHosts } from './hosts.ts';
import * as inputs from './input.ts';
import * as invitations from './invitations.ts';
import * as jobs from './jobs.ts';
import * as keys from './keys.ts';
import {
  listManagementKeys,
  managementKeyChoice,
  managementKeyMinting,
  managementKeyPage,
  mintManagementKey,
  revokeManagementKey,
} from './management-keys.ts';
import { parseInput } from './parse-input.ts';
import * as people from './people.ts';
import { followProgress, progressChoice, showProgress } from './progress.ts';
import * as providerKeys from './provider-keys.ts';
import * as receipts from './receipts.ts';
import { refundReceipt } from './refund.ts';
import { listRefusals, refusalPage } from './refusals.ts';
import { rotateSeals, sealRotation, showSeals, showSecretSeals } from './seal.ts';
import type { OperatorServices, Progress } from './services.ts';
import * as signed from './signed-receipts.ts';
import { listModels, showStatus } from './status.ts';
import { backUpBooks, backupPlace } from './store.ts';
import { showSystem, showVerification, startVerification } from './system.ts';
import { reportUsage, usageInput } from './usage.ts';
import { verify } from './verify.ts';
import * as webhooks from './webhooks.ts';

export type { OperatorServices, Progress } from './services.ts';

interface Verb {
  readonly input: z.ZodType;
  /** It changes nothing, so it may run on a ledger that has moved. */
  readonly onlyReads: boolean;
  run(services: OperatorServices, input: never, progress?: Progress): Promise<object>;
}

type Run<Input extends z.ZodType, Result extends object> = (
  services: OperatorServices,
  input: z.output<Input>,
  progress?: Progress,
) => Promise<Result>;

function verb<Input extends z.ZodType, Result extends object>(input: Input, run: Run<Input, Result>) {
  return { input, run, onlyReads: false };
}

function reading<Input extends z.ZodType, Result extends object>(input: Input, run: Run<Input, Result>) {
  return { input, run, onlyReads: true };
}

/** Everything an operator can do. Served on the control socket, and run by commands in their own process. */
export const VERBS = {
  'accounts.create': verb(inputs.accountCreation, accounts.createNamedAccount),
  'accounts.show': reading(inputs.accountChoice, accounts.showAccount),
  'accounts.rename': verb(inputs.accountRenaming, accountStates.renameAccount),
  'accounts.suspend': verb(inputs.accountChoice, accountStates.suspendAccount),
  'accounts.resume': verb(inputs.accountChoice, accountStates.resumeAccount),
  'accounts.close': verb(inputs.accountClosing, accountStates.closeAccount),
  'accounts.list': reading(inputs.accountPage, accounts.listAccounts),
  'accounts.credit': verb(inputs.accountCredit, credit),
  'accounts.entries': reading(inputs.entryPage, listEntries),
  'keys.mint': verb(inputs.keyMinting, keys.mint),
  'keys.list': reading(inputs.keyPage, keys.listKeys),
  'keys.update': verb(inputs.keyUpdate, keys.updateKey),
  'keys.show': reading(inputs.keyChoice, keys.showKey),
  'keys.rotate': verb(inputs.keyRotation, keys.rotateKey),
  'keys.disable': verb(inputs.keyChoice, keys.disableKey),
  'keys.enable': verb(inputs.keyChoice, keys.enableKey),
  'keys.revoke': verb(inputs.keyChoice, keys.revokeKey),
  'people.invite': verb(invitations.invitationInput, invitations.invite),
  'people.list': reading(people.peoplePage, people.listPeople),
  'people.show': reading(people.personChoice, people.showPerson),
  'people.update': verb(people.personUpdate, people.updatePerson),
  'people.disable': verb(people.personChoice, people.disablePerson),
  'people.enable': verb(people.personChoice, people.enablePerson),
  'people.reset': verb(people.personChoice, invitations.resetPerson),
  'people.sessions': reading(people.personChoice, people.listSessions),
  'people.signout': verb(people.personChoice, people.signOut),
  'sessions.end': verb(people.sessionChoice, people.endSession),
  'invitations.list': reading(invitations.invitationPage, invitations.listInvitations),
  'invitations.revoke': verb(invitations.invitationChoice, invitations.revokeInvitation),
  'members.list': reading(people.memberPage, people.listMembers),
  'members.put': verb(people.memberInput, people.putMember),
  'members.update': verb(people.memberInput, people.updateMember),
  'members.remove': verb(people.memberChoice, people.removeMember),
  'managementkeys.mint': verb(managementKeyMinting, mintManagementKey),
  'managementkeys.list': reading(managementKeyPage, listManagementKeys),
  'managementkeys.revoke': verb(managementKeyChoice, revokeManagementKey),
  'audit.list': reading(auditPage, listAudit),
  'models.list': reading(inputs.nothing, listModels),
  'models.holds': reading(inputs.nothing, listHoldFactors),
  'models.resetholds': verb(holdFactorReset, resetHoldFactor),
  'balance.show': reading(inputs.balanceChoice, accounts.showBalance),
  'providerkeys.list': reading(providerKeys.providerKeyPage, providerKeys.listProviderKeys),
  'providerkeys.put': verb(providerKeys.providerKeyInput, providerKeys.putProviderKey),
  'providerkeys.verify': verb(providerKeys.providerKeyChoice, providerKeys.verifyProviderKey),
  'providerkeys.remove': verb(providerKeys.providerKeyChoice, providerKeys.removeProviderKey),
  'webhooks.list': reading(webhooks.webhookOwner, webhooks.listWebhooks),
  'webhooks.put': verb(webhooks.webhookInput, webhooks.putWebhook),
  'webhooks.show': reading(webhooks.webhookChoice, webhooks.showWebhook),
  'webhooks.rotate': verb(webhooks.webhookRotation, webhooks.rotateWebhook),
  'webhooks.test': verb(webhooks.webhookChoice, webhooks.testWebhook),
  'webhooks.deliveries': reading(webhooks.deliveryPage, webhooks.listDeliveries),
  'webhooks.remove': verb(webhooks.webhookChoice, webhooks.removeWebhook),
  'alerts.list': reading(alerts.alertPage, alerts.listAlerts),
  'alerts.acknowledge': verb(alerts.alertChoice, alerts.acknowledgeAlert),
  'alerts.settings': reading(alerts.alertAccount, alerts.showAlertSettings),
  'alerts.configure': verb(alerts.alertSettingsUpdate, alerts.updateAlertSettings),
  'jobs.list': reading(jobs.jobPage, jobs.listJobs),
  'jobs.show': reading(jobs.jobChoice, jobs.showJob),
  'jobs.cancel': verb(jobs.jobChoice, jobs.cancelJob),
  'jobs.resume': verb(jobs.restoredJobs, jobs.resumeRestoredJobs),
  'jobs.fail': verb(jobs.restoredJobs, jobs.failRestoredJobs),
  'jobgroups.list': reading(jobs.jobGroupPage, jobs.listJobGroups),
  'jobgroups.show': reading(jobs.jobGroupChoice, jobs.showJobGroup),
  'jobgroups.cancel': verb(jobs.jobGroupChoice, jobs.cancelJobGroup),
  'hosts.list': reading(inputs.nothing, listHosts),
  'hosts.losses': reading(hostLossesInput, reportHostLosses),
  'receipts.show': reading(inputs.receiptChoice, receipts.showReceipt),
  'receipts.list': reading(inputs.receiptPage, receipts.listReceipts),
  'refusals.list': reading(refusalPage, listRefusals),
  'receipts.refund': verb(inputs.receiptRefund, refundReceipt),
  'receipts.sign': verb(signed.receiptSigning, signed.signReceipt),
  'receipts.signrefunds': verb(signed.refundSigning, signed.signRefunds),
  'receipts.keys': reading(inputs.nothing, signed.listReceiptKeys),
  'receipts.rotatekey': verb(signed.receiptKeyRotation, signed.rotateReceiptKey),
  'usage.report': reading(usageInput, reportUsage),
  'ledger.verify': reading(inputs.verification, verify),
  'store.backup': reading(backupPlace, backUpBooks),
  'store.archive': verb(archiveInput, archiveStore),
  'store.checkarchive': reading(archivePlace, checkStoreArchive),
  'seal.status': reading(inputs.nothing, showSeals),
  'seal.secrets': reading(inputs.nothing, showSecretSeals),
  'seal.rotate': verb(sealRotation, rotateSeals),
  'system.show': reading(inputs.nothing, showSystem),
  'system.verify': reading(inputs.verification, startVerification),
  'system.verification': reading(inputs.nothing, showVerification),
  'progress.show': reading(progressChoice, showProgress),
  status: reading(inputs.nothing, showStatus),
} as const satisfies Record<string, Verb>;

export type VerbName = keyof typeof VERBS;
export type VerbInput<Name extends VerbName> = z.input<(typeof VERBS)[Name]['input']>;
export type VerbResult<Name extends VerbName> = Awaited<ReturnType<(typeof VERBS)[Name]['run']>>;

/** Runs a verb on untrusted input; throws an OperatorError for everything it refuses. */
export async function runVerb(
  services: OperatorServices,
  name: string,
  input: unknown,
  progress?: Progress,
): Promise<object> {
  if (!Object.hasOwn(VERBS, name)) throw new OperatorError('unknown_verb', `There is no verb "${name}".`);
  const chosen: Verb = VERBS[name as VerbName];
  const parsed = parseInput(chosen.input, input);
  if (services.moved !== null && !chosen.onlyReads) throw new OperatorError('moved', services.moved);
  try {
    return await chosen.run(services, parsed as never, progress);
  } catch (error) {
    if (error instanceof StoreUnavailable) throw new OperatorError('unavailable', error.message);
    throw error;
  }
}

/** The same from JSON text to JSON text, for the control socket. Amounts are written as exact integers. */
export async function answerOperator(
  services: OperatorServices,
  name: string,
  bodyText: string,
): Promise<{ status: number; body: string }> {
  try {
    const input = bodyText === '' ? {} : parseJson(bodyText);
    const result = await followProgress(services, name, (progress) => runVerb(services, name, input, progress));
    return { status: 200, body: stringifyJson(result) };
  } catch (error) {
    const known = error instanceof JsonError ? new OperatorError('invalid_input', error.message) : error;
    if (!(known instanceof OperatorError)) throw error;
    return { status: known.status, body: stringifyJson(operatorErrorView(known)) };
  }
}
