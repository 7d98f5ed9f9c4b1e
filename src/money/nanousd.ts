/** The largest amount that a ledger column can hold. */
export const INT64_MAX = 2n ** 63n - 1n;

const NANOUSD_PER_USD = 1_000_000_000n;
const USD_DECIMALS = 9;

/** An amount from a header: only decimal digits, within int64. Null for anything else. */
export function parseNanousd(text: string): bigint | null {
  return /^[0-9]{1,19}$/.test(text) ? withinInt64(BigInt(text)) : null;
}

/**
 * Dollars as a person types them: `5`, `5.25`, `$5`, `-0.000000001`. Null for anything else, such as a tenth decimal.
 */
export function parseUsd(text: string): bigint | null {
  const match = /^(-?)\$?([0-9]{1,10})(?:\.([0-9]{1,9}))?$/.exec(text);
  if (match === null) return null;
  const [, sign, dollars = '', decimals = ''] = match;
  const nanousd = withinInt64(BigInt(dollars + decimals.padEnd(USD_DECIMALS, '0')));
  return nanousd !== null && sign === '-' ? -nanousd : nanousd;
}

/** Exact decimal dollars with at least two decimals; `parseUsd` reads them back. */
export function formatUsd(nanousd: bigint): string {
  const sign = nanousd < 0n ? '-' : '';
  const amount = nanousd < 0n ? -nanousd : nanousd;
  const decimals = (amount % NANOUSD_PER_USD)
    .toString()
    .padStart(USD_DECIMALS, '0')
    .replace(/0{1,7}$/, '');
  return `${sign}${amount / NANOUSD_PER_USD}.${decimals}`;
}

/** The same for people to read, like `$4,200,000.00` and `-$1.50`. */
export function formatDollars(nanousd: bigint): string {
  const [whole = '', decimals = ''] = formatUsd(nanousd < 0n ? -nanousd : nanousd).split('.');
  return `${nanousd < 0n ? '-' : ''}$${BigInt(whole).toLocaleString('en-US')}.${decimals}`;
}

const SIGNIFICANT_DIGITS = 5;
const NANOUSD_PER_CENT = 10_000_000n;

/** An amount for people: dollars with five significant digits, or more to show every cent, then the exact nanodollars. */
export function describeAmount(nanousd: bigint): string {
  const digits = String(nanousd < 0n ? -nanousd : nanousd).length;
  const step = 10n ** BigInt(Math.max(0, digits - SIGNIFICANT_DIGITS));
  const coarsest = step < NANOUSD_PER_CENT ? step : NANOUSD_PER_CENT;
  const half = nanousd < 0n ? -coarsest / 2n : coarsest / 2n;
  const unit = nanousd === 1n || nanousd === -1n ? 'nanodollar' : 'nanodollars';
  return `$${formatUsd(((nanousd + half) / coarsest) * coarsest)} (${nanousd} ${unit})`.replace('$-', '-$');
}

/** For the one field that callers expect as a number of dollars: the number nearest to the exact amount. */
export function usdNumber(nanousd: bigint): number {
  const whole = Number(nanousd);
  // Dividing two exact doubles rounds correctly, and is faster than formatting and parsing decimals.
  return Number.isSafeInteger(whole) ? whole / Number(NANOUSD_PER_USD) : Number(formatUsd(nanousd));
}

function withinInt64(nanousd: bigint): bigint | null {
  return nanousd <= INT64_MAX ? nanousd : null;
}
