import { findAccount } from '../accounts/accounts.ts';
import { hasRole, type Principal } from '../accounts/principal.ts';
import { KEY_PREFIX } from '../canonical/id-prefixes.ts';
import { parseId } from '../kit/ids.ts';
import type { OperatorServices } from '../operator/operator.ts';
import { ManageError } from './error.ts';
import type { ManageRoute } from './route.ts';

/** A stranger to an account learns nothing of it: what they may not see does not exist for them. */
export async function authorize(
  principal: Principal,
  { access, scope, operatorInputs = [] }: ManageRoute,
  input: Record<string, unknown>,
  services: OperatorServices,
): Promise<void> {
  if (principal.isOperator || access === 'anybody') return;
  if (access === 'operator') throw denied();
  const reserved = operatorInputs.find((name) => input[name] !== undefined);
  if (reserved !== undefined) throw new ManageError(403, 'permission_denied', `Only operators may send ${reserved}.`);
  const accountId = await accountOf(scope, input, services);
  if (accountId === null || !principal.roles.has(accountId)) {
    if (input.account === undefined && scope === 'account')
      throw new ManageError(403, 'permission_denied', 'Name an account in which you have a role, with `account`.');
    throw new ManageError(404, 'not_found', 'There is no such account, key or receipt.');
  }
  if (!hasRole(principal, accountId, access.role)) throw denied();
  if (scope === 'account' && typeof input.key === 'string' && (await accountOf('key', input, services)) !== accountId)
    throw new ManageError(404, 'not_found', 'There is no such account, key or receipt.');
  if (typeof input.person === 'string' && !input.person.includes('@'))
    throw new ManageError(404, 'not_found', 'Name the person by their email address.');
}

async function accountOf(
  scope: ManageRoute['scope'],
  input: Record<string, unknown>,
  { store }: OperatorServices,
): Promise<bigint | null> {
  if (scope === 'key') {
    const id = typeof input.key === 'string' ? parseId(KEY_PREFIX, input.key) : null;
    return id === null ? null : ((await store.findKey(id))?.accountId ?? null);
  }
  if (scope === 'receipt') {
    const id = typeof input.receipt === 'string' ? parseId('req_', input.receipt) : null;
    return id === null ? null : ((await store.findReceipt(id, null))?.accountId ?? null);
  }
  return typeof input.account === 'string' ? ((await findAccount(store, input.account))?.id ?? null) : null;
}

function denied(): ManageError {
  return new ManageError(403, 'permission_denied', 'Your role does not allow this.');
}
