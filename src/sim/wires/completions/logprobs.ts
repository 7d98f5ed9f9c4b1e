import { splitTokens } from '../../tokens.ts';
import type { Completion } from './answers.ts';
import type { CompletionsRequest } from './request.ts';

/** A piece of prompt or answer, and its offset from the start of the prompt. */
export interface Stretch {
  readonly text: string;
  readonly offset: number;
}

/** What the caller gets: the prompt again, if requested, and the answer. */
export function stretchesOf({ prompt, said }: Completion, { echo }: CompletionsRequest): Stretch[] {
  const answer = { text: said, offset: prompt.text.length };
  return echo ? [{ text: prompt.text, offset: 0 }, answer] : [answer];
}

/** Log probabilities: invented but well formed. `null` if they were not requested. */
export function writeLogprobs(stretches: readonly Stretch[], count: number | null): string {
  if (count === null) return 'null';
  const tokens = stretches.flatMap(tokensOf);
  return JSON.stringify({
    tokens: tokens.map((token) => token.text),
    // The first token of a prompt has nothing before it, so it has no probability.
    token_logprobs: tokens.map(({ text, offset }) => (offset === 0 ? null : logprobOf(text))),
    top_logprobs: count === 0 ? null : tokens.map(({ text }) => topOf(text, count)),
    text_offset: tokens.map((token) => token.offset),
  });
}

function tokensOf({ text, offset }: Stretch): Stretch[] {
  let next = offset;
  return splitTokens(text, 1).map((token) => {
    const at = next;
    next += token.text.length;
    return { text: token.text, offset: at };
  });
}

function logprobOf(token: string): number {
  return -token.length / 8;
}

function topOf(token: string, count: number): Record<string, number> {
  const others = Array.from({ length: count - 1 }, (_, rank) => [`${token}${rank + 2}`, logprobOf(token) - rank - 1]);
  return Object.fromEntries([[token, logprobOf(token)], ...others]);
}
