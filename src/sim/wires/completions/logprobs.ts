import { splitTokens } from '../../tokens.ts';
import type { Completion } from './answers.ts';
import type { CompletionsRequest } from './request.ts';

/** A stretch of prompt or answer, and where it begins counted from the start of the prompt. */
export interface Stretch {
  readonly text: string;
  readonly offset: number;
}

/** What a caller reads: the prompt again, if it asked for it, and what was said. */
export function stretchesOf({ prompt, said }: Completion, { echo }: CompletionsRequest): Stretch[] {
  const answer = { text: said, offset: prompt.text.length };
  return echo ? [{ text: prompt.text, offset: 0 }, answer] : [answer];
}

/** The vendor's log probabilities, made up but well formed; `null` when they were not asked for. */
export function writeLogprobs(stretches: readonly Stretch[], count: number | null): string {
  if (count === null) return 'null';
  const tokens = stretches.flatMap(tokensOf);
  return JSON.stringify({
    tokens: tokens.map((token) => token.text),
    // Nothing comes before the first token of a prompt, so nothing makes it likely.
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
