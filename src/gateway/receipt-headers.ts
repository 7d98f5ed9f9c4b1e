import type { CostComponents } from '../canonical/receipt.ts';

export interface SettledCost {
  readonly costNanousd: bigint;
  readonly components: CostComponents | null;
  /** How the request to the host differs from the caller's; null or absent if it does not. */
  readonly adjusted?: string | null;
}

/** The cost headers of a buffered response. If the components are unknown, their header is absent. */
export function receiptLines({ costNanousd, components }: SettledCost): string {
  const cost = `x-gateway-cost-nanousd: ${costNanousd}\r\n`;
  if (components === null) return cost;
  const { freshNanousd, cacheWriteNanousd, cacheReadNanousd, outputNanousd } = components;
  return `${cost}x-gateway-cost-components-nanousd: fresh=${freshNanousd},cache_write=${cacheWriteNanousd},cache_read=${cacheReadNanousd},output=${outputNanousd}\r\n`;
}

/** For requests that are always free. */
export const FREE_LINES = receiptLines({ costNanousd: 0n, components: null });

/** Names what was dropped from the request or lowered in it. */
export function adjustedLines(adjusted: string | null | undefined): string {
  return adjusted == null ? '' : `x-gateway-adjusted: ${adjusted}\r\n`;
}

/** Tells a caller whose loss allowance is used up that hanging up before any content is charged. */
export function hangupLines(areCharged: boolean | undefined): string {
  return areCharged === true ? 'x-gateway-hangups: charged\r\n' : '';
}
