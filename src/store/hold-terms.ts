/**
 * Marks requests that the caller declares to be the same. The first hold takes the key; any other hold with it gets the
 * outcome `idempotent`, until a settlement frees the key or it expires (see `store/idempotency.ts`).
 */
export interface IdempotencyMark {
  readonly key: string;
  /** SHA-256 of everything that must be equal in requests with the same key. */
  readonly bodySha256: Uint8Array;
}

/**
 * In the order of the checks. `out_of_range` comes first for an invalid amount, and last for one that would make a sum
 * exceed 64 bits. A key is inactive if it is unknown, revoked, expired, disabled, or of another account or person. An
 * idempotency key is checked after `key_inactive` and before the money, so that a response that was paid for is
 * replayed even to an empty account. `loss_allowance` refuses only a hold that names a limit of losses.
 */
export type HoldRefusal =
  | 'out_of_range'
  | 'stale_epoch'
  | 'no_account'
  | 'key_inactive'
  | 'account_suspended'
  | 'account_closed'
  | 'loss_allowance'
  | 'cost_ceiling'
  | 'key_cap'
  | 'person_cap'
  | 'balance';
