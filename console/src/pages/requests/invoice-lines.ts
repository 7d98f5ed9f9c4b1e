import type { Receipt } from '../../api/generated/routes.ts';

export interface InvoiceLine {
  readonly name: string;
  readonly tokens: number;
  /** Null if the amount is not tokens times one price, as with two prices in one line. */
  readonly pricePerMillion: bigint | null;
  readonly amount: bigint;
}

const MILLION = 1_000_000n;

/** One line per component that has tokens or costs something. Their amounts sum to the cost. */
export function invoiceLines({ usage, components }: Pick<Receipt, 'usage' | 'components'>): readonly InvoiceLine[] {
  if (usage === null || components === null) return [];
  const written = usage.cache_write_tokens + usage.cache_write_1h_tokens;
  const lines = [
    lineOf('Fresh input', usage.fresh_tokens, components.fresh),
    lineOf(
      'Cache write',
      written,
      components.cache_write,
      usage.cache_write_tokens > 0 && usage.cache_write_1h_tokens > 0,
    ),
    lineOf('Cache read', usage.cache_read_tokens, components.cache_read),
    lineOf('Output', usage.output_tokens, components.output),
  ];
  return lines.filter(
    ({ name, tokens, amount }) => tokens > 0 || amount > 0n || name === 'Fresh input' || name === 'Output',
  );
}

function lineOf(name: string, tokens: number, nanousd: number, isMixed = false): InvoiceLine {
  const amount = BigInt(nanousd);
  return { name, tokens, amount, pricePerMillion: isMixed ? null : priceOf(BigInt(tokens), amount) };
}

/**
 * The price that makes tokens × price = amount. An amount is rounded to whole nanodollars, so the price with the fewest digits
 * within that rounding is the one of the price list.
 */
function priceOf(tokens: bigint, amount: bigint): bigint | null {
  if (tokens === 0n) return null;
  const low = ceilDivide((amount - 1n) * MILLION + 1n, tokens);
  const high = (amount * MILLION + MILLION - 1n) / tokens;
  for (let digit = 10n ** 15n; digit > 1n; digit /= 10n) {
    const rounded = ceilDivide(low, digit) * digit;
    if (rounded <= high && rounded >= 0n) return rounded;
  }
  return low <= high ? low : (amount * MILLION) / tokens;
}

function ceilDivide(value: bigint, by: bigint): bigint {
  return value <= 0n ? 0n : (value + by - 1n) / by;
}
