import { inputTokens, type Usage, type UsageReading } from '../../canonical/usage.ts';
import { isCount, isObject, type Members } from '../members.ts';

/** Counts of this wire as a host gives them, before the buckets are made disjoint. */
export interface RawCounts {
  readonly prompt: number;
  readonly completion: number;
  readonly total: number | null;
  readonly cached: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
}

/** How a host's counts become disjoint buckets; the wire's own rule unless the host row names another. */
export type UsageRule = (counts: RawCounts) => Usage;

/**
 * Prompt tokens include what was read from and written to a cache, completion tokens include reasoning; unless the
 * counts themselves prove otherwise: a part larger than its whole, or a total that holds the reasoning once more.
 */
export const standardUsage: UsageRule = (counts) => {
  const { prompt, completion, total, cached, cacheWrite, reasoning } = counts;
  const isCacheOutside = cached + cacheWrite > prompt;
  const isReasoningOutside = reasoning > 0 && total === prompt + completion + reasoning;
  const output = isReasoningOutside ? completion + reasoning : completion;
  return {
    freshTokens: isCacheOutside ? prompt : prompt - cached - cacheWrite,
    cacheReadTokens: cached,
    cacheWriteTokens: cacheWrite,
    cacheWrite1hTokens: 0,
    outputTokens: output,
    reasoningTokens: Math.min(reasoning, output),
  };
};

export function readUsage(raw: unknown, rule: UsageRule): UsageReading {
  if (raw === undefined || raw === null) return { state: 'missing' };
  if (!isObject(raw)) return { state: 'missing', defect: 'usage is not an object' };
  const counts = readCounts(raw);
  const defect = defectOf(counts);
  return defect === null ? { state: 'reported', usage: rule(counts as RawCounts) } : { state: 'missing', defect };
}

type Unchecked = Readonly<Record<keyof RawCounts, unknown>>;

function readCounts(raw: Members): Unchecked {
  const promptDetails = isObject(raw.prompt_tokens_details) ? raw.prompt_tokens_details : NO_DETAILS;
  const completionDetails = isObject(raw.completion_tokens_details) ? raw.completion_tokens_details : NO_DETAILS;
  return {
    prompt: raw.prompt_tokens,
    completion: raw.completion_tokens,
    total: raw.total_tokens ?? null,
    cached: promptDetails.cached_tokens ?? raw.prompt_cache_hit_tokens ?? 0,
    cacheWrite: promptDetails.cache_write_tokens ?? 0,
    reasoning: completionDetails.reasoning_tokens ?? 0,
  };
}

const NO_DETAILS: Members = {};

/** Says which count nobody can bill, if there is one. */
function defectOf(counts: Unchecked): string | null {
  for (const [name, count] of Object.entries(counts)) {
    if (!isCount(count) && !(name === 'total' && count === null)) return `the host's ${name} tokens are no count`;
  }
  return null;
}

/** Members of a host's usage that speak of the host's own bill. */
const HOST_BILL = /cost|^is_byok$/;

/**
 * The usage object the caller sees: what was billed, in the host's own frame of details, so that pricing it from the
 * catalog gives the cost. Never with a host's cost.
 */
export function writeUsage(billed: Usage, raw: unknown): Members {
  const written: Members = {};
  if (isObject(raw)) {
    for (const name of Object.keys(raw)) if (!HOST_BILL.test(name)) written[name] = raw[name];
  }
  const prompt = inputTokens(billed);
  written.prompt_tokens = prompt;
  written.completion_tokens = billed.outputTokens;
  written.total_tokens = prompt + billed.outputTokens;
  const cacheWrite = billed.cacheWriteTokens + billed.cacheWrite1hTokens;
  writeDetail(written, 'prompt_tokens_details', 'cached_tokens', billed.cacheReadTokens);
  writeDetail(written, 'prompt_tokens_details', 'cache_write_tokens', cacheWrite);
  writeDetail(written, 'completion_tokens_details', 'reasoning_tokens', billed.reasoningTokens);
  return written;
}

/** Usage reports only what exists: a zero detail is written only where the host had written one. */
function writeDetail(written: Members, group: string, name: string, count: number): void {
  const details = isObject(written[group]) ? written[group] : null;
  if (count === 0 && details?.[name] === undefined) return;
  written[group] = { ...details, [name]: count };
}
