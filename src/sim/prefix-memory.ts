import { LIMITS } from '../limits.ts';
import type { PromptSegment } from './prompt.ts';
import { tokenEnd } from './tokens.ts';

/** Shorter prompts are never cached; longer ones are cached at every multiple of this step. */
const CACHE_TOKENS_MIN = 1024;
const CACHE_STEP_TOKENS = 128;

export interface CachedPrefix {
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
}

const NOTHING: CachedPrefix = { cachedTokens: 0, cacheWriteTokens: 0 };

/** A caller's cache breakpoint: after this many segments, for an hour or for five minutes. */
export interface Breakpoint {
  readonly segments: number;
  readonly forAnHour: boolean;
}

export interface MarkedPrefix extends CachedPrefix {
  /** Part of cacheWriteTokens. */
  readonly cacheWrite1hTokens: number;
}

/** Remembers prompt prefixes per model, as a host's prompt cache does; evicts the least recently used. */
export class PrefixMemory {
  /** Insertion order is order of use. */
  readonly #prefixes = new Set<number>();
  readonly #prefixesMax: number;

  constructor(prefixesMax: number = LIMITS.simCachedPrefixesMax) {
    this.#prefixesMax = prefixesMax;
  }

  /** How much of this prompt was seen before; remembers all of it. */
  recall(model: string, segments: readonly PromptSegment[], promptTokens: number): CachedPrefix {
    if (promptTokens < CACHE_TOKENS_MIN) return NOTHING;
    const prefixes = hashPrefixes(model, segments);
    let known = 0;
    while (known < prefixes.length && this.#prefixes.has(prefixes[known]!)) known++;
    for (const prefix of prefixes) this.#remember(prefix);
    const cachedTokens = tokensOfPrefix(known);
    return { cachedTokens, cacheWriteTokens: tokensOfPrefix(prefixes.length) - cachedTokens };
  }

  /** The same with the caller's breakpoints: writes at each, and reads at the end of any segment before the last one. */
  recallMarked(model: string, segments: readonly PromptSegment[], breakpoints: readonly Breakpoint[]): MarkedPrefix {
    const ends = hashSegmentEnds(model, segments.slice(0, breakpoints.at(-1)?.segments ?? 0));
    const known = ends.findLast((end) => end.tokens >= CACHE_TOKENS_MIN && this.#prefixes.has(end.hash));
    const written = { hour: 0, minutes: 0 };
    let reached = known?.tokens ?? 0;
    for (const { segments: count, forAnHour } of breakpoints) {
      const end = ends[count - 1];
      if (end === undefined || end.tokens < CACHE_TOKENS_MIN) continue;
      this.#remember(end.hash);
      written[forAnHour ? 'hour' : 'minutes'] += Math.max(0, end.tokens - reached);
      reached = Math.max(reached, end.tokens);
    }
    return {
      cachedTokens: known?.tokens ?? 0,
      cacheWriteTokens: written.hour + written.minutes,
      cacheWrite1hTokens: written.hour,
    };
  }

  forgetAll(): void {
    this.#prefixes.clear();
  }

  #remember(prefix: number): void {
    this.#prefixes.delete(prefix);
    this.#prefixes.add(prefix);
    if (this.#prefixes.size <= this.#prefixesMax) return;
    for (const oldest of this.#prefixes) {
      this.#prefixes.delete(oldest);
      return;
    }
  }
}

function tokensOfPrefix(count: number): number {
  return count === 0 ? 0 : CACHE_TOKENS_MIN + (count - 1) * CACHE_STEP_TOKENS;
}

/** One hash for each remembered length of the prompt, shortest first. */
function hashPrefixes(model: string, segments: readonly PromptSegment[]): number[] {
  const hasher = new PrefixHasher();
  hasher.absorb(model, 0, model.length);
  for (const segment of segments) hasher.absorbSegment(segment);
  return hasher.prefixes;
}

/** The hash of the prompt up to the end of each segment. */
function hashSegmentEnds(model: string, segments: readonly PromptSegment[]): { hash: number; tokens: number }[] {
  const hasher = new PrefixHasher();
  // Each wire has a cache of its own.
  const seed = `marked ${model}`;
  hasher.absorb(seed, 0, seed.length);
  return segments.map((segment) => {
    hasher.absorbSegment(segment);
    return { hash: hasher.hash, tokens: hasher.tokens };
  });
}

class PrefixHasher {
  readonly prefixes: number[] = [];
  tokens = 0;
  #high = 0x811c9dc5;
  #low = 0x2545f491;
  #nextPrefixAt = CACHE_TOKENS_MIN;

  get hash(): number {
    return (this.#high >>> 0) * 2 ** 21 + (this.#low >>> 11);
  }

  absorbSegment({ mark, fixedTokens, text }: PromptSegment): void {
    this.absorb(mark, 0, mark.length);
    for (let token = 0; token < fixedTokens; token++) this.#endToken();
    for (let at = 0; at < text.length; ) {
      const end = tokenEnd(text, at);
      this.absorb(text, at, end);
      this.#endToken();
      at = end;
    }
  }

  absorb(text: string, from: number, to: number): void {
    let high = this.#high;
    let low = this.#low;
    for (let at = from; at < to; at++) {
      const code = text.charCodeAt(at);
      high = Math.imul(high ^ code, 0x01000193);
      low = Math.imul((low << 7) ^ (low >>> 9) ^ code, 0x85ebca6b);
    }
    // A separator between pieces, so that "ab"+"c" and "a"+"bc" differ.
    this.#high = Math.imul(high ^ 0x10000, 0x01000193);
    this.#low = Math.imul(low ^ 0x10000, 0x85ebca6b);
  }

  #endToken(): void {
    this.tokens++;
    if (this.tokens < this.#nextPrefixAt) return;
    this.#nextPrefixAt += CACHE_STEP_TOKENS;
    this.prefixes.push(this.hash);
  }
}
