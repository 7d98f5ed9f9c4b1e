const NANOUSD_PER_DOLLAR = 1_000_000_000n;
const NANOUSD_PER_CENT = 10_000_000n;

/** For reading: two decimals, and `< $0.01` for less than a cent, which must not look like zero. An unknown amount is a dash. */
export function formatMoney(nanousd: bigint | number | null | undefined): string {
  if (nanousd === null || nanousd === undefined) return '–';
  const amount = BigInt(nanousd);
  if (amount === 0n) return '$0.00';
  const size = amount < 0n ? -amount : amount;
  if (size < NANOUSD_PER_CENT) return amount < 0n ? '> −$0.01' : '< $0.01';
  const cents = (size + NANOUSD_PER_CENT / 2n) / NANOUSD_PER_CENT;
  return `${amount < 0n ? '−' : ''}$${grouped(cents / 100n)}.${String(cents % 100n).padStart(2, '0')}`;
}

/** For the cost of one call: six decimals, or as many as it takes to show that it is not zero. */
export function formatCost(nanousd: bigint | number | null | undefined): string {
  if (nanousd === null || nanousd === undefined) return '–';
  const amount = BigInt(nanousd);
  if (amount === 0n) return '$0';
  const exact = formatExact(amount);
  const digits = (amount < 0n ? -amount : amount) < 1_000n ? 9 : 6;
  const rounded = digits === 9 ? exact : formatExact(((amount + (amount < 0n ? -500n : 500n)) / 1_000n) * 1_000n);
  return rounded.slice(0, rounded.length - (9 - digits));
}

/** Every digit: nine decimals. */
export function formatExact(nanousd: bigint | number): string {
  const amount = BigInt(nanousd);
  const size = amount < 0n ? -amount : amount;
  const rest = String(size % NANOUSD_PER_DOLLAR).padStart(9, '0');
  return `${amount < 0n ? '−' : ''}$${grouped(size / NANOUSD_PER_DOLLAR)}.${rest}`;
}

/** A price per million tokens: at least two decimals, no needless zeros. */
export function formatPrice(nanousdPerMillion: bigint | number): string {
  const text = formatExact(nanousdPerMillion);
  const [whole = '', rest = ''] = text.split('.');
  return `${whole}.${rest.replace(/0+$/, '').padEnd(2, '0')}`;
}

export function formatNanousd(nanousd: bigint | number): string {
  return `${grouped(BigInt(nanousd))} ${BigInt(nanousd) === 1n ? 'nanodollar' : 'nanodollars'}`;
}

/** Dollars as somebody types them, like `5`, `0.25` or `$1,000`; null if it is not an amount, like `0,25`. */
export function parseDollars(text: string): bigint | null {
  const found = /^\$?(\d{1,10}|[1-9]\d{0,2}(?:,\d{3}){1,3})(?:\.(\d{1,9}))?$/.exec(text.trim());
  if (found === null) return null;
  return BigInt(found[1]!.replaceAll(',', '')) * NANOUSD_PER_DOLLAR + BigInt((found[2] ?? '').padEnd(9, '0'));
}

/** The ledger counts in 64 bits. */
const NANOUSD_MAX = 2n ** 63n - 1n;

export const CAP_FAULT = 'Enter an amount above 0 in dollars, like 5 or 0.50.';

/** Whether a text is a cap: more than nothing, and no more than the ledger can hold. An empty one is no cap. */
export function isCapText(text: string): boolean {
  const nanousd = parseDollars(text);
  return text.trim() === '' || (nanousd !== null && nanousd > 0n && nanousd <= NANOUSD_MAX);
}

/** What `parseDollars` would read back. */
export function writeDollars(nanousd: bigint): string {
  return formatExact(nanousd)
    .replace('$', '')
    .replaceAll(',', '')
    .replace(/\.?0+$/, '');
}

export function formatCount(count: number | null | undefined): string {
  return count === null || count === undefined ? '–' : grouped(BigInt(Math.round(count)));
}

/** `1 request`, `1,204 requests`, `– requests`. */
export function formatCounted(count: number | null | undefined, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** `48.3 GB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const amounts = units.map((_, power) => (bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1));
  // Rounded before the unit is chosen: 999,960 bytes are 1.0 MB, not 1000.0 kB.
  const found = amounts.findIndex((amount) => Number(amount) < 1000);
  const power = found === -1 ? units.length - 1 : found;
  return `${amounts[power]} ${units[power]}`;
}

function grouped(value: bigint): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}
