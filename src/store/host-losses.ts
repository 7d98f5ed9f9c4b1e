export interface TimeSpan {
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** What hosts may bill although no caller paid for it, the largest first. */
export interface HostLosses {
  /** False if the period has more receipts than were read: the oldest are missing. */
  readonly isComplete: boolean;
  readonly losses: readonly HostLoss[];
}

interface HostLoss {
  /** Null for calls whose host is not known, like those of a process that died. */
  readonly host: string | null;
  readonly reason: string | null;
  readonly calls: number;
  readonly lossNanousd: bigint;
}
