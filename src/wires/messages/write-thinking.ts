import { GatewayError } from '../../canonical/errors.ts';
import { EFFORTS, type Effort } from '../../canonical/reasoning.ts';
import type { CanonicalReasoning } from '../../canonical/request.ts';
import type { Adjustments } from '../adjustments.ts';
import { BUDGET } from '../fields/lost-budget.ts';
import type { Members } from '../fields/members.ts';
import type { HubRequestTerms } from '../hub.ts';

/** The thinking fields of a request. */
export interface Thinking {
  readonly thinking: Members | null;
  readonly effort: string | null;
}

export const SAYS_NOTHING: Thinking = { thinking: null, effort: null };
const OFF: Thinking = { thinking: { type: 'disabled' }, effort: null };

/** The smallest budget that hosts of this wire accept. */
const BUDGET_MIN = 1024;

/** The share of the output limit that each effort may use for thinking. */
const SHARE_OF_LIMIT: Readonly<Record<Exclude<Effort, 'none'>, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
  max: 0.95,
};

export function writeThinking(asked: CanonicalReasoning | null, terms: HubRequestTerms): Thinking {
  const kind = thinkingKind(asked, terms);
  if (asked === null || kind === null) return SAYS_NOTHING;
  const effort = effortOf(asked, terms);
  if (effort === 'none') return OFF;
  if (kind === 'adaptive' && effort !== null) return adaptive(effort);
  if (asked.budgetTokens !== null) return withBudget(asked.budgetTokens, terms);
  if (effort === null) return SAYS_NOTHING;
  if (terms.outputLimit > BUDGET_MIN || terms.adjustments?.mayDrop !== true) {
    return withBudget(budgetOf(effort, terms.outputLimit), terms);
  }
  terms.adjustments.note('reasoning');
  return SAYS_NOTHING;
}

type ThinkingTerms = Pick<HubRequestTerms, 'thinking' | 'reasoningEffort' | 'alwaysReasons'>;

/** The `thinking.type` of what is asked for, whether or not the output limit has room for it; null for none. */
export function thinkingKind(
  asked: CanonicalReasoning | null,
  terms: ThinkingTerms,
): 'enabled' | 'adaptive' | 'disabled' | null {
  if (asked === null || terms.thinking === null) return null;
  const effort = effortOf(asked, terms);
  if (effort === 'none') return 'disabled';
  if (terms.thinking === 'effort') return effort === null ? null : 'adaptive';
  return effort === null && asked.budgetTokens === null ? null : 'enabled';
}

function effortOf({ effort }: CanonicalReasoning, terms: ThinkingTerms): Effort | null {
  return asEffort(terms.reasoningEffort) ?? effort;
}

/** Whether a host refuses the thinking that is asked for before a tool that must be called. */
export function forbidsForcedTool(asked: CanonicalReasoning | null, terms: ThinkingTerms): boolean {
  const kind = thinkingKind(asked, terms);
  return kind === 'enabled' || (kind === 'adaptive' && terms.alwaysReasons !== true);
}

/** Models with a budget do not think unasked, but some that take an effort do. */
export function withoutThinking(kind: 'budget' | 'effort' | null | undefined): Thinking {
  return kind === 'effort' ? OFF : SAYS_NOTHING;
}

/** Names a budget below the least that hosts take, because it is raised. */
export function noteRaised(
  { thinking }: Thinking,
  asked: Pick<CanonicalReasoning, 'budgetTokens'> | null,
  adjustments: Adjustments,
): void {
  const sent = thinking?.budget_tokens;
  const budgetTokens = asked?.budgetTokens ?? null;
  if (budgetTokens !== null && typeof sent === 'number' && sent > budgetTokens) adjustments.change(BUDGET, sent);
}

/** Newer models leave the reasoning text out unless it is requested. */
function adaptive(effort: Exclude<Effort, 'none'>): Thinking {
  return {
    thinking: { type: 'adaptive', display: 'summarized' },
    effort: effort === 'minimal' ? 'low' : effort,
  };
}

function budgetOf(effort: Exclude<Effort, 'none'>, outputLimit: number): number {
  return Math.floor(outputLimit * SHARE_OF_LIMIT[effort]);
}

/** Thinking counts towards the output limit, so the limit must leave room for the response. */
function withBudget(
  asked: number,
  { outputLimit, callersLimitField: field = 'max_tokens' }: HubRequestTerms,
): Thinking {
  const budget = Math.max(asked, BUDGET_MIN);
  if (budget < outputLimit) return { thinking: { type: 'enabled', budget_tokens: budget }, effort: null };
  throw new GatewayError('invalid_value', {
    param: field,
    message: `Reasoning counts towards this model's output limit and takes at least ${BUDGET_MIN} tokens. The limit is ${outputLimit}, but must be at least ${budget + 1} for ${budget} tokens of reasoning. Raise \`${field}\`, or ask for less reasoning.`,
  });
}

function asEffort(word: string | null): Effort | null {
  return (EFFORTS as readonly (string | null)[]).includes(word) ? (word as Effort) : null;
}
