import type { Model } from '../../api/generated/routes.ts';

type Rates = Pick<Model['pricing'], 'input' | 'output' | 'cache_read' | 'cache_write'>;

interface TokenCounts {
  readonly fresh: number;
  readonly cached: number;
  readonly output: number;
}

interface CostLine {
  readonly name: string;
  readonly tokens: number;
  readonly pricePerMillion: bigint;
  readonly amount: bigint;
}

const MILLION = 1_000_000n;

/** The price of the whole request: one tier, chosen by all tokens of the input. */
export function ratesFor({ pricing }: Pick<Model, 'pricing'>, inputTokens: number): Rates {
  return (pricing.tiers ?? []).findLast(({ above_input_tokens }) => inputTokens > above_input_tokens) ?? pricing;
}

/** As the gateway charges: each line rounded up once to a whole nanodollar, nothing rounded afterwards. */
export function costLines(model: Pick<Model, 'pricing'>, { fresh, cached, output }: TokenCounts): readonly CostLine[] {
  const rates = ratesFor(model, fresh + cached);
  return [
    line('Fresh input', fresh, rates.input),
    ...(cached === 0 ? [] : [line('Cache read', cached, rates.cache_read ?? rates.input)]),
    line('Output', output, rates.output),
  ];
}

function line(name: string, tokens: number, rate: number): CostLine {
  const pricePerMillion = BigInt(rate);
  return { name, tokens, pricePerMillion, amount: (BigInt(tokens) * pricePerMillion + MILLION - 1n) / MILLION };
}

/** A whole number of tokens as somebody types it; null if it is not a number. */
export function parseTokens(text: string): number | null {
  const digits = text.trim().replaceAll(/[,_ ]/g, '');
  if (digits === '') return 0;
  return /^\d{1,9}$/.test(digits) ? Number(digits) : null;
}
