import { GatewayError } from '../../canonical/errors.ts';
import { EFFORTS, type Effort } from '../../canonical/reasoning.ts';
import type { CanonicalReasoning } from '../../canonical/request.ts';
import type { Members } from '../fields/members.ts';
import type { HubRequestTerms } from '../hub.ts';

/** What a request says about thinking: how, and with which effort. */
export interface Thinking {
  readonly thinking: Members | null;
  readonly effort: string | null;
}

const SAYS_NOTHING: Thinking = { thinking: null, effort: null };
const OFF: Thinking = { thinking: { type: 'disabled' }, effort: null };

/** The least a host of this wire takes for a budget. */
const BUDGET_MIN = 1024;

/** Which part of the output limit each effort may think away. */
const SHARE_OF_LIMIT: Readonly<Record<Exclude<Effort, 'none'>, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
  max: 0.95,
};

export function writeThinking(asked: CanonicalReasoning | null, terms: HubRequestTerms): Thinking {
  if (asked === null || terms.thinking === null) return SAYS_NOTHING;
  const effort = asEffort(terms.reasoningEffort) ?? asked.effort;
  if (effort === 'none') return OFF;
  if (terms.thinking === 'effort') return effort === null ? SAYS_NOTHING : adaptive(effort);
  const budget = asked.budgetTokens ?? (effort === null ? null : budgetOf(effort, terms.outputLimit));
  return budget === null ? SAYS_NOTHING : { thinking: withBudget(budget, terms.outputLimit), effort: null };
}

/** Newer models leave the trace out unless it is asked for. */
function adaptive(effort: Exclude<Effort, 'none'>): Thinking {
  return {
    thinking: { type: 'adaptive', display: 'summarized' },
    effort: effort === 'minimal' ? 'low' : effort,
  };
}

function budgetOf(effort: Exclude<Effort, 'none'>, outputLimit: number): number {
  return Math.floor(outputLimit * SHARE_OF_LIMIT[effort]);
}

/** Thinking counts towards the limit, so a limit that leaves no room for the answer cannot be kept. */
function withBudget(asked: number, outputLimit: number): Members {
  const budget = Math.max(asked, BUDGET_MIN);
  if (budget < outputLimit) return { type: 'enabled', budget_tokens: budget };
  throw new GatewayError('invalid_value', {
    param: 'max_tokens',
    message: `This model thinks within its output limit, at least ${BUDGET_MIN} tokens: the limit is ${outputLimit} and must be at least ${budget + 1} to think for ${budget} tokens. Raise it, or ask for less reasoning.`,
  });
}

function asEffort(word: string | null): Effort | null {
  return (EFFORTS as readonly (string | null)[]).includes(word) ? (word as Effort) : null;
}
