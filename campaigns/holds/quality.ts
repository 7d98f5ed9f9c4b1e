import { CL100K_TOKEN_SPLIT_REGEX, O200K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';
import { type CountTerms, countPrompt } from '../../src/money/counted-bound.ts';
import { type KnownTokenizer, measureRuns, type TextMeasure } from '../../src/money/measure-text.ts';
import { Random } from '../../test/random.ts';
import type { PromptKind } from './prompts.ts';

/** A tokenizer whose true counts the bounds are compared with. */
export interface Family {
  readonly name: string;
  /** A model of the catalog with this tokenizer; null if there is none, and the default factor is used. */
  readonly model: string | null;
  readonly factor: number;
  countAll(texts: readonly string[]): readonly number[];
}

/** How the bounds of one kind of prompt compare with the true counts of one family. */
export interface Quality {
  readonly family: Family;
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

/** Tokenizers of the product's own dependency, as if they were those of unknown models. */
export async function ownFamilies(factor: number): Promise<Family[]> {
  const encodings = {
    o200k_base: await import('gpt-tokenizer/encoding/o200k_base'),
    cl100k_base: await import('gpt-tokenizer/encoding/cl100k_base'),
    p50k_base: await import('gpt-tokenizer/encoding/p50k_base'),
    r50k_base: await import('gpt-tokenizer/encoding/r50k_base'),
  };
  return Object.entries(encodings).map(([name, { countTokens }]) => ({
    name,
    model: null,
    factor,
    countAll: (texts) => texts.map((text) => countTokens(text, TEXT)),
  }));
}

interface QualityTerms {
  readonly families: readonly Family[];
  readonly kinds: readonly PromptKind[];
  readonly known: KnownTokenizer;
  readonly prompts: number;
  readonly chars: number;
  readonly seed: number;
}

interface Prompt {
  readonly kind: PromptKind;
  readonly text: string;
  readonly measure: TextMeasure;
}

/** Compares the bounds of prompts, of every kind in turn, with the true counts of every family. */
export function measureQuality({ families, kinds, known, prompts, chars, seed }: QualityTerms): Quality[] {
  const random = new Random(seed);
  const written = Array.from({ length: prompts }, (_, at): Prompt => {
    const kind = kinds[at % kinds.length]!;
    const text = kind.write(random, random.between(chars / 4, chars));
    return { kind, text, measure: finish(measureRuns(text, known)) };
  });
  return families.flatMap((family) => {
    const counts = family.countAll(written.map(({ text }) => text));
    const byKind = new Map(kinds.map((kind) => [kind, empty(family, kind)]));
    written.forEach((prompt, at) => {
      addPrompt(byKind.get(prompt.kind)!, prompt.measure, counts[at]!, family.factor);
    });
    return [...byKind.values()];
  });
}

function addPrompt(quality: Quality, measure: TextMeasure, tokens: number, factor: number): void {
  const bound = boundOf(measure, { exact: false, factor });
  quality.prompts++;
  quality.bound += bound;
  quality.tokens += tokens;
  quality.bytes += measure.asciiBytes + measure.otherBytes;
  quality.worst = Math.max(quality.worst, tokens / bound);
  if (tokens > bound) quality.short++;
  if (measure.tokens > 0) quality.needed = Math.max(quality.needed, (tokens - measure.otherBytes) / measure.tokens);
}

function boundOf(measure: TextMeasure, terms: CountTerms): number {
  const { fixedTokens, scaledTokens } = countPrompt([measure], [], terms);
  return fixedTokens + scaledTokens;
}

function empty(family: Family, kind: PromptKind): Quality {
  return { family, kind, prompts: 0, short: 0, worst: 0, bound: 0, tokens: 0, bytes: 0, needed: 0 };
}

export function finish<Result>(steps: Generator<undefined, Result, undefined>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
