const DOLLARS = /^(\d+)(?:\.(\d{1,9}))?$/;
const NANODOLLARS_PER_DOLLAR = 1_000_000_000n;

/** An amount of dollars in nanodollars: `usd('0.05')` is 50_000_000n. A string, because 0.05 as a number is not exact. */
export function usd(amount: string): bigint {
  const [, dollars, fraction = ''] = DOLLARS.exec(amount) ?? [];
  if (dollars === undefined) {
    throw new TypeError(`usd() takes dollars as a string with up to nine decimals, like '0.05', not '${amount}'.`);
  }
  return BigInt(dollars) * NANODOLLARS_PER_DOLLAR + BigInt(fraction.padEnd(9, '0'));
}

/** The same amount as a string in dollars, with as many decimals as it needs: `formatUsd(50_000_000n)` is `'0.05'`. */
export function formatUsd(nanousd: bigint): string {
  const digits = String(nanousd < 0n ? -nanousd : nanousd).padStart(10, '0');
  const dollars = `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, '');
  return nanousd < 0n ? `-${dollars}` : dollars;
}

/** The lowest of the limits that are set. */
export function lowest(...limits: readonly (bigint | null | undefined)[]): bigint | undefined {
  let least: bigint | undefined;
  for (const limit of limits) if (limit != null && (least === undefined || limit < least)) least = limit;
  return least;
}
