import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inputTokens, type Usage, ZERO_USAGE } from '../../canonical/usage.ts';
import { usageRule } from '../usage/inclusive-usage.ts';
import { readPromptUsage, writePromptUsage } from '../usage/prompt-usage.ts';
import { findUsage } from './quirks.ts';

const read = (raw: unknown, readUsageRule?: string) => readPromptUsage(raw, usageRule({ readUsage: readUsageRule }));
const counted = (raw: unknown, rule?: string): Partial<Usage> => {
  const reading = read(raw, rule);
  if (reading.state !== 'reported') throw new Error(`The usage is ${reading.state}.`);
  return reading.usage;
};

const raw = (prompt: number, completion: number, more: object = {}) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  ...more,
});

describe('counts become disjoint buckets', () => {
  test('U1: the prompt includes what was read from and written to a cache', () => {
    const details = { cached_tokens: 60, cache_write_tokens: 25 };
    expect(counted(raw(100, 7, { prompt_tokens_details: details }))).toEqual({
      ...ZERO_USAGE,
      freshTokens: 15,
      cacheReadTokens: 60,
      cacheWriteTokens: 25,
      outputTokens: 7,
    });
    expect(counted(raw(9, 2, { prompt_cache_hit_tokens: 4 }))).toMatchObject({ freshTokens: 5, cacheReadTokens: 4 });
  });

  test('U2: reasoning is part of the completion', () => {
    const usage = raw(8, 377, { completion_tokens_details: { reasoning_tokens: 320 } });
    expect(counted(usage)).toMatchObject({ outputTokens: 377, reasoningTokens: 320 });
  });

  test('U2: but not if the total includes it again', () => {
    const usage = {
      prompt_tokens: 291,
      completion_tokens: 26,
      total_tokens: 513,
      completion_tokens_details: { reasoning_tokens: 196 },
    };
    expect(counted(usage)).toMatchObject({ freshTokens: 291, outputTokens: 222, reasoningTokens: 196 });
  });

  test('U3: reasoning that is reported nowhere is in the total, and billed', () => {
    const usage = { prompt_tokens: 35, completion_tokens: 12, total_tokens: 109 };
    expect(counted(usage)).toMatchObject({ outputTokens: 74, reasoningTokens: 62 });
    expect(counted(raw(35, 12))).toMatchObject({ outputTokens: 12, reasoningTokens: 0 });
    const told = { ...usage, completion_tokens_details: { reasoning_tokens: 62 } };
    expect(counted(told)).toMatchObject({ outputTokens: 74, reasoningTokens: 62 });
  });

  test('U4: more cached than prompt tokens means that the prompt count does not include them', () => {
    const usage = raw(10, 5, { prompt_tokens_details: { cached_tokens: 161 } });
    expect(counted(usage)).toMatchObject({ freshTokens: 10, cacheReadTokens: 161 });
    expect(counted(usage, 'cached_outside_prompt')).toMatchObject({ freshTokens: 10, cacheReadTokens: 161 });
    const fewer = raw(100, 5, { prompt_tokens_details: { cached_tokens: 61 } });
    expect(counted(fewer)).toMatchObject({ freshTokens: 39, cacheReadTokens: 61 });
    expect(counted(fewer, 'cached_outside_prompt')).toMatchObject({ freshTokens: 100, cacheReadTokens: 61 });
  });

  test('more reasoning than output is at most the output', () => {
    const usage = raw(43, 10, { completion_tokens_details: { reasoning_tokens: 11 } });
    expect(counted(usage)).toMatchObject({ outputTokens: 10, reasoningTokens: 10 });
  });

  test('zero is zero, and null details are none', () => {
    expect(counted(raw(0, 0))).toEqual(ZERO_USAGE);
    const nulls = {
      prompt_tokens_details: { cached_tokens: null },
      completion_tokens_details: null,
      total_tokens: null,
    };
    expect(counted({ ...raw(3, 2), ...nulls })).toEqual({ ...ZERO_USAGE, freshTokens: 3, outputTokens: 2 });
  });

  test('a name nobody knows counts as the wire does', () => {
    expect(counted(raw(3, 2), 'toString')).toEqual(counted(raw(3, 2)));
  });
});

