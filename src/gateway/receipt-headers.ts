import type { CostComponents } from '../canonical/receipt.ts';

export interface SettledCost {
  readonly costNanousd: bigint;
  readonly components: CostComponents | null;
}

/** The cost headers of a buffered answer; without components their header is absent, which means unknown, never zero. */
export function receiptHeaders({ costNanousd, components }: SettledCost): Record<string, string> {
  const headers: Record<string, string> = { 'x-gateway-cost-nanousd': String(costNanousd) };
  if (components !== null) headers['x-gateway-cost-components-nanousd'] = componentsText(components);
  return headers;
}

function componentsText({ freshNanousd, cacheWriteNanousd, cacheReadNanousd, outputNanousd }: CostComponents): string {
  return `fresh=${freshNanousd},cache_write=${cacheWriteNanousd},cache_read=${cacheReadNanousd},output=${outputNanousd}`;
}
