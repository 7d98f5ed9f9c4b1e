/** A call that was refused before anything was held. It has no receipt. */
export interface Refusal {
  /** The id of the request. */
  readonly id: bigint;
  readonly accountId: bigint;
  /** Null for a call without a key, in local mode. */
  readonly keyId: bigint | null;
  readonly atMs: number;
  readonly route: string;
  /** As the caller named it; null if the request was refused before it was read. */
  readonly model: string | null;
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** What the call could have cost, and what was available for it; null if it was not about money. */
  readonly worstNanousd: bigint | null;
  readonly availableNanousd: bigint | null;
}

/** How many calls of a key were refused with a code, in the hour that begins at `startMs`. */
export interface RefusalCount {
  readonly startMs: number;
  readonly accountId: bigint;
  readonly keyId: bigint | null;
  readonly code: string;
  readonly refused: number;
}

export interface RefusalBatch {
  readonly counts: readonly RefusalCount[];
  readonly rows: readonly Refusal[];
  /** Whether to drop the oldest rows beyond the maximum of all accounts, which takes long. */
  readonly prunes: boolean;
}

export interface RefusalPage {
  readonly limit: number;
  /** Refusals that are older than this one. */
  readonly after: bigint | null;
}

/** Null leaves a condition out. */
export interface RefusalFilter {
  readonly id: bigint | null;
  readonly accountId: bigint | null;
  readonly keyId: bigint | null;
  readonly personId: bigint | null;
  /** As the caller named it. */
  readonly model: string | null;
  readonly code: string | null;
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
}
