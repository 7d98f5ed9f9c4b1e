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
import { splitWords } from '../operator/usage.ts';
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
  const groups = typeof input.group_by === 'string' ? splitWords(input.group_by) : [];
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

/** Limits a member to what is their own. */
async function onlyOwn(
  { actor }: Principal,
  membersOwn: NonNullable<ManageRoute['membersOwn']>,
  input: Input,
  { store }: OperatorServices,
): Promise<Input> {
  // Every caller of the account can see the balance, but not what one key spends.
  if (membersOwn === 'balance' && input.key === undefined) return input;
  if (membersOwn === 'nothing' || actor.kind !== 'person' || actor.id === null) throw denied();
  // Permissions beyond calls concern the whole account.
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
function ownedBy(
  membersOwn: NonNullable<ManageRoute['membersOwn']>,
  input: Input,
  store: OperatorServices['store'],
): Promise<Subject | null> {
  const isNamed = membersOwn === 'receipt' || membersOwn === 'job' || membersOwn === 'job_group';
  return findSubject(isNamed ? membersOwn : 'key', input, store);
}

async function accountOf(
  scope: ManageRoute['scope'],
  input: Input,
  { store }: OperatorServices,
): Promise<bigint | null> {
  if (scope === undefined) return null;
  if (scope !== 'account') return (await findSubject(scope, input, store))?.accountId ?? null;
  return typeof input.account === 'string' ? ((await findAccount(store, input.account))?.id ?? null) : null;
}

/** Something of an account that a route is about. */
interface Subject {
  readonly accountId: bigint | null;
  readonly personId?: bigint | null;
}

type SubjectKind = Exclude<NonNullable<ManageRoute['scope']>, 'account'>;
type FindSubject = (store: OperatorServices['store'], id: bigint) => Promise<Subject | null>;

const SUBJECTS: Readonly<Record<SubjectKind, { readonly prefix: string; readonly find: FindSubject }>> = {
  key: { prefix: KEY_PREFIX, find: (store, id) => store.findKey(id) },
  receipt: { prefix: REQUEST_PREFIX, find: (store, id) => store.findReceipt(id, null) },
  job: { prefix: JOB_PREFIX, find: ({ jobs }, id) => jobs.find(id, null) },
  job_group: { prefix: GROUP_PREFIX, find: ({ jobs }, id) => jobs.findGroup(id, null) },
  invitation: { prefix: INVITATION_PREFIX, find: ({ directory }, id) => directory.findInvitationById(id) },
  alert: { prefix: ALERT_PREFIX, find: ({ directory }, id) => directory.findAlert(id) },
  management_key: { prefix: MANAGEMENT_KEY_PREFIX, find: ({ directory }, id) => directory.findManagementKey(id) },
};

/** Finds the subject by its id, which the input has under the name of its kind; null if nothing has that id. */
async function findSubject(kind: SubjectKind, input: Input, store: OperatorServices['store']): Promise<Subject | null> {
  const { prefix, find } = SUBJECTS[kind];
  const value = input[kind];
  const id = typeof value === 'string' ? parseId(prefix, value) : null;
  return id === null ? null : find(store, id);
}

function unknown(): ManageError {
  return new ManageError(404, 'not_found', 'There is no such account, key, receipt, job, invitation or alert.');
}

function denied(): ManageError {
  return new ManageError(403, 'permission_denied', 'Your role does not allow this.');
}
