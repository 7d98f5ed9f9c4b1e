/** The largest amount a ledger column holds. */
export const INT64_MAX = 2n ** 63n - 1n;

const NANOUSD_PER_USD = 1_000_000_000n;
const USD_DECIMALS = 9;

/** An amount as a header carries it: decimal digits and nothing else, within int64; null for anything other. */
export function parseNanousd(text: string): bigint | null {
  return /^[0-9]{1,19}$/.test(text) ? withinInt64(BigInt(text)) : null;
}

/** Dollars as a person types them: `5`, `5.25`, `$5`, `-0.000000001`. Null for anything other, also for a tenth decimal. */
export function parseUsd(text: string): bigint | null {
  const match = /^(-?)\$?([0-9]{1,10})(?:\.([0-9]{1,9}))?$/.exec(text);
  if (match === null) return null;
  const [, sign, dollars = '', decimals = ''] = match;
  const nanousd = withinInt64(BigInt(dollars + decimals.padEnd(USD_DECIMALS, '0')));
  return nanousd !== null && sign === '-' ? -nanousd : nanousd;
}

/** Exact decimal dollars, with at least the two decimals of cents; `parseUsd` reads them back. */
export function formatUsd(nanousd: bigint): string {
  const sign = nanousd < 0n ? '-' : '';
  const amount = nanousd < 0n ? -nanousd : nanousd;
  const decimals = (amount % NANOUSD_PER_USD)
    .toString()
    .padStart(USD_DECIMALS, '0')
    .replace(/0{1,7}$/, '');
  return `${sign}${amount / NANOUSD_PER_USD}.${decimals}`;
}

const SIGNIFICANT_DIGITS = 5;
const NANOUSD_PER_CENT = 10_000_000n;

/** An amount for people: dollars to five digits, but never coarser than a cent, then the exact nanodollars. */
export function describeAmount(nanousd: bigint): string {
  const digits = String(nanousd < 0n ? -nanousd : nanousd).length;
  const step = 10n ** BigInt(Math.max(0, digits - SIGNIFICANT_DIGITS));
  const coarsest = step < NANOUSD_PER_CENT ? step : NANOUSD_PER_CENT;
  const half = nanousd < 0n ? -coarsest / 2n : coarsest / 2n;
  return `$${formatUsd(((nanousd + half) / coarsest) * coarsest)} (${nanousd} nanodollars)`.replace('$-', '-$');
}

/** For the one field that callers expect as a number of dollars: the nearest one to the exact amount. */
export function usdNumber(nanousd: bigint): number {
  const whole = Number(nanousd);
  // A division of exact numbers gives the nearest one as well, and sooner than writing and reading decimals.
  return Number.isSafeInteger(whole) ? whole / Number(NANOUSD_PER_USD) : Number(formatUsd(nanousd));
}

function withinInt64(nanousd: bigint): bigint | null {
  return nanousd <= INT64_MAX ? nanousd : null;
}
