import { CL100K_TOKEN_SPLIT_REGEX, O200K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';
import { type CountTerms, countPrompt } from '../../src/money/counted-bound.ts';
import { type KnownTokenizer, measureRuns } from '../../src/money/measure-text.ts';
import { Random } from '../../test/random.ts';
import type { PromptKind } from './prompts.ts';

/** A tokenizer whose true counts the bounds are compared with. */
export interface Family {
  readonly name: string;
  /** The factor that the catalog has for models of this family. */
  readonly factor: number;
  countTokens(text: string): number;
}

/** How the bounds of one kind of prompt compare with the true counts of one family. */
export interface Quality {
  readonly family: string;
  readonly kind: PromptKind;
  prompts: number;
  short: number;
  /** The most tokens that one token of the bound turned out to be. */
  worst: number;
  /** The sums of bounds, true counts and bytes. */
  bound: number;
  tokens: number;
  bytes: number;
  /** The highest factor that a prompt would have needed. */
  needed: number;
}

const TEXT = { disallowedSpecial: new Set<string>() };

export async function o200k(): Promise<KnownTokenizer> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  return { pieces: O200K_TOKEN_SPLIT_REGEX, countTokens: (text) => countTokens(text, TEXT) };
}

export async function cl100k(): Promise<KnownTokenizer> {
  const { countTokens } = await import('gpt-tokenizer/encoding/cl100k_base');
  return { pieces: CL100K_TOKEN_SPLIT_REGEX, countTokens: (text) => countTokens(text, TEXT) };
}

export interface QualityTerms {
  readonly families: readonly Family[];
  readonly kinds: readonly PromptKind[];
  readonly known: KnownTokenizer;
  readonly prompts: number;
  readonly chars: number;
  readonly seed: number;
}

/** Measures prompts of every kind against every family in turn. */
export function measureQuality({ families, kinds, known, prompts, chars, seed }: QualityTerms): Quality[] {
  const random = new Random(seed);
  const pairs = kinds.flatMap((kind) => families.map((family) => ({ family, quality: empty(family, kind) })));
  for (let at = 0; at < prompts; at++) {
    const { family, quality } = pairs[at % pairs.length]!;
    addPrompt(quality, family, known, quality.kind.write(random, random.between(chars / 4, chars)));
  }
  return pairs.map(({ quality }) => quality).filter((quality) => quality.prompts > 0);
}

function addPrompt(quality: Quality, family: Family, known: KnownTokenizer, text: string): void {
  const measure = finish(measureRuns(text, known));
  const bound = boundOf(measure, { exact: false, factor: family.factor });
  const tokens = family.countTokens(text);
  quality.prompts++;
  quality.bound += bound;
  quality.tokens += tokens;
  quality.bytes += measure.asciiBytes + measure.otherBytes;
  quality.worst = Math.max(quality.worst, tokens / bound);
  if (tokens > bound) quality.short++;
  if (measure.tokens > 0) quality.needed = Math.max(quality.needed, (tokens - measure.otherBytes) / measure.tokens);
}

function boundOf(measure: Parameters<typeof countPrompt>[0][number], terms: CountTerms): number {
  const { fixedTokens, scaledTokens } = countPrompt([measure], [], terms);
  return fixedTokens + scaledTokens;
}

function empty({ name }: Family, kind: PromptKind): Quality {
  return { family: name, kind, prompts: 0, short: 0, worst: 0, bound: 0, tokens: 0, bytes: 0, needed: 0 };
}

export function finish<Result>(steps: Generator<undefined, Result, undefined>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
