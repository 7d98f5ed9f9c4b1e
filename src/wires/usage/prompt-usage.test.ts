import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BILL } from '../../../test/chat-wire.ts';
import { ZERO_USAGE } from '../../canonical/usage.ts';
import { usageRule } from './inclusive-usage.ts';
import { promptUsageText, readPromptUsage, writePromptUsage } from './prompt-usage.ts';

const STANDARD = usageRule({});

describe('reads the usage', () => {
  test.each([
    [
      { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 },
      { freshTokens: 9, outputTokens: 4 },
    ],
    [
      { prompt_tokens: 0, completion_tokens: 0 },
      { freshTokens: 0, outputTokens: 0 },
    ],
    [
      { prompt_tokens: 9, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 1 } },
      { freshTokens: 3, cacheReadTokens: 5, cacheWriteTokens: 1 },
    ],
    [
      { prompt_tokens: 9, completion_tokens: 4, prompt_cache_hit_tokens: 5 },
      { freshTokens: 4, cacheReadTokens: 5 },
    ],
    [
      { prompt_tokens: 9, completion_tokens: 4, cached_tokens: 5 },
      { freshTokens: 4, cacheReadTokens: 5 },
    ],
    [
      { prompt_tokens: 9, completion_tokens: 4, cached_tokens: 5, prompt_tokens_details: { cached_tokens: 6 } },
      { freshTokens: 3, cacheReadTokens: 6 },
    ],
    [
      { prompt_tokens: 9, completion_tokens: 4, completion_tokens_details: { reasoning_tokens: 3 } },
      { outputTokens: 4, reasoningTokens: 3 },
    ],
  ])('%j', (raw, usage) => {
    expect(readPromptUsage(raw, STANDARD)).toEqual({ state: 'reported', usage: expect.objectContaining(usage) });
  });

  test.each([
    [undefined, { state: 'missing' }],
    [null, { state: 'missing' }],
    [7, { state: 'missing', defect: 'usage is not an object' }],
    [{ prompt_tokens: 9 }, { state: 'missing', defect: "the host's output tokens are not a valid count" }],
    [
      { prompt_tokens: 1e300, completion_tokens: 1 },
      { state: 'missing', defect: "the host's input tokens are not a valid count" },
    ],
  ])('%j is no usage', (raw, reading) => {
    expect(readPromptUsage(raw, STANDARD)).toEqual(reading);
  });
});

describe('writing', () => {
  const count = fc.nat(1_000_000);
  const buckets = fc.record({
    freshTokens: count,
    cacheReadTokens: count,
    cacheWriteTokens: count,
    cacheWrite1hTokens: fc.constant(0),
    outputTokens: count,
    reasoningTokens: fc.constant(0),
  });

  test('what was billed is read back as what was billed', () => {
    fc.assert(
      fc.property(buckets, (usage) => {
        expect(readPromptUsage(writePromptUsage(usage, null), STANDARD)).toEqual({ state: 'reported', usage });
      }),
    );
  });

  test('keeps the host’s details, never its bill', () => {
    const raw = {
      prompt_tokens: 1,
      cost: 5,
      cost_details: {},
      is_byok: true,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
      queue_time: 0.5,
    };
    expect(writePromptUsage({ ...ZERO_USAGE, freshTokens: 7, outputTokens: 3 }, raw)).toEqual({
      prompt_tokens: 7,
      completion_tokens: 3,
      total_tokens: 10,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0, cache_write_tokens: 0 },
      queue_time: 0.5,
    });
  });

  test('has both cache counts wherever it has details, and no null', () => {
    const raw = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13, completion_tokens_details: null };
    const billed = { ...ZERO_USAGE, freshTokens: 9, outputTokens: 4 };
    const counts = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };
    expect(writePromptUsage(billed, { ...raw, prompt_tokens_details: null })).toEqual(counts);
    expect(writePromptUsage(billed, { ...raw, prompt_tokens_details: { audio_tokens: 0 } })).toEqual({
      ...counts,
      prompt_tokens_details: { audio_tokens: 0, cached_tokens: 0, cache_write_tokens: 0 },
    });
    const cached = { ...billed, freshTokens: 5, cacheReadTokens: 4 };
    expect(writePromptUsage(cached, { ...raw, prompt_tokens_details: { cached_tokens: 4 } })).toEqual({
      ...counts,
      prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
    });
  });

  test('shows one-hour cache writes apart, within all cache writes', () => {
    const billed = { ...ZERO_USAGE, freshTokens: 1, cacheWriteTokens: 2, cacheWrite1hTokens: 3 };
    expect(writePromptUsage(billed, null)).toMatchObject({
      prompt_tokens: 6,
      prompt_tokens_details: { cache_write_tokens: 5, cache_write_1h_tokens: 3 },
    });
  });

  test('replaces a one-hour count of the host that was not billed', () => {
    const details = { cache_write_tokens: 5, cache_write_1h_tokens: 5 };
    const raw = { prompt_tokens: 5, completion_tokens: 0, total_tokens: 5, prompt_tokens_details: details };
    expect(writePromptUsage({ ...ZERO_USAGE, cacheWriteTokens: 5 }, raw)).toMatchObject({
      prompt_tokens_details: { cache_write_tokens: 5, cache_write_1h_tokens: 0 },
    });
  });

  test('says the cost to the last digit', () => {
    expect(promptUsageText(BILL, null)).toBe(
      '{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10,"cost":9007199.254740993,"cost_nanousd":9007199254740993}',
    );
  });
});
