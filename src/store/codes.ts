import type { Ended, ReceiptState, UsageSource } from '../canonical/receipt.ts';
import type { JobState, OnUnknown } from './jobs.ts';
import {
  type AccountKind,
  type AccountStatus,
  type CapWindow,
  type IdempotencyState,
  KEY_PERMISSIONS,
  type KeyPermission,
  type OnUnsupported,
} from './store.ts';
import { type WindowSpan, windowSpan } from './windows.ts';

/** Words that are stored as numbers. A released number never changes its meaning. */
export const ACCOUNT_KIND = codes<AccountKind>({ prepaid: 1n, unlimited: 2n });
export const ACCOUNT_STATUS = codes<AccountStatus>({ active: 0n, suspended: 1n, closed: 2n });
export const CAP_WINDOW = codes<CapWindow>({ lifetime: 0n, day: 1n, week: 2n, month: 3n });
export const ON_UNSUPPORTED_CODE = codes<OnUnsupported>({ refuse: 0n, drop: 1n });
export const CALL_STATE = codes<ReceiptState>({ open: 1n, settled: 2n, voided: 3n });
export const ENDED = codes<Ended>({
  complete: 1n,
  failed: 2n,
  upstream_error: 3n,
  timeout: 4n,
  shutdown: 5n,
  client_gone: 6n,
  stalled: 7n,
  died: 8n,
});
export const USAGE_SOURCE = codes<UsageSource>({ none: 0n, reported: 1n, partial: 2n, estimated: 3n, drained: 4n });
export const IDEMPOTENCY_STATE = codes<IdempotencyState>({ running: 1n, finished: 2n, unknown: 3n });

export const JOB_STATE = codes<JobState>({
  staged: 0n,
  queued: 1n,
  running: 2n,
  cancelling: 3n,
  paused: 4n,
  succeeded: 5n,
  failed: 6n,
  cancelled: 7n,
  expired: 8n,
  pausing: 9n,
});
export const ON_UNKNOWN_CODE = codes<OnUnknown>({ fail: 0n, retry: 1n });

/** A key's permissions are stored as the sum of these, each a bit of its own. */
const PERMISSION_BIT: Readonly<Record<KeyPermission, bigint>> = {
  provider_keys: 1n,
  account_read: 2n,
  webhooks: 4n,
};

export function permissionBits(permissions: readonly KeyPermission[] = []): bigint {
  return permissions.reduce((bits, permission) => bits | PERMISSION_BIT[permission], 0n);
}

/** Bits of a later version are ignored, and kept by every change. */
export function permissionsOf(bits: bigint): KeyPermission[] {
  return KEY_PERMISSIONS.filter((permission) => (bits & PERMISSION_BIT[permission]) !== 0n);
}

export interface Codes<Word extends string> {
  readonly of: Readonly<Record<Word, bigint>>;
  word(code: bigint): Word;
}

function codes<Word extends string>(of: Record<Word, bigint>): Codes<Word> {
  const words = new Map(Object.entries(of).map(([word, code]) => [code as bigint, word as Word]));
  return {
    of,
    word: (code) => {
      const word = words.get(code);
      if (word === undefined)
        throw new Error(`The database contains the code ${code}, which this version does not know.`);
      return word;
    },
  };
}

const DAY_MS = 86_400_000;

/**
 * A window's number within its key: the first day times four, plus the kind, so that a month and its first day differ.
 */
export function windowId(window: CapWindow, ms: number): bigint {
  return BigInt(windowSpan(window, ms).startMs / DAY_MS) * 4n + CAP_WINDOW.of[window];
}

export function windowOfId(id: bigint): WindowSpan & { readonly window: CapWindow } {
  const window = CAP_WINDOW.word(id & 3n);
  return { window, ...windowSpan(window, Number(id >> 2n) * DAY_MS) };
}
