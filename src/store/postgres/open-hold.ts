/** What is needed to end a hold; it never changes. */
export interface OpenHold {
  readonly accountId: bigint;
  readonly heldNanousd: bigint;
  readonly windowName: string | null;
  readonly personWindowName: string | null;
  readonly idempotencyKey: string | null;
}

/** Finds holds that this process took. */
export interface OpenHoldLookup {
  find(id: bigint): OpenHold | null;
}
