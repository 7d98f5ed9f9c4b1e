import type { HostManners } from '../wire.ts';
import { isObject } from './fields.ts';
import { standardUsage, type UsageRule } from './usage.ts';

/** What a host row may name when its host departs from the wire; each rule has a recording as its test. */
interface UsageManner {
  readonly rule: UsageRule;
  /** Where this host puts its usage when the usual place is empty. */
  readonly find: (chunk: Record<string, unknown>) => unknown;
}

const usualPlace = (chunk: Record<string, unknown>): unknown => chunk.usage;

const USAGE_MANNERS: Readonly<Record<string, UsageManner>> = {
  standard: { rule: standardUsage, find: usualPlace },
  /** The last chunk carries usage inside the host's own member. */
  x_groq: {
    rule: standardUsage,
    find: (chunk) => chunk.usage ?? (isObject(chunk.x_groq) ? chunk.x_groq.usage : undefined),
  },
  /** Thinking lies outside the completion count, but inside the total. */
  thinking_in_total: {
    rule: (counts) => {
      const hidden = Math.max(0, (counts.total ?? 0) - counts.prompt - counts.completion);
      return standardUsage({ ...counts, completion: counts.completion + hidden });
    },
    find: usualPlace,
  },
  /** The prompt count leaves out what was read from the cache. */
  cached_outside_prompt: {
    rule: (counts) => standardUsage({ ...counts, prompt: counts.prompt + counts.cached }),
    find: usualPlace,
  },
};

export const USAGE_MANNER_NAMES = Object.keys(USAGE_MANNERS);

export function usageManner(manners: HostManners): UsageManner {
  return USAGE_MANNERS[manners.readUsage ?? 'standard'] ?? USAGE_MANNERS.standard!;
}

/** Members by which chunks and answers would name the host, its account or its own request id. */
export const HOST_MEMBERS = ['x_groq', 'provider'] as const;
