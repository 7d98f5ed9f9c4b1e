import type { Caller } from '../accounts/authenticate.ts';
import { type KeyPermission, missingPermission } from '../accounts/permissions.ts';
import { GatewayError } from '../canonical/errors.ts';

/**
 * Throws if the key has been revoked, or has lost the permission, while its body arrived, which may take minutes. Routes
 * without a permission change nothing of the account, and the ledger checks the key of a call itself.
 */
export async function checkKeyAgain(
  permission: KeyPermission | undefined,
  authenticate: () => Caller | GatewayError | Promise<Caller | GatewayError>,
): Promise<void> {
  if (permission === undefined) return;
  const caller = await authenticate();
  const refused = caller instanceof GatewayError ? caller : missingPermission(caller, permission);
  if (refused !== null) throw refused;
}
