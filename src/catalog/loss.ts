import { ratesFor } from '../money/cost.ts';
import { formatUsd } from '../money/nanousd.ts';
import type { Price, Rates } from '../money/price.ts';

/** A rate at which a host costs more than callers pay, in nanodollars per million tokens. */
export interface Loss {
  /** The name of the rate, as in price rows. */
  readonly rate: string;
  /** The request size above which this applies; 0 for any size. */
  readonly aboveInputTokens: number;
  readonly hostRate: bigint;
  readonly callerRate: bigint;
}

/** The first rate of a host's price that is higher than what callers pay, at any request size; null if there is none. */
export function findLoss(host: Price, caller: Price): Loss | null {
  const thresholds = [...host.tiers, ...caller.tiers].map((tier) => tier.aboveInputTokens).sort((a, b) => a - b);
  const always = higherRate(ratesFor(host, 0), ratesFor(caller, 0));
  if (always !== null) return { ...always, aboveInputTokens: 0 };
  for (const aboveInputTokens of thresholds) {
    const higher = higherRate(ratesFor(host, aboveInputTokens + 1), ratesFor(caller, aboveInputTokens + 1));
    if (higher !== null) return { ...higher, aboveInputTokens };
  }
  return null;
}

/** The rates as they are charged, by their names in price rows. A missing cache rate means the input rate. */
export const EFFECTIVE_RATES: readonly (readonly [name: string, read: (rates: Rates) => bigint])[] = [
  ['input', (rates) => rates.inputNanousdPerMillion],
  ['output', (rates) => rates.outputNanousdPerMillion],
  ['cache_read', (rates) => rates.cacheReadNanousdPerMillion ?? rates.inputNanousdPerMillion],
  ['cache_write', (rates) => rates.cacheWriteNanousdPerMillion ?? rates.inputNanousdPerMillion],
  ['cache_write_1h', (rates) => rates.cacheWrite1hNanousdPerMillion ?? rates.inputNanousdPerMillion],
];

function higherRate(host: Rates, caller: Rates): Omit<Loss, 'aboveInputTokens'> | null {
  for (const [rate, read] of EFFECTIVE_RATES) {
    const [hostRate, callerRate] = [read(host), read(caller)];
    if (hostRate > callerRate) return { rate, hostRate, callerRate };
  }
  return null;
}

/** Both rates, dollars first. Follows the name of the host. */
export function describeLoss({ rate, aboveInputTokens, hostRate, callerRate }: Loss, model: string): string {
  const size = aboveInputTokens === 0 ? '' : ` above ${aboveInputTokens} input tokens`;
  const dollars = `charges $${formatUsd(hostRate)} for ${rate}${size}, callers of ${model} pay $${formatUsd(callerRate)}`;
  return `${dollars} (${hostRate} and ${callerRate} nanodollars per million tokens)`;
}
