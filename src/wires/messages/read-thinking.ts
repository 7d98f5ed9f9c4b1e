import { type Effort, isEffort, type ReasoningAsk } from '../../canonical/reasoning.ts';
import { isAbsent, isCount, isObject, type Members } from '../fields/members.ts';
import { mustBe } from '../fields/request-errors.ts';

const KINDS = ['enabled', 'adaptive', 'between_tools', 'disabled'];
/** The vendor's default effort for adaptive thinking. */
const ADAPTIVE_EFFORT: Effort = 'high';

/** What the request asks for: a budget, an effort, no thinking, or null for the default. */
export function readThinking(body: Members): ReasoningAsk | null {
  const effort = readEffort(body.output_config);
  const thinking = isObject(body.thinking) ? body.thinking : null;
  if (thinking === null) {
    return effort === null ? null : { effort, budgetTokens: null, hideReasoning: false, param: 'output_config.effort' };
  }
  const type = thinking.type;
  if (!KINDS.includes(type as string)) throw mustBe('thinking.type', `one of ${KINDS.join(', ')}`);
  const hideReasoning = thinking.display === 'omitted';
  if (type === 'disabled') return { effort: 'none', budgetTokens: null, hideReasoning, param: 'thinking' };
  if (type === 'enabled')
    return { effort: null, budgetTokens: readBudget(thinking, body.max_tokens), hideReasoning, param: 'thinking' };
  return { effort: effort ?? ADAPTIVE_EFFORT, budgetTokens: null, hideReasoning, param: 'thinking' };
}

/** Only `thinking` needs the reasoning capability; an effort alone also works on other models. */
export function needsReasoning(body: Members): boolean {
  return isObject(body.thinking) && body.thinking.type !== 'disabled';
}

function readEffort(config: unknown): Effort | null {
  const effort = isObject(config) ? config.effort : null;
  if (isAbsent(effort)) return null;
  if (isEffort(effort)) return effort;
  throw mustBe('output_config.effort', 'one of low, medium, high, xhigh, max');
}

/** A budget above the limit would allow more output than the hold covers. */
function readBudget({ budget_tokens: budget }: Members, limit: unknown): number {
  if (!isCount(budget) || budget === 0) throw mustBe('thinking.budget_tokens', 'a positive integer');
  if (isCount(limit) && budget >= limit)
    throw mustBe('thinking.budget_tokens', `below \`max_tokens\`, which is ${limit}`);
  return budget;
}
