/** All levels of reasoning effort, lowest first. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof EFFORTS)[number];

/** What the caller asked for, in whichever fields. */
export interface ReasoningAsk {
  /** Null if the caller gave only a budget or only `exclude`. */
  readonly effort: Effort | null;
  readonly budgetTokens: number | null;
  readonly hideReasoning: boolean;
  readonly param: string;
}

export function isEffort(value: unknown): value is Effort {
  return (EFFORTS as readonly unknown[]).includes(value);
}

/** The nearest level that the model has; of two equally near levels the lower, since the higher costs more. */
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

/** A thinking budget as an effort level, by its share of the output limit. */
export function effortOfBudget(budgetTokens: number, outputLimit: number): Effort {
  const share = budgetTokens / outputLimit;
  if (share < 0.15) return 'minimal';
  if (share < 0.35) return 'low';
  if (share < 0.65) return 'medium';
  if (share < 0.875) return 'high';
  return 'xhigh';
}
