import type { Peek } from '../peek.ts';
import { isCount, type Members } from './members.ts';
import { mustBe } from './request-errors.ts';

/** The budget in `thinking`. One above the output limit would allow more output than the hold covers. */
export function readThinkingBudget({ budget_tokens: budget }: Members, limit: Peek['outputLimit']): number {
  if (!isCount(budget) || budget === 0) throw mustBe('thinking.budget_tokens', 'a positive integer');
  if (limit !== null && budget >= limit.tokens)
    throw mustBe('thinking.budget_tokens', `below \`${limit.field}\`, which is ${limit.tokens}`);
  return budget;
}
