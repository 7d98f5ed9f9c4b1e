import type { z } from 'zod';
import { type AccountServices, createAccount, LOCAL_ACCOUNT_NAME, mintKey } from '../accounts/accounts.ts';
import { type BalanceView, balanceView, type HangupFacts } from '../canonical/balance-view.ts';
import { ACCOUNT_PREFIX, KEY_PREFIX } from '../canonical/id-prefixes.ts';
import { receiptView } from '../canonical/receipt-view.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { describeIssue, issuePath } from '../json/describe-issue.ts';
import { formatPath } from '../json/error.ts';
import { JsonError, parseJson } from '../json/json.ts';
import { stringifyJson } from '../json/stringify.ts';
import { formatId, type IdSource, parseId } from '../kit/ids.ts';
import { type Account, type Ledger, StoreUnavailable, type VerifyProgress } from '../ledger/ledger.ts';
import type { KeyChange, KeyRow } from '../store/store.ts';
import { auditRow, differences } from './actor.ts';
import { auditPage, listAudit } from './audit.ts';
import { credit } from './credit.ts';
import { OperatorError, operatorErrorView } from './error.ts';
import { holdFactorReset, listHoldFactors, resetHoldFactor } from './hold-factors.ts';
import * as inputs from './input.ts';
import { keyChangeOf } from './key-change.ts';
import { accountNamed, afterId, keyNamed, unknownAccount, unknownKey } from './lookup.ts';
import {
  listManagementKeys,
  managementKeyChoice,
  managementKeyMinting,
  managementKeyPage,
  mintManagementKey,
  revokeManagementKey,
} from './management-keys.ts';
import * as people from './people.ts';
import { rotateSeals, type SealServices, sealRotation, showSeals } from './seal.ts';
import { type BackupServices, backUpBooks, backupPlace } from './store.ts';
import { verify } from './verify.ts';
import {
  type AccountView,
  accountView,
  type KeyView,
  keyView,
  type ListView,
  listView,
  type ModelListView,
  modelListView,
  type ServerFacts,
  type StatusView,
  statusView,
} from './view.ts';

export { permissionOption } from '../accounts/permissions.ts';
export {
  CAP_WINDOWS,
  type CapWindow,
  KEY_PERMISSIONS,
  type KeyPermission,
  ON_UNSUPPORTED,
  type OnUnsupported,
} from '../store/store.ts';

/** What the verbs work on: the running server's services, or those that a command opened itself. */
export interface OperatorServices
  extends AccountServices,
    BackupServices,
    people.PeopleServices,
    Pick<SealServices, 'masterKeys'> {
  readonly ids: Pick<IdSource, 'next' | 'aheadMs'>;
  readonly ledger: Pick<Ledger, 'credit' | 'verify' | 'balance'>;
  /** What is left of an account's loss allowance; null if the account has no limit. */
  hangups(account: Account): HangupFacts | null;
  /** Why the ledger is read-only; null if it is not. */
  readonly moved: string | null;
  catalog(): Pick<Catalog, 'list' | 'resolve' | 'priceVersion'>;
  /** This process's cache of keys; null if no server runs. */
  readonly directory: { refresh(): Promise<void> } | null;
  /** Null if no server runs. */
  readonly server: ServerFacts | null;
}

export type Progress = (done: VerifyProgress) => void;

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
  'accounts.create': verb(inputs.accountCreation, createNamedAccount),
  'accounts.list': reading(inputs.accountPage, listAccounts),
  'accounts.credit': verb(inputs.accountCredit, credit),
  'keys.mint': verb(inputs.keyMinting, mint),
  'keys.list': reading(inputs.keyPage, listKeys),
  'keys.update': verb(inputs.keyUpdate, updateKey),
  'keys.revoke': verb(inputs.keyChoice, revokeKey),
  'people.invite': verb(people.invitationInput, people.invite),
  'people.list': reading(people.peoplePage, people.listPeople),
  'people.show': reading(people.personChoice, people.showPerson),
  'people.update': verb(people.personUpdate, people.updatePerson),
  'people.disable': verb(people.personChoice, people.disablePerson),
  'people.enable': verb(people.personChoice, people.enablePerson),
  'people.reset': verb(people.personChoice, people.resetPerson),
  'people.sessions': reading(people.personChoice, people.listSessions),
  'people.signout': verb(people.personChoice, people.signOut),
  'sessions.end': verb(people.sessionChoice, people.endSession),
  'invitations.list': reading(people.peoplePage, people.listInvitations),
  'invitations.revoke': verb(people.invitationChoice, people.revokeInvitation),
  'members.list': reading(people.memberPage, people.listMembers),
  'members.put': verb(people.memberInput, people.putMember),
  'members.remove': verb(people.memberChoice, people.removeMember),
  'managementkeys.mint': verb(managementKeyMinting, mintManagementKey),
  'managementkeys.list': reading(managementKeyPage, listManagementKeys),
  'managementkeys.revoke': verb(managementKeyChoice, revokeManagementKey),
  'audit.list': reading(auditPage, listAudit),
  'models.list': reading(inputs.nothing, listModels),
  'models.holds': reading(inputs.nothing, listHoldFactors),
  'models.resetholds': verb(holdFactorReset, resetHoldFactor),
  'balance.show': reading(inputs.balanceChoice, showBalance),
  'receipts.show': reading(inputs.receiptChoice, showReceipt),
  'receipts.list': reading(inputs.receiptPage, listReceipts),
  'ledger.verify': reading(inputs.verification, verify),
  'store.backup': reading(backupPlace, backUpBooks),
  'seal.status': reading(inputs.nothing, showSeals),
  'seal.rotate': verb(sealRotation, rotateSeals),
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
  const parsed = chosen.input.safeParse(input);
  if (!parsed.success) throw new OperatorError('invalid_input', describeInput(parsed.error));
  if (services.moved !== null && !chosen.onlyReads) throw new OperatorError('moved', services.moved);
  try {
    return await chosen.run(services, parsed.data as never, progress);
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
    const result = await runVerb(services, name, bodyText === '' ? {} : parseJson(bodyText));
    return { status: 200, body: stringifyJson(result) };
  } catch (error) {
    const known = error instanceof JsonError ? new OperatorError('invalid_input', error.message) : error;
    if (!(known instanceof OperatorError)) throw error;
    return { status: known.status, body: stringifyJson(operatorErrorView(known)) };
  }
}

