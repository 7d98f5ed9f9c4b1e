import { GatewayError } from '../canonical/errors.ts';
import { KEY_PREFIX } from '../canonical/id-prefixes.ts';
import { formatId } from '../kit/ids.ts';
import type { KeyPermission } from '../store/store.ts';
import type { Caller } from './authenticate.ts';

export type { KeyPermission } from '../store/store.ts';

/** Completes the sentence "This key may not …". */
const ALLOWED: Readonly<Record<KeyPermission, string>> = {
  provider_keys: 'store or delete provider keys',
  account_read: "read the receipts of the account's other keys",
  webhooks: "manage the account's webhooks",
};

/** The error for a key without this permission; null if it has it. Callers without a key, in local mode, have every permission. */
export function missingPermission({ key }: Caller, permission: KeyPermission): GatewayError | null {
  if (key === null || key.permissions.includes(permission)) return null;
  const command = `tollgate keys update ${formatId(KEY_PREFIX, key.id)} --allow ${permissionOption(permission)}`;
  return new GatewayError('permission_denied', {
    message: `This key may not ${ALLOWED[permission]}. The operator of the gateway can allow it: ${command}`,
  });
}

/** A permission as it is written on the command line. */
export function permissionOption(permission: KeyPermission | 'calls'): string {
  return permission.replaceAll('_', '-');
}
