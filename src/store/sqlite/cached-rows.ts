import type { WindowRow } from './window-cache.ts';

export interface BalanceRow {
  readonly accountId: bigint;
  readonly kind: bigint;
  readonly unlimited: boolean;
  readonly status: bigint;
  balance: bigint;
  /** The sum of its open calls; not stored. */
  held: bigint;
  /** For jobs that wait to run. */
  reserved: bigint;
  spent: bigint;
  lossHour: number;
  lostNanousd: bigint;
  dirty: boolean;
}

/** A cap of a key or a member, and its last window. */
export interface CapRule {
  readonly cap: bigint | null;
  readonly capWindow: bigint;
  window: WindowRow | null;
}

/** What a hold checks of a person's role in an account. */
export interface MemberRule extends CapRule {
  readonly accountId: bigint;
  readonly personId: bigint;
}

/** What a hold checks of its key. */
export interface KeyRule extends CapRule {
  readonly id: bigint;
  readonly accountId: bigint;
  readonly expiresMs: bigint | null;
  /** Revoked, disabled, or of a person without a role in the account. */
  readonly isOff: boolean;
  /** Null if the key belongs to no person. */
  readonly member: MemberRule | null;
}

/** What is needed to end a hold. */
export interface CallRow {
  readonly id: bigint;
  readonly state: bigint;
  readonly balance: BalanceRow;
  readonly window: WindowRow | null;
  readonly personWindow: WindowRow | null;
  readonly held: bigint;
  readonly cost: bigint;
  readonly idempotencyKey: string | null;
}

/** Where a call or a job counts; null if it has no key, or its key no person. */
export interface Windows {
  readonly window: WindowRow | null;
  readonly personWindow: WindowRow | null;
}