function describeInput(error: z.ZodError): string {
  const issue = error.issues[0]!;
  const path = formatPath(issuePath(issue));
  return path === '' ? `The input ${describeIssue(issue)}.` : `${path} ${describeIssue(issue)}.`;
}

async function createNamedAccount(
  services: OperatorServices,
  input: z.output<typeof inputs.accountCreation>,
): Promise<AccountView> {
  const account = await createAccount(services, input, (id) =>
    auditRow(services, {
      action: 'account.create',
      subject: formatId(ACCOUNT_PREFIX, id),
      accountId: id,
      after: input,
    }),
  );
  if (account !== 'name_taken') return accountView(account);
  throw new OperatorError('refused', `An account named "${input.name}" already exists.`, 'tollgate accounts list');
}

async function listAccounts(
  { store }: OperatorServices,
  input: z.output<typeof inputs.accountPage>,
): Promise<ListView<AccountView>> {
  const accounts = await store.listAccounts({ limit: input.limit, after: afterId(ACCOUNT_PREFIX, input.after) });
  return listView(accounts.map(accountView), input.limit);
}

async function mint(
  services: OperatorServices,
  input: z.output<typeof inputs.keyMinting>,
): Promise<KeyView & { secret: string; unknown_models: readonly string[] }> {
  const account = await accountNamed(services, input.account);
  refusePast(services, input.expires_at);
  const models = resolveModels(services, input.models);
  const terms = {
    accountId: account.id,
    name: input.name,
    capNanousd: input.spend_cap_nanousd,
    capWindow: input.window,
    expiresMs: toMs(input.expires_at),
    models: models.ids,
    permissions: input.allow,
    onUnsupported: input.on_unsupported,
  };
  const minted = await mintKey(services, terms, (id) =>
    auditRow(services, { action: 'key.mint', subject: formatId(KEY_PREFIX, id), accountId: account.id, after: input }),
  );
  if (minted === 'no_account') throw unknownAccount(input.account);
  await tellDirectory(services);
  const view = keyView(minted.key, services.clock.nowMs());
  return { ...view, secret: minted.secret.reveal(), unknown_models: models.unknown };
}

async function listKeys(
  services: OperatorServices,
  input: z.output<typeof inputs.keyPage>,
): Promise<ListView<KeyView>> {
  const account = input.account === null ? null : await accountNamed(services, input.account);
  const page = { limit: input.limit, after: afterId(KEY_PREFIX, input.after) };
  const keys = await services.store.listKeys(account?.id ?? null, page);
  const nowMs = services.clock.nowMs();
  return listView(
    keys.map((key) => keyView(key, nowMs)),
    input.limit,
  );
}

async function updateKey(
  services: OperatorServices,
  input: z.output<typeof inputs.keyUpdate>,
): Promise<KeyView & { unknown_models: readonly string[] }> {
  refusePast(services, input.expires_at ?? null);
  const models = resolveModels(services, input.models ?? null);
  const change = keyChangeOf(input, models.ids);
  if (change.capWindow !== undefined) await refuseWindowWithoutCap(services, input.key, change);
  return { ...(await changeKey(services, input.key, change)), unknown_models: models.unknown };
}

function refusePast({ clock }: OperatorServices, expiresAt: number | null): void {
  if (expiresAt !== null && expiresAt * 1000 <= clock.nowMs())
    throw new OperatorError('invalid_input', 'expires_at must be in the future; to stop a key, revoke it.');
}

