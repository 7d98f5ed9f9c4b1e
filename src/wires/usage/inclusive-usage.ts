import type { Usage, UsageReading } from '../../canonical/usage.ts';
import { isCount } from '../fields/members.ts';
import type { HostQuirks } from '../quirks.ts';

/** Counts as a host gives them on wires whose input includes the cache and whose output includes the reasoning. */
export interface InclusiveCounts {
  readonly input: number;
  readonly output: number;
  readonly total: number | null;
  readonly cached: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
}

/** How a host's counts become disjoint buckets; the wire's own rule unless the host row names another. */
export type UsageRule = (counts: InclusiveCounts) => Usage;

/** The parts lie inside their wholes, unless the counts themselves prove otherwise. */
const standardUsage: UsageRule = ({ input, output, total, cached, cacheWrite, reasoning }) => {
  const isCacheOutside = cached + cacheWrite > input;
  // What the total has beyond its parts is thinking that was billed to us: told, or told nowhere else.
  const hidden = isCacheOutside ? 0 : Math.max(0, (total ?? 0) - input - output);
  const outputTokens = output + hidden;
  return {
    freshTokens: isCacheOutside ? input : input - cached - cacheWrite,
    cacheReadTokens: cached,
    cacheWriteTokens: cacheWrite,
    cacheWrite1hTokens: 0,
    outputTokens,
    reasoningTokens: Math.min(Math.max(reasoning, hidden), outputTokens),
  };
};

/** What a host row may name when its host counts otherwise. */
const USAGE_RULES: Readonly<Record<string, UsageRule>> = {
  standard: standardUsage,
  /** The input count leaves out what was read from the cache. */
  cached_outside_prompt: (counts) => standardUsage({ ...counts, input: counts.input + counts.cached }),
};

export function usageRule({ readUsage }: HostQuirks): UsageRule {
  return readUsage !== undefined && Object.hasOwn(USAGE_RULES, readUsage) ? USAGE_RULES[readUsage]! : standardUsage;
}

type HostCounts = Readonly<Record<keyof InclusiveCounts, unknown>>;

/** Counts nobody can bill are missing, and say why. */
export function readCounts(counts: HostCounts, rule: UsageRule): UsageReading {
  if (areCounts(counts)) return { state: 'reported', usage: rule(counts) };
  const wrong = Object.entries(counts).find(
    ([name, count]) => !isCount(count) && !(name === 'total' && count === null),
  );
  return { state: 'missing', defect: `the host's ${wrong![0]} tokens are no count` };
}

function areCounts(counts: HostCounts): counts is InclusiveCounts {
  const { input, output, total, cached, cacheWrite, reasoning } = counts;
  const hasParts = isCount(cached) && isCount(cacheWrite) && isCount(reasoning);
  return hasParts && isCount(input) && isCount(output) && (total === null || isCount(total));
}
