import { inputTokens, MISSING_USAGE, type Usage, type UsageReading } from '../../canonical/usage.ts';
import type { Bill } from '../bill.ts';
import { mentionsHostBill, withoutHostBill } from '../fields/host-members.ts';
import { isAbsent, isObject, type Members } from '../fields/members.ts';
import { readCounts, type UsageRule } from './inclusive-usage.ts';

/** Reads usage with the names `prompt_tokens` and `completion_tokens`. */
export function readPromptUsage(raw: unknown, rule: UsageRule): UsageReading {
  if (isAbsent(raw)) return MISSING_USAGE;
  if (!isObject(raw)) return { state: 'missing', defect: 'usage is not an object' };
  const prompt = isObject(raw.prompt_tokens_details) ? raw.prompt_tokens_details : NO_DETAILS;
  const completion = isObject(raw.completion_tokens_details) ? raw.completion_tokens_details : NO_DETAILS;
  const counts = {
    input: raw.prompt_tokens,
    output: raw.completion_tokens,
    total: raw.total_tokens ?? null,
    // Two vendors report the cache beside the other counts, each under a name of its own.
    cached: prompt.cached_tokens ?? raw.prompt_cache_hit_tokens ?? raw.cached_tokens ?? 0,
    cacheWrite: prompt.cache_write_tokens ?? 0,
    reasoning: completion.reasoning_tokens ?? 0,
  };
  return readCounts(counts, rule);
}

const NO_DETAILS: Members = {};

/** The billed counts in the shape of the host's usage, so that pricing them from the catalog gives the cost. */
export function writePromptUsage(billed: Usage, raw: unknown): Readonly<Members> {
  if (isObject(raw) && isAsBilled(billed, raw)) return raw;
  const written = withoutHostBill(raw);
  const prompt = inputTokens(billed);
  written.prompt_tokens = prompt;
  written.completion_tokens = billed.outputTokens;
  written.total_tokens = prompt + billed.outputTokens;
  writeDetails(written, 'prompt_tokens_details', cacheDetails(billed));
  writeDetails(written, 'completion_tokens_details', { reasoning_tokens: billed.reasoningTokens });
  return written;
}

function cacheDetails({ cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens }: Usage): Counts {
  return {
    cached_tokens: cacheReadTokens,
    cache_write_tokens: cacheWriteTokens + cacheWrite1hTokens,
    cache_write_1h_tokens: cacheWrite1hTokens,
  };
}

type Counts = Readonly<Record<string, number>>;

/** The usual case: the host's usage can be passed on unchanged. */
function isAsBilled(billed: Usage, raw: Members): boolean {
  const prompt = inputTokens(billed);
  const { prompt_tokens, completion_tokens, total_tokens, prompt_tokens_details, completion_tokens_details } = raw;
  if (prompt_tokens !== prompt || completion_tokens !== billed.outputTokens) return false;
  if (total_tokens !== prompt + billed.outputTokens || mentionsHostBill(raw)) return false;
  return (
    hasCounts(prompt_tokens_details, cacheDetails(billed)) &&
    hasCounts(completion_tokens_details, { reasoning_tokens: billed.reasoningTokens })
  );
}

/** Details may be absent if all their counts are zero, but they are never null. */
function hasCounts(details: unknown, counts: Counts): boolean {
  for (const name in counts) {
    const isRight = isObject(details) ? hasCount(details, name, counts[name]!) : counts[name] === 0;
    if (!isRight) return false;
  }
  return details !== null;
}

/** Only these counts may be left out where they are zero. */
const OPTIONAL_COUNTS: ReadonlySet<string> = new Set(['cache_write_1h_tokens', 'reasoning_tokens']);

function hasCount(details: Members, name: string, count: number): boolean {
  return details[name] === count || (count === 0 && details[name] === undefined && OPTIONAL_COUNTS.has(name));
}

function writeDetails(written: Members, group: string, counts: Counts): void {
  if (hasCounts(written[group], counts)) return;
  const details: Members = isObject(written[group]) ? { ...written[group] } : {};
  for (const name in counts) if (!hasCount(details, name, counts[name]!)) details[name] = counts[name];
  written[group] = isObject(written[group]) || Object.values(counts).some((count) => count > 0) ? details : undefined;
}

/** The usage of a buffered response, with its cost. */
export function promptUsageText(bill: Bill, raw: unknown): string {
  return withCost(writePromptUsage(bill.usage, raw), bill);
}

/** Adds the cost to a usage object, which must not be empty; the integer is written as digits, since a float would lose precision. */
export function withCost(usage: Readonly<Members>, { costUsd, costNanousd }: Bill): string {
  return `${JSON.stringify(usage).slice(0, -1)},"cost":${costUsd},"cost_nanousd":${costNanousd}}`;
}
