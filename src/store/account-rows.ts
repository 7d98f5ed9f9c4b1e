import type { CapWindow } from './cap-window.ts';
import type { ReplacedSecret } from './key-secrets.ts';
import type { LossHour } from './loss-allowance.ts';

export type AccountKind = 'prepaid' | 'unlimited';

export interface NewAccount {
  readonly id: bigint;
  readonly name: string;
  readonly kind: AccountKind;
  readonly createdMs: number;
}

/** A suspended account takes no new calls until it is resumed, a closed one never again. Running calls finish and are charged. */
export type AccountStatus = 'active' | 'suspended' | 'closed';

/** The entry that brings the balance of a closed account to zero. */
export interface Payout {
  readonly id: bigint;
  readonly reference: string;
  readonly note: string;
  readonly createdMs: number;
}

export type ClosingOutcome =
  | { readonly kind: 'closed'; readonly paidOutNanousd: bigint }
  | { readonly kind: 'already_closed' }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'not_suspended' }
  /** Calls that have not ended yet; nothing was changed. */
  | { readonly kind: 'calls_open'; readonly calls: number; readonly heldNanousd: bigint }
  /** Jobs that wait to run; they have to be released first. */
  | { readonly kind: 'jobs_waiting' };

export interface Account extends NewAccount, LossHour {
  readonly status: AccountStatus;
  /** Increased by every change of the name or the status. */
  readonly version: bigint;
  readonly balanceNanousd: bigint;
  readonly heldNanousd: bigint;
  /** For jobs that wait to run. */
  readonly reservedNanousd: bigint;
  /** Everything ever charged. */
  readonly spentNanousd: bigint;
}

/** What a key may do besides calling models. A key has none of these unless it was granted. */
export const KEY_PERMISSIONS = ['provider_keys', 'account_read', 'webhooks'] as const;
export type KeyPermission = (typeof KEY_PERMISSIONS)[number];

/** What happens to fields of a request that cannot be sent to the model's host, unless the request says otherwise. */
export const ON_UNSUPPORTED = ['refuse', 'drop'] as const;
export type OnUnsupported = (typeof ON_UNSUPPORTED)[number];

/** What an owner or an operator fixed for a person's key, for the person to stay within. Absent members are free. */
export interface OwnerTerms {
  readonly capNanousd?: bigint;
  /** Together with the cap. */
  readonly capWindow?: CapWindow;
  readonly maxCostNanousd?: bigint;
  readonly models?: readonly string[];
  readonly expiresMs?: number;
}

export interface NewKey {
  readonly id: bigint;
  readonly accountId: bigint;
  /** Whose key it is, which never changes; null if it belongs to no person. */
  readonly personId: bigint | null;
  readonly name: string;
  readonly sha256Hex: string;
  readonly prefix: string;
  readonly lastFour: string;
  readonly capNanousd: bigint | null;
  readonly capWindow: CapWindow;
  readonly expiresMs: number | null;
  /** Model ids that the key may use; null allows all. */
  readonly models: readonly string[] | null;
  readonly permissions: readonly KeyPermission[];
  readonly onUnsupported: OnUnsupported;
  /** Absent or null: none. */
  readonly note?: string | null;
  /** The most that one call may cost; absent or null for no limit. */
  readonly maxCostNanousd?: bigint | null;
  /** Absent: none. */
  readonly ownerTerms?: OwnerTerms;
  readonly createdMs: number;
}

export interface KeyRow extends NewKey {
  readonly ownerTerms: OwnerTerms;
  readonly note: string | null;
  readonly maxCostNanousd: bigint | null;
  /** About when the key was last used; null if never. */
  readonly usedMs: number | null;
  /** Null if the key was never rotated. */
  readonly replaced: ReplacedSecret | null;
  readonly revokedMs: number | null;
  /** When the key itself was disabled; null if it is not. */
  readonly disabledMs: number | null;
  /** When the key stopped working because its person was disabled, or ceased to be an owner or member of the account; null if it works. */
  readonly personDisabledMs: number | null;
  readonly version: bigint;
}

/**
 * `too_many_keys`: the person has as many keys in the account as they may. `not_allowed`, here and below: whoever makes the change
 * may no longer make it.
 */
export type KeyCreation = 'created' | 'no_account' | 'no_member' | 'too_many_keys' | 'not_allowed';

export type ChangedKey = KeyRow | null | 'version_conflict' | 'not_allowed';

/** Absent members do not change. A new cap window starts at zero in its own row. */
export interface KeyChange {
  readonly name?: string;
  readonly capNanousd?: bigint | null;
  readonly capWindow?: CapWindow;
  readonly expiresMs?: number | null;
  readonly models?: readonly string[] | null;
  /** Permissions to grant and to take away. All others stay, so that two changes at once both count. */
  readonly allow?: readonly KeyPermission[];
  readonly deny?: readonly KeyPermission[];
  readonly onUnsupported?: OnUnsupported;
  readonly note?: string | null;
  readonly maxCostNanousd?: bigint | null;
  readonly ownerTerms?: OwnerTerms;
  readonly revokedMs?: number;
  /** Null enables the key again, unless its person is disabled. */
  readonly disabledMs?: number | null;
}
