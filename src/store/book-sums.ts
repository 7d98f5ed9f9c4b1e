/** Sums over all rows, for metrics. */
export interface BookSums {
  /** The sum over all prepaid accounts. */
  readonly balanceNanousd: bigint;
  readonly heldNanousd: bigint;
  readonly reservedNanousd: bigint;
  readonly openAlerts: number;
  /** At most `LIMITS.webhookPendingMax` are counted. */
  readonly waitingDeliveries: number;
}
