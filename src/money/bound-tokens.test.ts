import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PromptSize } from '../canonical/prompt-size.ts';
import { LIMITS } from '../limits.ts';
import { boundCountedTokens, boundInputTokens, boundOutputTokens } from './bound-tokens.ts';
import { estimateInputTokens, estimateTokens } from './estimate-tokens.ts';
import { DEFAULT_FRAMING } from './framing.ts';

const EMPTY: PromptSize = { textBytes: 0, toolBytes: 0, messages: 0, tools: 0, images: 0, tokenIds: 0 };
const MODEL = { contextWindow: 1_000_000, imageTokensMax: 1_500, tokenizer: null, framing: DEFAULT_FRAMING };
const FRAME = LIMITS.promptFramingTokens;

const size: fc.Arbitrary<PromptSize> = fc.record({
  textBytes: fc.nat(100_000),
  toolBytes: fc.nat(10_000),
  normalizedExtraBytes: fc.nat(1_000),
  messages: fc.nat(100),
  parts: fc.nat(100),
  tools: fc.nat(20),
  images: fc.nat(3),
  tokenIds: fc.nat(1_000),
  vendorToolTokens: fc.nat(10_000),
});

describe('the bound on input tokens', () => {
  it.each([
    ['a byte of text as one token', { textBytes: 10 }, 10],
    ['a byte of a tool as six', { toolBytes: 10 }, 60],
    ['a token id as one', { tokenIds: 10 }, 10],
    ['an image as the model’s largest', { images: 2 }, 3_000],
    ['a message with its frame', { messages: 2 }, 2 * LIMITS.messageFramingTokens],
    ['a part or a tool call with its markers', { parts: 3 }, 3 * LIMITS.partFramingTokens],
    [
      'tools with their frames and the host’s words about them',
      { tools: 2 },
      2 * LIMITS.toolFramingTokens + LIMITS.toolPreambleTokens,
    ],
    ['a vendor’s own tools as their prompts', { vendorToolTokens: 70 }, 70],
  ])('counts %s', (_name, part, expected) => {
    expect(boundInputTokens({ ...EMPTY, ...part }, MODEL)).toBe(FRAME + expected);
  });

  it('uses the framing of the model', () => {
    const framing = { prompt: 1, message: 10, part: 100, tool: 1_000, tools: 10_000 };
    const size = { ...EMPTY, messages: 2, parts: 3, tools: 4 };
    expect(boundInputTokens(size, { ...MODEL, framing })).toBe(1 + 20 + 300 + 4_000 + 10_000);
    expect(boundInputTokens({ ...size, tools: 0 }, { ...MODEL, framing })).toBe(1 + 20 + 300);
  });

  it('frames every prompt of a batch, with its tools', () => {
    const framing = { prompt: 5, message: 2, part: 0, tool: 3, tools: 7 };
    const size = { ...EMPTY, messages: 4, tools: 1 };
    expect(boundInputTokens(size, { ...MODEL, framing }, 4)).toBe(4 * (5 + 2 + 3 + 7));
  });

  it('is never above the window, or the windows of a batch of prompts', () => {
    const long = { ...EMPTY, textBytes: 5_000_000 };
    expect(boundInputTokens(long, MODEL)).toBe(1_000_000);
    expect(boundInputTokens(long, MODEL, 3)).toBe(3_000_000);
  });

  it('is the context window if an image has no bound of its own', () => {
    expect(boundInputTokens({ ...EMPTY, images: 1 }, { ...MODEL, imageTokensMax: null })).toBe(1_000_000);
    expect(boundInputTokens(EMPTY, { ...MODEL, imageTokensMax: null })).toBe(FRAME);
  });

  it('is the context window if there is a document', () => {
    expect(boundInputTokens({ ...EMPTY, documents: [{ bytes: 1, isText: false }] }, MODEL)).toBe(1_000_000);
    expect(
      boundCountedTokens({ ...EMPTY, documents: [{ bytes: 1, isText: false }] }, MODEL, {
        fixedTokens: 5,
        scaledTokens: 0,
        likelyTokens: 0,
        textTokens: 0,
      }),
    ).toBe(1_000_000);
  });

  it('uses counted tokens instead of bytes once texts and tools were counted, and leaves the rest unchanged', () => {
    const size = { ...EMPTY, textBytes: 4_000, toolBytes: 10, tokenIds: 5, messages: 1 };
    const count = { fixedTokens: 100, scaledTokens: 800, likelyTokens: 0, textTokens: 0 };
    expect(boundCountedTokens(size, MODEL, count)).toBe(FRAME + LIMITS.messageFramingTokens + 900 + 5);
  });

  it('is never higher by count than by bytes', () => {
    const count = { fixedTokens: 0, scaledTokens: 90, likelyTokens: 0, textTokens: 0 };
    expect(boundCountedTokens({ ...EMPTY, textBytes: 80 }, MODEL, count)).toBe(FRAME + 80);
  });

  it('adds what normalising could add, unless the tokenizer is known not to normalise', () => {
    const size = { ...EMPTY, textBytes: 3, normalizedExtraBytes: 30 };
    expect(boundInputTokens(size, MODEL)).toBe(FRAME + 33);
    expect(boundInputTokens(size, { ...MODEL, tokenizer: 'o200k_base' })).toBe(FRAME + 3);
  });

  it('is never below the estimate of the same text, and grows with every part', () => {
    fc.assert(
      fc.property(size, size, (one, other) => {
        const sum = Object.fromEntries(
          Object.entries(one).map(([key, tokens]) => [key, tokens + other[key as keyof typeof other]]),
        ) as unknown as PromptSize;
        const wide = { ...MODEL, contextWindow: Number.MAX_SAFE_INTEGER };
        expect(boundInputTokens(one, wide)).toBeGreaterThanOrEqual(estimateInputTokens(one));
        expect(boundInputTokens(sum, wide)).toBeGreaterThanOrEqual(boundInputTokens(one, wide));
      }),
    );
  });
});

describe('the bound on output tokens', () => {
  it('is the sum of the limits of all choices', () => {
    expect(boundOutputTokens(4_096, { choices: 1 })).toBe(4_096);
    expect(boundOutputTokens(100, { choices: 3 })).toBe(300);
  });

  it('throws if the bound is not a safe integer', () => {
    expect(() => boundOutputTokens(Number.MAX_SAFE_INTEGER, { choices: 2 })).toThrow(RangeError);
  });
});

describe('the estimate', () => {
  it('is one token per four bytes, rounded up, and zero for no bytes', () => {
    expect([0, 1, 4, 5].map(estimateTokens)).toEqual([0, 1, 1, 2]);
  });

  it('of an input adds text and tools, token ids one by one, and images at their usual size', () => {
    expect(estimateInputTokens({ ...EMPTY, textBytes: 6, toolBytes: 6, tokenIds: 2, messages: 9 })).toBe(5);
    expect(estimateInputTokens({ ...EMPTY, images: 2 })).toBe(1_530);
  });

  it('of a document grows with its size, between two pages and a hundred, and that of text has no limits', () => {
    const paged = (bytes: number) => ({ bytes, isText: false });
    const documents = [paged(100), paged(600_000), paged(50_000_000), { bytes: 4_001, isText: true }];
    expect(documents.map((one) => estimateInputTokens({ ...EMPTY, documents: [one] }))).toEqual([
      3_000, 20_000, 200_000, 1_001,
    ]);
    expect(estimateInputTokens({ ...EMPTY, documents })).toBe(224_001);
  });
});
