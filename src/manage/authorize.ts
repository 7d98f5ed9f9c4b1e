import { findAccount } from '../accounts/accounts.ts';
import { hasRole, type Principal } from '../accounts/principal.ts';
import {
  ALERT_PREFIX,
  GROUP_PREFIX,
  INVITATION_PREFIX,
  JOB_PREFIX,
  KEY_PREFIX,
  MANAGEMENT_KEY_PREFIX,
  PERSON_PREFIX,
  REQUEST_PREFIX,
} from '../canonical/id-prefixes.ts';
import { formatId, parseId } from '../kit/ids.ts';
import type { OperatorServices } from '../operator/operator.ts';
import { ManageError } from './error.ts';
import type { ManageRoute } from './route.ts';

type Input = Record<string, unknown>;

/**
 * A stranger to an account learns nothing about it: what they may not see does not exist for them. Returns the input, which for
 * a member names the member where the route is about keys of an account.
 */
export async function authorize(
  principal: Principal,
  { access, scope, membersOwn, operatorInputs = [] }: ManageRoute,
  input: Input,
  services: OperatorServices,
): Promise<Input> {
  if (principal.isOperator || access === 'anybody') return input;
  if (access === 'operator') throw denied();
  const groups = typeof input.group_by === 'string' ? input.group_by.split(',').map((word) => word.trim()) : [];
  const reserved = operatorInputs.find((name) => input[name] !== undefined || groups.includes(name));
  if (reserved !== undefined) throw new ManageError(403, 'permission_denied', `Only operators may send ${reserved}.`);
  const accountId = await accountOf(scope, input, services);
  if (accountId === null || !principal.roles.has(accountId)) {
    if (input.account === undefined && scope === 'account')
      throw new ManageError(403, 'permission_denied', 'Name an account in which you have a role, with `account`.');
    throw unknown();
  }
  if (membersOwn !== undefined && principal.roles.get(accountId) === 'member')
    return onlyOwn(principal, membersOwn, input, services);
  if (!hasRole(principal, accountId, access.role)) throw denied();
  if (scope === 'account' && typeof input.key === 'string' && (await accountOf('key', input, services)) !== accountId)
    throw unknown();
  if (typeof input.person === 'string' && !input.person.includes('@'))
    throw new ManageError(404, 'not_found', 'Name the person by their email address.');
  return input;
}

/** Only owners may give a key permissions beyond calls, because they concern the whole account. */
async function onlyOwn(
  { actor }: Principal,
  membersOwn: NonNullable<ManageRoute['membersOwn']>,
  input: Input,
  { store }: OperatorServices,
): Promise<Input> {
  // Every caller of the account can see the balance, but not what one key spends.
  if (membersOwn === 'balance' && input.key === undefined) return input;
  if (membersOwn === 'nothing' || actor.kind !== 'person' || actor.id === null) throw denied();
  if (Array.isArray(input.allow) && input.allow.length > 0)
    throw new ManageError(403, 'permission_denied', 'Only an owner may give a key permissions with `allow`.');
  if (membersOwn === 'keys' || (input.key === undefined && LISTS_OF_CALLS.has(membersOwn))) {
    const self = formatId(PERSON_PREFIX, actor.id);
    const named = typeof input.person === 'string' ? input.person : self;
    if (named !== self && named.toLowerCase() !== actor.name.toLowerCase()) throw denied();
    return { ...input, person: self };
  }
  if ((await ownedBy(membersOwn, input, store))?.personId !== actor.id) throw unknown();
  return input;
}

/** Without a key, a member gets the calls of all their keys. */
const LISTS_OF_CALLS: ReadonlySet<string> = new Set(['feed', 'receipts']);

/** What a member must be the owner of. */
async function ownedBy(
  membersOwn: NonNullable<ManageRoute['membersOwn']>,
  input: Input,
  store: OperatorServices['store'],
): Promise<{ readonly personId: bigint | null } | null> {
  if (membersOwn === 'job' || membersOwn === 'job_group') return jobIn(membersOwn, input, store);
  const id = membersOwn === 'receipt' ? idOf(REQUEST_PREFIX, input.receipt) : idOf(KEY_PREFIX, input.key);
  if (id === null) return null;
  return membersOwn === 'receipt' ? store.findReceipt(id, null) : store.findKey(id);
}

async function jobIn(
  what: 'job' | 'job_group',
  input: Input,
  { jobs }: OperatorServices['store'],
): Promise<{ readonly accountId: bigint; readonly personId: bigint | null } | null> {
  const id = idOf(what === 'job' ? JOB_PREFIX : GROUP_PREFIX, input[what]);
  if (id === null) return null;
  return what === 'job' ? jobs.find(id, null) : jobs.findGroup(id, null);
}

function idOf(prefix: string, value: unknown): bigint | null {
  return typeof value === 'string' ? parseId(prefix, value) : null;
}

async function accountOf(
  scope: ManageRoute['scope'],
  input: Input,
  { store }: OperatorServices,
): Promise<bigint | null> {
  if (scope === 'job' || scope === 'job_group') return (await jobIn(scope, input, store))?.accountId ?? null;
  if (scope === 'account')
    return typeof input.account === 'string' ? ((await findAccount(store, input.account))?.id ?? null) : null;
  if (scope === 'key') {
    const id = idOf(KEY_PREFIX, input.key);
    return id === null ? null : ((await store.findKey(id))?.accountId ?? null);
  }
  if (scope === 'receipt') {
    const id = idOf(REQUEST_PREFIX, input.receipt);
    return id === null ? null : ((await store.findReceipt(id, null))?.accountId ?? null);
  }
  if (scope === 'invitation') {
    const id = idOf(INVITATION_PREFIX, input.invitation);
    return id === null ? null : ((await store.directory.findInvitationById(id))?.accountId ?? null);
  }
  if (scope === 'alert') {
    const id = idOf(ALERT_PREFIX, input.alert);
    return id === null ? null : ((await store.directory.findAlert(id))?.accountId ?? null);
  }
  const id = idOf(MANAGEMENT_KEY_PREFIX, input.management_key);
  return id === null ? null : ((await store.directory.findManagementKey(id))?.accountId ?? null);
}

function unknown(): ManageError {
  return new ManageError(404, 'not_found', 'There is no such account, key, receipt, job, invitation or alert.');
}

function denied(): ManageError {
  return new ManageError(403, 'permission_denied', 'Your role does not allow this.');
}