describe('counts nobody can bill', () => {
  test.each([
    ['is missing', undefined, { state: 'missing' }],
    ['is null', null, { state: 'missing' }],
    ['is a number', 12, { state: 'missing', defect: expect.any(String) }],
    ['is a list', [], { state: 'missing', defect: expect.any(String) }],
    ['is empty', {}, { state: 'missing', defect: expect.any(String) }],
  ])('usage that %s', (_name, usage, reading) => {
    expect(read(usage)).toEqual(reading);
  });

  test.each([-1, 0.5, '12', null, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY, true, [1]])('%j', (count) => {
    const defect = { state: 'missing', defect: expect.stringContaining('not a valid count') };
    expect(read({ ...raw(3, 2), prompt_tokens: count })).toEqual(defect);
    expect(read({ ...raw(3, 2), completion_tokens: count })).toEqual(defect);
    if (count === null) return;
    expect(read({ ...raw(3, 2), total_tokens: count })).toEqual(defect);
    expect(read({ ...raw(3, 2), prompt_tokens_details: { cached_tokens: count } })).toEqual(defect);
    expect(read({ ...raw(3, 2), completion_tokens_details: { reasoning_tokens: count } })).toEqual(defect);
  });
});

test('usage is found in its own member first', () => {
  expect(findUsage({ usage: { a: 1 }, x_groq: { usage: { b: 2 } } }, true)).toEqual({ a: 1 });
  expect(findUsage({ usage: null, x_groq: { usage: { b: 2 } } }, true)).toEqual({ b: 2 });
  expect(findUsage({ x_groq: { id: 'req' } }, true)).toBeUndefined();
  expect(findUsage({ x_groq: 'req' }, true)).toBeUndefined();
});

describe('what the caller is told', () => {
  test('is what was billed, in the host’s own frame', () => {
    const usage = { ...ZERO_USAGE, freshTokens: 5, cacheReadTokens: 4, outputTokens: 3, reasoningTokens: 1 };
    const host = raw(1, 1, { prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 }, queue_time: 0.1 });
    expect(writePromptUsage(usage, host)).toEqual({
      prompt_tokens: 9,
      completion_tokens: 3,
      total_tokens: 12,
      prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0, cache_write_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 1 },
      queue_time: 0.1,
    });
  });

  test('has only the details that exist', () => {
    expect(writePromptUsage({ ...ZERO_USAGE, freshTokens: 5 }, null)).toEqual(raw(5, 0));
    const host = { prompt_tokens_details: { cached_tokens: 9, cache_write_tokens: 0 } };
    expect(writePromptUsage({ ...ZERO_USAGE, freshTokens: 5 }, host)).toEqual({
      ...raw(5, 0),
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    });
  });

  test('never has the host’s own bill', () => {
    const bill = { cost: 0.1, cost_details: {}, cost_in_usd_ticks: 7, estimated_cost: 1, is_byok: false };
    expect(writePromptUsage(ZERO_USAGE, { ...raw(0, 0), ...bill })).toEqual(raw(0, 0));
  });

  test('read again, it is what was billed', () => {
    const tokens = fc.integer({ min: 0, max: 1_000_000 });
    const billed = fc
      .record({
        fresh: tokens,
        read: tokens,
        written: tokens,
        output: tokens,
        share: fc.double({ min: 0, max: 1, noNaN: true }),
      })
      .map(({ fresh, read: cached, written, output, share }) => ({
        ...ZERO_USAGE,
        freshTokens: fresh,
        cacheReadTokens: cached,
        cacheWriteTokens: written,
        outputTokens: output,
        reasoningTokens: Math.floor(output * share),
      }));
    fc.assert(
      fc.property(billed, (usage) => {
        const told = writePromptUsage(usage, null);
        expect(counted(told)).toEqual(usage);
        expect(told.total_tokens).toBe(inputTokens(usage) + usage.outputTokens);
      }),
    );
  });
});
