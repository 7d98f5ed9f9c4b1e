import { windowOf } from '../../prompt.ts';
import { countTokens } from '../../tokens.ts';
import { estimate, type Likelihood } from './likelihood.ts';

/** A typed question in the simulator's own form; both variants of the wire are read into it. */
export interface Question {
  readonly name: string | null;
  readonly instructions: unknown;
  readonly kind: 'yes-no' | 'choice' | 'score';
  /** The labels of a choice, the positions of the levels of a score, or yes and no. */
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

/** The question's name and descriptions do not affect the answer. */
export function decide({ model, state }: Ask, { instructions, outcomes }: Question): Likelihood {
  return estimate(JSON.stringify([model, state, instructions]), outcomes);
}

export function countInput({ state, questions }: Ask): number {
  let tokens = PREAMBLE_TOKENS + countTokens(JSON.stringify(state));
  for (const { asked } of questions) tokens += QUESTION_TOKENS + countTokens(JSON.stringify(asked));
  return tokens;
}

/** Every outcome is evaluated, so every outcome counts. */
export function countOutput({ questions }: Ask): number {
  return questions.reduce((sum, { outcomes }) => sum + outcomes.length, 0);
}

/** Whether the prompt has more tokens than the model's window. */
export function isOverWindow(ask: Ask): boolean {
  return countInput(ask) > windowOf(ask.model);
}

/** The requested model is a family; the answer names a version of it. */
export function versionOf(model: string): string {
  return `${model}-1.4.0`;
}
