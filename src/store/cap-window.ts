export const CAP_WINDOWS = ['lifetime', 'day', 'week', 'month'] as const;
export type CapWindow = (typeof CAP_WINDOWS)[number];

/** What was spent, is held and is reserved in a window of a cap. */
export interface KeyWindow {
  readonly window: CapWindow;
  readonly startMs: number;
  /** Null for a lifetime window. */
  readonly resetsMs: number | null;
  readonly spentNanousd: bigint;
  readonly heldNanousd: bigint;
  readonly reservedNanousd: bigint;
}
