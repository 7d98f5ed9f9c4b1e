import type { CapWindow } from './cap-window.ts';

/** What a key has spent, holds and has reserved in its current window. */
export interface KeySpending {
  readonly spentNanousd: bigint;
  readonly heldNanousd: bigint;
  readonly reservedNanousd: bigint;
  /** Null for a lifetime window. */
  readonly resetsMs: number | null;
}

export interface KeyUses {
  /** The spending of at most a page of keys, by the store's clock. */
  spendingOf(
    keys: readonly { readonly id: bigint; readonly capWindow: CapWindow }[],
  ): Promise<ReadonlyMap<bigint, KeySpending>>;
  /** Notes roughly when keys were last used. It is not a change of the key: its version stays. */
  noteKeyUses(uses: ReadonlyMap<bigint, number>): Promise<void>;
}
