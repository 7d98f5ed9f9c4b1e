/** The one vocabulary of reasoning effort, weakest first. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof EFFORTS)[number];

/** What the caller asked for, whichever of the spellings it used. */
export interface ReasoningAsk {
  /** Null when only a budget or nothing but `exclude` was given. */
  readonly effort: Effort | null;
  readonly budgetTokens: number | null;
  readonly hideTrace: boolean;
  readonly param: string;
}

export function isEffort(value: unknown): value is Effort {
  return (EFFORTS as readonly unknown[]).includes(value);
}

/** The nearest level a model has; of two equally near ones the lower, since the higher costs more. */
export function nearestEffort(asked: Effort, offered: readonly string[]): Effort | null {
  const rank = EFFORTS.indexOf(asked);
  let best: Effort | null = null;
  for (const effort of EFFORTS) {
    if (!offered.includes(effort)) continue;
    if (best === null || distance(effort, rank) < distance(best, rank)) best = effort;
  }
  return best;
}

function distance(effort: Effort, rank: number): number {
  return Math.abs(EFFORTS.indexOf(effort) - rank);
}

/** A thinking budget as an effort word, by its share of the output limit. */
export function effortOfBudget(budgetTokens: number, outputLimit: number): Effort {
  const share = budgetTokens / outputLimit;
  if (share < 0.15) return 'minimal';
  if (share < 0.35) return 'low';
  if (share < 0.65) return 'medium';
  if (share < 0.875) return 'high';
  return 'xhigh';
}
