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
  if (!isCacheAsBilled(written.prompt_tokens_details, billed))
    written.prompt_tokens_details = cacheDetails(written.prompt_tokens_details, billed);
  if (!isReasoningAsBilled(written.completion_tokens_details, billed))
    written.completion_tokens_details = reasoningDetails(written.completion_tokens_details, billed);
  return written;
}

/** Whether the host's usage can be passed on unchanged. */
function isAsBilled(billed: Usage, raw: Members): boolean {
  const prompt = inputTokens(billed);
  const { prompt_tokens, completion_tokens, total_tokens, prompt_tokens_details, completion_tokens_details } = raw;
  if (prompt_tokens !== prompt || completion_tokens !== billed.outputTokens) return false;
  if (total_tokens !== prompt + billed.outputTokens) return false;
  if (!isCacheAsBilled(prompt_tokens_details, billed)) return false;
  return isReasoningAsBilled(completion_tokens_details, billed) && !mentionsHostBill(raw);
}

/** Details may be absent if all their counts are zero, but they are never null. */
function isCacheAsBilled(details: unknown, billed: Usage): boolean {
  if (!isObject(details)) return details !== null && !isCached(billed);
  const { cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens } = billed;
  return (
    details.cached_tokens === cacheReadTokens &&
    details.cache_write_tokens === cacheWriteTokens + cacheWrite1hTokens &&
    isOptionalCount(details.cache_write_1h_tokens, cacheWrite1hTokens)
  );
}

function isReasoningAsBilled(details: unknown, { reasoningTokens }: Usage): boolean {
  if (!isObject(details)) return details !== null && reasoningTokens === 0;
  return isOptionalCount(details.reasoning_tokens, reasoningTokens);
}

/** These counts may be left out where they are zero. */
function isOptionalCount(given: unknown, count: number): boolean {
  return given === count || (count === 0 && given === undefined);
}

function cacheDetails(given: unknown, billed: Usage): Members | undefined {
  if (!isObject(given) && !isCached(billed)) return undefined;
  const { cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens } = billed;
  const counts = { cached_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens + cacheWrite1hTokens };
  const details: Members = isObject(given) ? { ...given, ...counts } : counts;
  if (!isOptionalCount(details.cache_write_1h_tokens, cacheWrite1hTokens))
    details.cache_write_1h_tokens = cacheWrite1hTokens;
  return details;
}

function reasoningDetails(given: unknown, { reasoningTokens }: Usage): Members | undefined {
  if (isObject(given)) return { ...given, reasoning_tokens: reasoningTokens };
  return reasoningTokens > 0 ? { reasoning_tokens: reasoningTokens } : undefined;
}

function isCached({ cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens }: Usage): boolean {
  return cacheReadTokens !== 0 || cacheWriteTokens !== 0 || cacheWrite1hTokens !== 0;
}

/** The usage of a buffered response, with its cost. */
export function promptUsageText(bill: Bill, raw: unknown): string {
  return withCost(writePromptUsage(bill.usage, raw), bill);
}

/** Adds the cost to a usage object, which must not be empty; the integer is written as digits, since a float would lose precision. */
export function withCost(usage: Readonly<Members>, { costUsd, costNanousd }: Bill): string {
  return `${JSON.stringify(usage).slice(0, -1)},"cost":${costUsd},"cost_nanousd":${costNanousd}}`;
}
