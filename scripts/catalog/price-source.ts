import { higherPrice, nanousd, type PriceFigures, RATE_NAMES, type RateFigures } from './figures.ts';

/** The parts of `@pydantic/genai-prices` that are read here. */
export interface PricePackage {
  findProvider(options: { providerId: string }): { models: PricedModel[] } | undefined;
}

interface PricedModel {
  id: string;
  match: Match;
  context_window?: number;
  name?: string;
  prices: RawPrice | ConditionalPrice[];
}

interface Match {
  equals?: string;
  or?: Match[];
}

type RawRate = number | { base: number; tiers: { start: number; price: number }[] };
type RawPrice = Record<string, RawRate>;
interface ConditionalPrice {
  constraint?: { type: 'start_date'; start_date: string } | { type: 'time_of_date' };
  prices: RawPrice;
}

type Priced = { price: PriceFigures; contextWindow: number | null; notes: string[] } | { unpriced: string };

const PROVIDERS: Record<string, string> = { xai: 'x-ai', voyage: 'voyageai' };

const RATE_KEYS: Record<(typeof RATE_NAMES)[number], string> = {
  input: 'input_mtok',
  output: 'output_mtok',
  cache_read: 'cache_read_mtok',
  cache_write: 'cache_write_mtok',
  cache_write_1h: 'cache_write_1h_mtok',
};

/** Charges for features that the gateway refuses: server-side tools, audio, video, image generation. */
const NEVER_INCURRED = new Set([
  'web_searches_kcount',
  'storage_searches_kcount',
  'input_audio_mtok',
  'cache_audio_read_mtok',
  'output_audio_mtok',
  'input_video_mtok',
]);

/** By exact name only: the package's prefix rules would price a new model like its predecessor. */
export function readPriceOf(source: PricePackage, host: string, name: string, kind: string, today: string): Priced {
  const provider = source.findProvider({ providerId: PROVIDERS[host] ?? host });
  const model = provider?.models.find((candidate) => candidate.id === name || equals(candidate.match, name));
  if (model === undefined) return { unpriced: 'not listed' };
  const notes: string[] = [];
  const inForce = pricesInForce(model.prices, today, notes);
  const strange = inForce.flatMap((raw) => Object.keys(raw)).find((key) => !isUnderstood(key, kind));
  if (strange !== undefined) return { unpriced: `a charge that rates per token cannot express: ${strange}` };
  const figures = inForce.map((raw) => readFigures(raw, kind));
  const known = figures.filter((price) => price !== null);
  const [first, ...others] = known;
  if (first === undefined || known.length < figures.length) return { unpriced: 'listed without a price' };
  if (others.length > 0) notes.push('the price depends on the hour; the highest counts');
  return { price: others.reduce(higherPrice, first), contextWindow: model.context_window ?? null, notes };
}

function equals(match: Match, name: string): boolean {
  return match.equals === name || (match.or?.some((one) => equals(one, name)) ?? false);
}

/** The price list that began last, and all lists for single hours. */
function pricesInForce(prices: RawPrice | ConditionalPrice[], today: string, notes: string[]): RawPrice[] {
  if (!Array.isArray(prices)) return [prices];
  const begun = prices.filter(({ constraint }) => {
    if (constraint?.type !== 'start_date') return true;
    if (constraint.start_date > today) notes.push(`another price begins on ${constraint.start_date}`);
    return constraint.start_date <= today;
  });
  const base = begun.findLast(({ constraint }) => constraint?.type !== 'time_of_date');
  const hours = begun.filter(({ constraint }) => constraint?.type === 'time_of_date');
  return [...(base === undefined ? [] : [base]), ...hours].map((one) => one.prices);
}

function isUnderstood(key: string, kind: string): boolean {
  if (Object.values(RATE_KEYS).includes(key) || NEVER_INCURRED.has(key)) return true;
  return key === 'input_image_mtok' && kind === 'embeddings'; // the embeddings wire carries text only
}

function readFigures(raw: RawPrice, kind: string): PriceFigures | null {
  // An embedding has no output, and a decision's output is free: a rate for it is meaningless.
  const price: RawPrice = kind === 'chat' ? raw : { ...raw, [RATE_KEYS.output]: 0 };
  if (price[RATE_KEYS.input] === undefined || price[RATE_KEYS.output] === undefined) return null;
  const rates = RATE_NAMES.map((name) => price[RATE_KEYS[name]]).filter((rate) => rate !== undefined);
  const starts = new Set(rates.flatMap((rate) => (typeof rate === 'number' ? [] : rate.tiers.map((t) => t.start))));
  const tiers = [...starts].sort((a, b) => a - b);
  return {
    ...readRates(price, 0),
    tiers: tiers.map((above) => ({ above_input_tokens: above, ...readRates(price, above) })),
  };
}

function readRates(price: RawPrice, inputTokens: number): RateFigures {
  const at = (name: (typeof RATE_NAMES)[number]): number | null => {
    const rate = price[RATE_KEYS[name]];
    if (rate === undefined) return null;
    if (typeof rate === 'number') return nanousd(rate);
    return nanousd(rate.tiers.findLast((tier) => tier.start <= inputTokens)?.price ?? rate.base);
  };
  return {
    input: at('input') ?? 0,
    output: at('output') ?? 0,
    cache_read: at('cache_read'),
    cache_write: at('cache_write'),
    cache_write_1h: at('cache_write_1h'),
  };
}
