import type { Caller } from '../../accounts/authenticate.ts';

/** Who a limit is about. Calls without a key are the operator's own and are not limited. */
export type Limited = Pick<Caller, 'accountId' | 'keyId'>;

type Payer = { readonly keyId: bigint | null; readonly accountId: bigint | null };
const NOBODY: Payer = { keyId: null, accountId: null };

export function payerOf(caller: Limited | null): Payer {
  return caller === null || caller.keyId === null ? NOBODY : caller;
}

/** An id for an account in tables whose other ids are those of keys: no key has it, and it is never -1 or 0. */
export function accountEntry(accountId: bigint): bigint {
  return -2n - accountId;
}
