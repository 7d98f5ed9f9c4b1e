/** What ending a hold needs to know of it; none of this ever changes. */
export interface OpenHold {
  readonly accountId: bigint;
  readonly heldNanousd: bigint;
  readonly windowName: string | null;
  readonly idempotencyKey: string | null;
}

/** Finds the holds that this process took itself. */
export interface OpenHoldLookup {
  find(id: bigint): OpenHold | null;
}
