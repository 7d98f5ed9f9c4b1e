import type { Receipt } from '../../api/generated/routes.ts';

/** A chain is the caller's own sequence of calls; a receipt has its id and the place of the call as `<id>;<n>`. */
export interface ChainPlace {
  readonly id: string;
  readonly place: number;
}

export function chainPlaceOf({ chain }: Pick<Receipt, 'chain'>): ChainPlace | null {
  if (chain === null) return null;
  const at = chain.lastIndexOf(';');
  return { id: chain.slice(0, at), place: Number(chain.slice(at + 1)) };
}

interface ChainSum {
  readonly costNanousd: bigint;
  readonly refundedNanousd: bigint;
  /** Calls that have not ended, whose cost is not in the sum. */
  readonly running: number;
}

export function sumOfChain(
  receipts: readonly Pick<Receipt, 'cost_nanousd' | 'refunded_nanousd' | 'status'>[],
): ChainSum {
  return {
    costNanousd: receipts.reduce((sum, { cost_nanousd }) => sum + (cost_nanousd ?? 0n), 0n),
    refundedNanousd: receipts.reduce((sum, { refunded_nanousd }) => sum + refunded_nanousd, 0n),
    running: receipts.filter(({ status }) => status === 'open').length,
  };
}

/** In the order of the chain; two calls at one place, as a retry makes them, in the order of time. */
export function inOrderOfChain<Each extends Pick<Receipt, 'chain' | 'id'>>(receipts: readonly Each[]): readonly Each[] {
  const placeOf = (receipt: Each): number => chainPlaceOf(receipt)?.place ?? 0;
  return receipts.toSorted((a, b) => placeOf(a) - placeOf(b) || (a.id < b.id ? -1 : 1));
}
