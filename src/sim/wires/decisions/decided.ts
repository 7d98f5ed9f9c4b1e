import { windowOf } from '../../prompt.ts';
import { countTokens } from '../../tokens.ts';
import { estimate, type Likelihood } from './likelihood.ts';

/** A typed question in the simulator's own words; both spellings of the wire read into it. */
export interface Question {
  readonly name: string | null;
  readonly instructions: unknown;
  readonly kind: 'yes-no' | 'choice' | 'score';
  /** For a choice its labels; for a score the positions of its levels; for yes or no these two words. */
  readonly outcomes: readonly string[];
  /** The question as it was asked, for counting. */
  readonly asked: unknown;
}

export interface Ask {
  readonly model: string;
  readonly state: unknown;
  readonly questions: readonly Question[];
}

const PREAMBLE_TOKENS = 16;
const QUESTION_TOKENS = 8;

/** What a question calls itself and how it describes its outcomes change nothing. */
export function decide({ model, state }: Ask, { instructions, outcomes }: Question): Likelihood {
  return estimate(JSON.stringify([model, state, instructions]), outcomes);
}

export function countInput({ state, questions }: Ask): number {
  let tokens = PREAMBLE_TOKENS + countTokens(JSON.stringify(state));
  for (const { asked } of questions) tokens += QUESTION_TOKENS + countTokens(JSON.stringify(asked));
  return tokens;
}

/** Every outcome is weighed, so every outcome counts. */
export function countOutput({ questions }: Ask): number {
  return questions.reduce((sum, { outcomes }) => sum + outcomes.length, 0);
}

/** The tokens a prompt has too many of; null where it fits. */
export function tokensOverWindow(ask: Ask): { promptTokens: number; windowTokens: number } | null {
  const promptTokens = countInput(ask);
  const windowTokens = windowOf(ask.model);
  return promptTokens > windowTokens ? { promptTokens, windowTokens } : null;
}

/** The model that is asked for is a family; the one that answers is a version of it. */
export function versionOf(model: string): string {
  return `${model}-1.4.0`;
}
