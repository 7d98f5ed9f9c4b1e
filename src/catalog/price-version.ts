import { createHash } from 'node:crypto';
import type { Price, Rates } from '../money/price.ts';

const HASH_HEX_CHARS = 10;

/** A price list as it is stored, and the version that identifies this text. */
export interface PriceList {
  readonly version: string;
  readonly json: string;
}

/**
 * Every price, whether or not a host serves the model now: adding or removing a key changes no price, so the version must
 * keep identifying the same text. A list can be written in only one way, because a stored list is never rewritten.
 */
export function writePriceList(date: string, prices: Iterable<readonly [id: string, price: Price]>): PriceList {
  const rows = [...prices].sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, price]) => [id, plainPrice(price)] as const);
  const json = JSON.stringify(Object.fromEntries(rows));
  return { version: `${date}-${shortHash(json)}`, json };
}

function plainPrice(price: Price): object {
  const tiers = price.tiers.map((tier) => ({ above_input_tokens: tier.aboveInputTokens, ...plainRates(tier) }));
  return { ...plainRates(price), ...(tiers.length > 0 && { tiers }) };
}

/** A null cache rate is written as the input rate. Every rate fits into a JSON number. */
function plainRates(rates: Rates): object {
  const input = rates.inputNanousdPerMillion;
  return {
    input: Number(input),
    output: Number(rates.outputNanousdPerMillion),
    cache_read: Number(rates.cacheReadNanousdPerMillion ?? input),
    cache_write: Number(rates.cacheWriteNanousdPerMillion ?? input),
    cache_write_1h: Number(rates.cacheWrite1hNanousdPerMillion ?? input),
  };
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_HEX_CHARS);
}

/** Two price lists have the same hash exactly if they charge the same for every model, whatever their order and spelling. */
export function hashPrices(prices: Iterable<readonly [id: string, price: Price]>): string {
  const lines = Array.from(prices, ([id, price]) => `${id} ${writePrice(price)}\n`).sort();
  return shortHash(lines.join(''));
}

function writePrice(price: Price): string {
  const tiers = price.tiers.map((tier) => `>${tier.aboveInputTokens}:${writeRates(tier)}`);
  return [writeRates(price), ...tiers].join(' ');
}

/** A null cache rate is written as the input rate. */
function writeRates(rates: Rates): string {
  const input = rates.inputNanousdPerMillion;
  const cache = [
    rates.cacheReadNanousdPerMillion,
    rates.cacheWriteNanousdPerMillion,
    rates.cacheWrite1hNanousdPerMillion,
  ].map((rate) => rate ?? input);
  return [input, rates.outputNanousdPerMillion, ...cache].join(',');
}
