import { isObject, type Members } from '../members.ts';
import type { HostManners } from '../wire.ts';
import { standardUsage, type UsageRule } from './usage.ts';

/** What a host row may name when its host counts otherwise; each rule has a recording as its test. */
const USAGE_RULES: Readonly<Record<string, UsageRule>> = {
  standard: standardUsage,
  /** Thinking lies outside the completion count and is told nowhere, but it is inside the total. */
  thinking_in_total: (counts) => {
    const hidden = Math.max(0, (counts.total ?? 0) - counts.prompt - counts.completion);
    const reasoning = Math.max(counts.reasoning, hidden);
    return standardUsage({ ...counts, completion: counts.completion + hidden, reasoning, total: null });
  },
  /** The prompt count leaves out what was read from the cache. */
  cached_outside_prompt: (counts) => standardUsage({ ...counts, prompt: counts.prompt + counts.cached }),
};

export const USAGE_RULE_NAMES: readonly string[] = Object.keys(USAGE_RULES);

export function usageRule({ readUsage }: HostManners): UsageRule {
  return readUsage !== undefined && Object.hasOwn(USAGE_RULES, readUsage) ? USAGE_RULES[readUsage]! : standardUsage;
}

/** Usage stands in its own member, or inside the member a host keeps for itself. */
export function findUsage(chunk: Members): unknown {
  return chunk.usage ?? (isObject(chunk.x_groq) ? chunk.x_groq.usage : undefined);
}

/** Members by which chunks and answers would name the host, its account or its own request id. */
export const HOST_MEMBERS: readonly string[] = ['x_groq', 'provider'];