/** Without a cap a window limits nothing, and the operator would rely on a limit that does not exist. */
async function refuseWindowWithoutCap(services: OperatorServices, idText: string, change: KeyChange): Promise<void> {
  const { capNanousd } = { ...(await keyNamed(services, idText)), ...change };
  if (capNanousd !== null) return;
  throw new OperatorError(
    'invalid_input',
    'A window sets when a spend cap resets, but this key has no cap. Set a cap too.',
  );
}

/** Revoking a key again changes nothing: the first time stands. */
async function revokeKey(services: OperatorServices, input: z.output<typeof inputs.keyChoice>): Promise<KeyView> {
  const key = await keyNamed(services, input.key);
  const nowMs = services.clock.nowMs();
  if (key.revokedMs !== null) return keyView(key, nowMs);
  return changeKey(services, input.key, { revokedMs: nowMs }, 'key.revoke');
}

async function changeKey(
  services: OperatorServices,
  idText: string,
  change: KeyChange,
  action = 'key.change',
): Promise<KeyView> {
  const key = await keyNamed(services, idText);
  const nowMs = services.clock.nowMs();
  const changes = differences(keyView(key, nowMs), keyView(changedKey(key, change), nowMs));
  const audit = auditRow(services, { action, subject: idText, accountId: key.accountId, ...changes });
  const changed = await services.store.updateKey(key.id, change, audit);
  if (changed === null) throw unknownKey(idText);
  await tellDirectory(services);
  return keyView(changed, services.clock.nowMs());
}

/** The key as it will be, for the audit. */
function changedKey(key: KeyRow, { allow = [], deny = [], ...change }: KeyChange): KeyRow {
  const granted = [...new Set([...key.permissions, ...allow])];
  return { ...key, ...change, permissions: granted.filter((permission) => !deny.includes(permission)) };
}

/** The change is durable and will be polled anyway; refreshing this process at once may fail without harm. */
async function tellDirectory({ directory }: OperatorServices): Promise<void> {
  await directory?.refresh().catch(() => {});
}

async function listModels({ catalog }: OperatorServices): Promise<ModelListView> {
  return modelListView(catalog());
}

async function showBalance(
  services: OperatorServices,
  input: z.output<typeof inputs.balanceChoice>,
): Promise<BalanceView & { account: string; name: string }> {
  const key = input.key === undefined ? null : await keyNamed(services, input.key);
  const idOrName = input.account ?? (key === null ? LOCAL_ACCOUNT_NAME : formatId(ACCOUNT_PREFIX, key.accountId));
  const account = await accountNamed(services, idOrName);
  if (key !== null && key.accountId !== account.id) {
    throw new OperatorError('invalid_input', `The key ${input.key} does not belong to the account "${account.name}".`);
  }
  const balance = await services.ledger.balance(account.id, key?.id ?? null);
  if (balance === null) throw unknownAccount(idOrName);
  const facts = { ...balance, hangups: services.hangups(balance.account) };
  return { ...balanceView(facts, key), account: formatId(ACCOUNT_PREFIX, account.id), name: account.name };
}

async function showReceipt(
  { store }: OperatorServices,
  input: z.output<typeof inputs.receiptChoice>,
): Promise<Record<string, unknown>> {
  const id = parseId('req_', input.receipt);
  const receipt = id === null ? null : await store.findReceipt(id, null);
  if (receipt !== null) return receiptView(receipt, { operator: true });
  throw new OperatorError('not_found', `There is no receipt "${input.receipt}".`, 'tollgate receipts list');
}

async function listReceipts(
  services: OperatorServices,
  input: z.output<typeof inputs.receiptPage>,
): Promise<ListView<Record<string, unknown>>> {
  const account = input.account === null ? null : await accountNamed(services, input.account);
  const key = input.key === null ? null : await keyNamed(services, input.key);
  const filter = { accountId: account?.id ?? null, keyId: key?.id ?? null, sinceMs: toMs(input.since) };
  const page = { limit: input.limit, after: afterId('req_', input.after) };
  const receipts = await services.store.listReceipts(filter, page);
  return listView(
    receipts.map((receipt) => receiptView(receipt, { operator: true })),
    input.limit,
  );
}

async function showStatus({ store, ids, catalog, server, moved }: OperatorServices): Promise<StatusView> {
  const { priceVersion: version } = catalog();
  const health = await store.health();
  const known = moved === null ? health : { ...health, mayAdmit: false, reason: moved };
  const losses = await store.acceptedLosses();
  return statusView(server, known, losses, { models: catalog().list().length, version }, ids.aheadMs);
}

/** Replaces names by catalog ids. Unknown names are kept and reported, because a model may be added later. */
function resolveModels(
  { catalog }: OperatorServices,
  names: readonly string[] | null,
): { ids: readonly string[] | null; unknown: readonly string[] } {
  if (names === null) return { ids: null, unknown: [] };
  const unknown: string[] = [];
  const ids = names.map((name) => {
    const resolution = catalog().resolve(name);
    if ('model' in resolution) return resolution.model.id;
    unknown.push(name);
    return name;
  });
  return { ids: [...new Set(ids)], unknown };
}

function toMs(seconds: number | null): number | null {
  return seconds === null ? null : seconds * 1000;
}
