import type { CacheWrites } from '../canonical/cache-writes.ts';
import type { OutputShape } from './bound-tokens.ts';
import { perMillion } from './cost.ts';
import { INT64_MAX } from './nanousd.ts';
import type { Price, Rates } from './price.ts';

/** The input may be billed as several components, each rounded up separately. */
const SPLIT_ROUNDING_NANOUSD = 3n;

interface WorstCase {
  /** The sum of the two parts below: no usage within the bounds costs more. */
  readonly worstNanousd: bigint;
  readonly inputNanousd: bigint;
  readonly outputNanousd: bigint;
}

interface WorstCaseInput {
  readonly price: Price;
  readonly inputBound: number;
  readonly outputBound: number;
  /** Price tiers up to this input can be reached; absent means the input bound. */
  readonly tierBound?: number;
  /** Cache writes that the call can be billed for; absent means the most expensive ones. */
  readonly cacheWrites?: CacheWrites;
}

/** The amount that a hold must cover. It is exact and may exceed int64; the ledger refuses that. */
export function worstCase(input: WorstCaseInput): WorstCase {
  const { price, inputBound, tierBound = inputBound } = input;
  if (price.tiers.length === 0) return worstAt(price, input);
  return reachableRates(price, tierBound)
    .map((rates) => worstAt(rates, input))
    .reduce((worst, other) => (other.worstNanousd > worst.worstNanousd ? other : worst));
}

interface LargestOutputLimitInput extends OutputShape {
  readonly price: Price;
  readonly inputBound: number;
  readonly tierBound?: number;
  readonly cacheWrites?: CacheWrites;
  readonly availableNanousd: bigint;
}

/**
 * The inverse of the worst case: the largest output limit that the money covers, or null if not even one token fits.
 */
export function largestOutputLimit({
  price,
  inputBound,
  tierBound = inputBound,
  cacheWrites,
  availableNanousd,
  ...shape
}: LargestOutputLimitInput): number | null {
  const availableOrInt64 = availableNanousd < INT64_MAX ? availableNanousd : INT64_MAX;
  const limits = reachableRates(price, tierBound).map((rates) =>
    outputLimitAt(rates, availableOrInt64 - inputNanousdAt(rates, inputBound, cacheWrites), shape),
  );
  const limit = Math.min(...limits);
  return limit < 1 ? null : limit;
}

/** The input is known only as a bound, so any tier up to it may be the one that prices the request. */
function reachableRates(price: Price, tierBound: number): Rates[] {
  return [price, ...price.tiers.filter((tier) => tierBound > tier.aboveInputTokens)];
}

function worstAt(rates: Rates, { inputBound, outputBound, cacheWrites }: WorstCaseInput): WorstCase {
  const inputNanousd = inputNanousdAt(rates, inputBound, cacheWrites);
  const outputNanousd = perMillion(BigInt(outputBound) * rates.outputNanousdPerMillion);
  return { worstNanousd: inputNanousd + outputNanousd, inputNanousd, outputNanousd };
}

/** Free input stays free: if every component is zero, nothing is rounded up. */
function inputNanousdAt(rates: Rates, inputBound: number, cacheWrites: CacheWrites = 'one_hour'): bigint {
  const nanousd = perMillion(BigInt(inputBound) * dearestInputRate(rates, cacheWrites));
  return nanousd === 0n ? 0n : nanousd + SPLIT_ROUNDING_NANOUSD;
}

/** It is unknown how the host will classify the input; a missing cache rate is the input rate. */
function dearestInputRate(rates: Rates, cacheWrites: CacheWrites): bigint {
  const read = higherRate(rates.inputNanousdPerMillion, rates.cacheReadNanousdPerMillion);
  if (cacheWrites === 'none') return read;
  const write = higherRate(read, rates.cacheWriteNanousdPerMillion);
  return cacheWrites === 'default' ? write : higherRate(write, rates.cacheWrite1hNanousdPerMillion);
}

function higherRate(rate: bigint, other: bigint | null): bigint {
  return other !== null && other > rate ? other : rate;
}

/** ceil(x / million) <= budget is the same as x <= budget × million, so the division may round down. */
function outputLimitAt(rates: Rates, budgetNanousd: bigint, { choices }: OutputShape): number {
  if (budgetNanousd < 0n) return 0;
  const countable = Math.floor(Number.MAX_SAFE_INTEGER / choices);
  const nanousdPerLimitToken = rates.outputNanousdPerMillion * BigInt(choices);
  if (nanousdPerLimitToken === 0n) return countable;
  const limit = (budgetNanousd * 1_000_000n) / nanousdPerLimitToken;
  return limit < BigInt(countable) ? Number(limit) : countable;
}
