import type { CostComponents } from '../canonical/receipt.ts';
import { inputTokens, type Usage } from '../canonical/usage.ts';
import type { Price, Rates } from './price.ts';

export interface Cost {
  readonly components: CostComponents;
  readonly costNanousd: bigint;
}

/** Each component is rounded up once, in integers; their sum is the cost, so nothing is rounded after it. */
export function costOf(price: Price, usage: Usage): Cost {
  const rates = ratesFor(price, inputTokens(usage));
  const inputRate = rates.inputNanousdPerMillion;
  const components: CostComponents = {
    freshNanousd: perMillion(BigInt(usage.freshTokens) * inputRate),
    cacheWriteNanousd: perMillion(
      BigInt(usage.cacheWriteTokens) * (rates.cacheWriteNanousdPerMillion ?? inputRate) +
        BigInt(usage.cacheWrite1hTokens) * (rates.cacheWrite1hNanousdPerMillion ?? inputRate),
    ),
    cacheReadNanousd: perMillion(BigInt(usage.cacheReadTokens) * (rates.cacheReadNanousdPerMillion ?? inputRate)),
    outputNanousd: perMillion(BigInt(usage.outputTokens) * rates.outputNanousdPerMillion),
  };
  return { components, costNanousd: sumOf(components) };
}

/** One row prices the whole request: the highest tier that its input side, cached or not, lies above. */
export function ratesFor(price: Price, inputSideTokens: number): Rates {
  return price.tiers.findLast((tier) => inputSideTokens > tier.aboveInputTokens) ?? price;
}

/** Divides tokens times rate by the million that rates are quoted for, rounding up. */
export function perMillion(tokensTimesRate: bigint): bigint {
  return (tokensTimesRate + 999_999n) / 1_000_000n;
}

function sumOf(components: CostComponents): bigint {
  return (
    components.freshNanousd + components.cacheWriteNanousd + components.cacheReadNanousd + components.outputNanousd
  );
}
