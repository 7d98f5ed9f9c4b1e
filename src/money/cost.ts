import type { CostComponents } from '../canonical/receipt.ts';
import { inputTokens, type Usage } from '../canonical/usage.ts';
import type { Price, Rates } from './price.ts';

interface Cost {
  readonly components: CostComponents;
  readonly costNanousd: bigint;
}

/** Rounds each component up once, in integers. Their sum is the cost, so nothing is rounded afterwards. */
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

/** One tier prices the whole request: the highest one whose threshold the input, cached or not, exceeds. */
export function ratesFor(price: Price, inputSideTokens: number): Rates {
  return price.tiers.findLast((tier) => inputSideTokens > tier.aboveInputTokens) ?? price;
}

/** Tokens times rate, divided by the million that rates refer to, rounded up. */
export function perMillion(tokensTimesRate: bigint): bigint {
  return (tokensTimesRate + 999_999n) / 1_000_000n;
}

function sumOf(components: CostComponents): bigint {
  return (
    components.freshNanousd + components.cacheWriteNanousd + components.cacheReadNanousd + components.outputNanousd
  );
}
