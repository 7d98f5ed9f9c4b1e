/** Sums over all rows, for metrics. */
export interface BookSums {
  /** Of all prepaid accounts. */
  readonly balanceNanousd: bigint;
  readonly heldNanousd: bigint;
  readonly reservedNanousd: bigint;
  readonly openAlerts: number;
  /** At most `LIMITS.webhookPendingMax` are counted. */
  readonly waitingDeliveries: number;
}
