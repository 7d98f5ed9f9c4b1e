import { createHash } from 'node:crypto';
import type { Price, Rates } from '../money/price.ts';

const HASH_HEX_CHARS = 10;

/** Two price lists have the same hash exactly when they charge the same for every model; order and spelling do not count. */
export function hashPrices(prices: Iterable<readonly [id: string, price: Price]>): string {
  const lines = Array.from(prices, ([id, price]) => `${id} ${writePrice(price)}\n`).sort();
  return createHash('sha256').update(lines.join('')).digest('hex').slice(0, HASH_HEX_CHARS);
}

function writePrice(price: Price): string {
  const tiers = price.tiers.map((tier) => `>${tier.aboveInputTokens}:${writeRates(tier)}`);
  return [writeRates(price), ...tiers].join(' ');
}

/** A null cache rate is written as the input rate that it means. */
function writeRates(rates: Rates): string {
  const input = rates.inputNanousdPerMillion;
  const cache = [
    rates.cacheReadNanousdPerMillion,
    rates.cacheWriteNanousdPerMillion,
    rates.cacheWrite1hNanousdPerMillion,
  ].map((rate) => rate ?? input);
  return [input, rates.outputNanousdPerMillion, ...cache].join(',');
}
