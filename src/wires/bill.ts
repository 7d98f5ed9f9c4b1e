import type { CostComponents } from '../canonical/receipt.ts';
import type { Usage } from '../canonical/usage.ts';

/** What was billed, as a wire writes it: the exact integer, and the same amount in dollars. */
export interface Bill {
  readonly usage: Usage;
  readonly costNanousd: bigint;
  readonly costUsd: number;
  /** Null if they would not sum to the cost. */
  readonly components: CostComponents | null;
}
