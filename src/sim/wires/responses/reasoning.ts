import { type Fields, isAbsent, isFields } from '../../fields.ts';
import { EFFORTS, type Effort } from '../../prompt.ts';
import { refuse } from '../../reply.ts';
import { isSealOf, type SealTerms, sealThought } from '../../signatures.ts';

export interface ReasoningAsk {
  readonly effort: Effort | null;
  readonly summary: string | null;
}

const SUMMARIES: readonly unknown[] = ['auto', 'concise', 'detailed'];

export function readReasoning(reasoning: unknown): ReasoningAsk {
  if (isAbsent(reasoning)) return { effort: null, summary: null };
  if (!isFields(reasoning)) {
    return refuse('invalid_type', 'reasoning', "Invalid type for 'reasoning': expected an object.");
  }
  return {
    effort: readOneOf<Effort>(reasoning, 'effort', EFFORTS),
    summary: readOneOf(reasoning, 'summary', SUMMARIES),
  };
}

function readOneOf<Word extends string>(reasoning: Fields, name: string, known: readonly unknown[]): Word | null {
  const word = reasoning[name];
  if (isAbsent(word)) return null;
  if (known.includes(word)) return word as Word;
  return refuse(
    'invalid_value',
    `reasoning.${name}`,
    `Invalid 'reasoning.${name}': expected one of ${known.join(', ')}.`,
  );
}

/** The vendor encrypts the same reasoning differently each time it is written; every version is valid. */
export function encryptThought(model: string, thought: string, occasion: string): string {
  return sealThought(termsOf(model), `${occasion} ${thought}`);
}

export function isOwnSeal(model: string, sealed: string): boolean {
  return isSealOf(termsOf(model), sealed);
}

/** The summary may be changed or dropped: only the encrypted part is checked. */
function termsOf(model: string): SealTerms {
  return { kind: 'encrypted', model, shown: '' };
}
