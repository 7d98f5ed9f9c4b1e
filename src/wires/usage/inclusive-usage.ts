import type { HostQuirks } from '../../canonical/host-quirks.ts';
import type { Usage, UsageReading } from '../../canonical/usage.ts';
import { isCount } from '../fields/members.ts';

/** A host's counts on wires whose input count includes the cache and whose output count includes reasoning. */
export interface InclusiveCounts {
  readonly input: number;
  readonly output: number;
  readonly total: number | null;
  readonly cached: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
}

/** Turns a host's counts into disjoint buckets; a host row may name another rule than its wire's. */
export type UsageRule = (counts: InclusiveCounts) => Usage;

/**
 * Each cache count is part of the input, unless it alone exceeds the input. In that case the total says nothing about hidden reasoning.
 */
const standardUsage: UsageRule = (counts) => {
  const { input, cached, cacheWrite } = counts;
  if (cached > input) return bucketsOf(counts, 0, 0);
  return bucketsOf(counts, cached, cacheWrite > input ? 0 : hiddenTokens(counts, input));
};

/**
 * Two cache counts that fit into the input one by one but not together overlap: the host wrote again what it had read.
 * The overlap is billed once, as read.
 */
function bucketsOf(counts: InclusiveCounts, readInside: number, hidden: number): Usage {
  const { input, output, cached, cacheWrite, reasoning } = counts;
  const writeInside = cacheWrite > input ? 0 : cacheWrite;
  const overlap = readInside + writeInside > input ? Math.min(readInside, writeInside) : 0;
  const outputTokens = output + hidden;
  return {
    freshTokens: input - readInside - writeInside + overlap,
    cacheReadTokens: cached,
    cacheWriteTokens: cacheWrite - overlap,
    cacheWrite1hTokens: 0,
    outputTokens,
    reasoningTokens: Math.min(Math.max(reasoning, hidden), outputTokens),
  };
}

/** Tokens in the total beyond input and output are reasoning that the host bills. */
function hiddenTokens({ output, total }: InclusiveCounts, input: number): number {
  return Math.max(0, (total ?? 0) - input - output);
}

/** Rules that a host row may name. */
const USAGE_RULES: Readonly<Record<string, UsageRule>> = {
  standard: standardUsage,
  /** The input count does not include tokens read from the cache. */
  cached_outside_prompt: (counts) => bucketsOf(counts, 0, hiddenTokens(counts, counts.input + counts.cached)),
};

export function usageRule({ readUsage }: HostQuirks): UsageRule {
  return readUsage !== undefined && Object.hasOwn(USAGE_RULES, readUsage) ? USAGE_RULES[readUsage]! : standardUsage;
}

type HostCounts = Readonly<Record<keyof InclusiveCounts, unknown>>;

/** Invalid counts give `missing`, with the reason. */
export function readCounts(counts: HostCounts, rule: UsageRule): UsageReading {
  if (areCounts(counts)) return { state: 'reported', usage: rule(counts) };
  const wrong = Object.entries(counts).find(
    ([name, count]) => !isCount(count) && !(name === 'total' && count === null),
  );
  return { state: 'missing', defect: `the host's ${wrong![0]} tokens are not a valid count` };
}

function areCounts(counts: HostCounts): counts is InclusiveCounts {
  const { input, output, total, cached, cacheWrite, reasoning } = counts;
  const hasParts = isCount(cached) && isCount(cacheWrite) && isCount(reasoning);
  return hasParts && isCount(input) && isCount(output) && (total === null || isCount(total));
}
