import { ratesFor } from '../money/cost.ts';
import { formatUsd } from '../money/nanousd.ts';
import type { Price, Rates } from '../money/price.ts';

/** One rate at which a host costs more than callers pay, in nanodollars per million tokens. */
export interface Loss {
  /** As the price rows call it. */
  readonly rate: string;
  /** The size of request from which on it is so; 0 for any. */
  readonly aboveInputTokens: number;
  readonly hostRate: bigint;
  readonly callerRate: bigint;
}

/** The first rate of a host's price that is dearer than what callers pay, at any size of request; null if none is. */
export function findLoss(host: Price, caller: Price): Loss | null {
  const thresholds = [...host.tiers, ...caller.tiers].map((tier) => tier.aboveInputTokens).sort((a, b) => a - b);
  const always = dearerRate(ratesFor(host, 0), ratesFor(caller, 0));
  if (always !== null) return { ...always, aboveInputTokens: 0 };
  for (const aboveInputTokens of thresholds) {
    const dearer = dearerRate(ratesFor(host, aboveInputTokens + 1), ratesFor(caller, aboveInputTokens + 1));
    if (dearer !== null) return { ...dearer, aboveInputTokens };
  }
  return null;
}

const RATES: readonly (readonly [name: string, read: (rates: Rates) => bigint | null])[] = [
  ['input', (rates) => rates.inputNanousdPerMillion],
  ['output', (rates) => rates.outputNanousdPerMillion],
  ['cache_read', (rates) => rates.cacheReadNanousdPerMillion],
  ['cache_write', (rates) => rates.cacheWriteNanousdPerMillion],
  ['cache_write_1h', (rates) => rates.cacheWrite1hNanousdPerMillion],
];

/** A cache rate that nobody named is the input rate, on either side. */
function dearerRate(host: Rates, caller: Rates): Omit<Loss, 'aboveInputTokens'> | null {
  for (const [rate, read] of RATES) {
    const hostRate = read(host) ?? host.inputNanousdPerMillion;
    const callerRate = read(caller) ?? caller.inputNanousdPerMillion;
    if (hostRate > callerRate) return { rate, hostRate, callerRate };
  }
  return null;
}

/** Both rates, in dollars first, to follow the name of the host. */
export function describeLoss({ rate, aboveInputTokens, hostRate, callerRate }: Loss, model: string): string {
  const size = aboveInputTokens === 0 ? '' : ` above ${aboveInputTokens} input tokens`;
  const dollars = `charges $${formatUsd(hostRate)} for ${rate}${size}, callers of ${model} pay $${formatUsd(callerRate)}`;
  return `${dollars} (${hostRate} and ${callerRate} nanodollars per million tokens)`;
}
