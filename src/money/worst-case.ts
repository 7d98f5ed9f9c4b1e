import type { OutputShape } from './bound-tokens.ts';
import { perMillion } from './cost.ts';
import { INT64_MAX } from './nanousd.ts';
import type { Price, Rates } from './price.ts';

/** The input side may be billed as several components, each rounded up by itself. */
const SPLIT_ROUNDING_NANOUSD = 3n;

export interface WorstCase {
  /** The two parts below, summed: no usage within the bounds costs more. */
  readonly worstNanousd: bigint;
  readonly inputNanousd: bigint;
  readonly outputNanousd: bigint;
}

export interface WorstCaseInput {
  readonly price: Price;
  readonly inputBound: number;
  readonly outputBound: number;
}

/** What a hold must cover. Exact, so it may leave int64: the ledger refuses that, nothing is cut off here. */
export function worstCase({ price, inputBound, outputBound }: WorstCaseInput): WorstCase {
  if (price.tiers.length === 0) return worstAt(price, inputBound, outputBound);
  return reachableRates(price, inputBound)
    .map((rates) => worstAt(rates, inputBound, outputBound))
    .reduce((worst, other) => (other.worstNanousd > worst.worstNanousd ? other : worst));
}

export interface LargestOutputLimitInput extends OutputShape {
  readonly price: Price;
  readonly inputBound: number;
  readonly availableNanousd: bigint;
}

/** The inverse of the worst case: the largest output limit that the money covers, null if not even one token fits. */
export function largestOutputLimit({
  price,
  inputBound,
  availableNanousd,
  ...shape
}: LargestOutputLimitInput): number | null {
  const availableOrInt64 = availableNanousd < INT64_MAX ? availableNanousd : INT64_MAX;
  const limits = reachableRates(price, inputBound).map((rates) =>
    outputLimitAt(rates, availableOrInt64 - inputNanousdAt(rates, inputBound), shape),
  );
  const limit = Math.min(...limits);
  return limit < 1 ? null : limit;
}

/** The input side is known only as a bound, so every tier below it may be the one that prices the request. */
function reachableRates(price: Price, inputBound: number): Rates[] {
  return [price, ...price.tiers.filter((tier) => inputBound > tier.aboveInputTokens)];
}

function worstAt(rates: Rates, inputBound: number, outputBound: number): WorstCase {
  const inputNanousd = inputNanousdAt(rates, inputBound);
  const outputNanousd = perMillion(BigInt(outputBound) * rates.outputNanousdPerMillion);
  return { worstNanousd: inputNanousd + outputNanousd, inputNanousd, outputNanousd };
}

/** A free input side stays free: where every component is zero, none is rounded up. */
function inputNanousdAt(rates: Rates, inputBound: number): bigint {
  const nanousd = perMillion(BigInt(inputBound) * dearestInputRate(rates));
  return nanousd === 0n ? 0n : nanousd + SPLIT_ROUNDING_NANOUSD;
}

/** Which bucket the host will put the input into is unknown; an absent cache rate is the input rate. */
function dearestInputRate(rates: Rates): bigint {
  const read = dearer(rates.inputNanousdPerMillion, rates.cacheReadNanousdPerMillion);
  return dearer(dearer(read, rates.cacheWriteNanousdPerMillion), rates.cacheWrite1hNanousdPerMillion);
}

function dearer(rate: bigint, other: bigint | null): bigint {
  return other !== null && other > rate ? other : rate;
}

/** ceil(x / million) <= budget means x <= budget × million, so the division may round down. */
function outputLimitAt(
  rates: Rates,
  budgetNanousd: bigint,
  { choices, reasoningOutsideLimit = 0 }: OutputShape,
): number {
  if (budgetNanousd < 0n) return 0;
  const countable = Math.floor(Number.MAX_SAFE_INTEGER / choices) - reasoningOutsideLimit;
  const nanousdPerLimitToken = rates.outputNanousdPerMillion * BigInt(choices);
  if (nanousdPerLimitToken === 0n) return countable;
  const limit = (budgetNanousd * 1_000_000n) / nanousdPerLimitToken - BigInt(reasoningOutsideLimit);
  return limit < BigInt(countable) ? Number(limit) : countable;
}
