/** How much space a ledger took before it was compacted, and afterwards. */
export interface CompactReport {
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}
