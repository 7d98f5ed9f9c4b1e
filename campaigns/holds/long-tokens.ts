import ranks from 'gpt-tokenizer/bpeRanks/o200k_base';
import { longestAscii } from './prompts.ts';

/** The longest words that the tokenizer has as single tokens; other tokenizers need many for each. */
export function longTokens(count: number): string[] {
  const tokens = ranks as readonly unknown[];
  return longestAscii(
    tokens.filter((token) => typeof token === 'string'),
    count,
  );
}
