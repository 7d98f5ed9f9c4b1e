import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inputTokens, type Usage } from '../../canonical/usage.ts';
import { type InclusiveCounts, readCounts, usageRule } from './inclusive-usage.ts';

const COUNTS: InclusiveCounts = { input: 100, output: 50, total: 150, cached: 30, cacheWrite: 20, reasoning: 40 };

function usageOf(counts: Partial<InclusiveCounts>, readUsage?: string) {
  const reading = readCounts({ ...COUNTS, ...counts }, usageRule({ readUsage }));
  return reading.state === 'reported' ? reading.usage : reading;
}

describe('counts become disjoint buckets', () => {
  test('parts lie inside their wholes', () => {
    expect(usageOf({})).toEqual({
      freshTokens: 50,
      cacheReadTokens: 30,
      cacheWriteTokens: 20,
      cacheWrite1hTokens: 0,
      outputTokens: 50,
      reasoningTokens: 40,
    });
  });

  test('unless the counts prove otherwise', () => {
    expect(usageOf({ input: 10, cached: 161, cacheWrite: 0 })).toMatchObject({ freshTokens: 10, cacheReadTokens: 161 });
    expect(usageOf({ output: 5, reasoning: 7, total: 112 })).toMatchObject({ outputTokens: 12, reasoningTokens: 7 });
  });

  test('or the host’s row says so', () => {
    expect(usageOf({ output: 12, reasoning: 0, total: 174 })).toMatchObject({
      outputTokens: 74,
      reasoningTokens: 62,
    });
    expect(usageOf({ cacheWrite: 0 }, 'cached_outside_prompt')).toMatchObject({
      freshTokens: 100,
      cacheReadTokens: 30,
    });
  });

  test('two cache counts that fit into the input only one by one overlap, and the overlap is billed once, as read', () => {
    expect(usageOf({ input: 2168, output: 9, total: 2177, cached: 2161, cacheWrite: 2161, reasoning: 0 })).toEqual({
      freshTokens: 7,
      cacheReadTokens: 2161,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
      outputTokens: 9,
      reasoningTokens: 0,
    });
    expect(usageOf({ cached: 40, cacheWrite: 90 })).toMatchObject({
      freshTokens: 10,
      cacheReadTokens: 40,
      cacheWriteTokens: 50,
    });
  });

  test.each(['standard', 'cached_outside_prompt'])('%s never bills more input than the host reports', (rule) => {
    const count = fc.nat(300);
    fc.assert(
      fc.property(count, count, count, count, fc.option(count), (input, cached, cacheWrite, output, total) => {
        const usage = usageOf({ input, cached, cacheWrite, output, total, reasoning: 0 }, rule) as Usage;
        const readOutside = rule === 'cached_outside_prompt' || cached > input ? cached : 0;
        const writeOutside = cacheWrite > input ? cacheWrite : 0;
        expect(inputTokens(usage)).toBe(input + readOutside + writeOutside);
        for (const tokens of Object.values(usage)) expect(tokens).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  test('nothing is counted twice or lost, whatever a sensible host says', () => {
    const count = fc.nat(1_000_000);
    fc.assert(
      fc.property(count, count, count, count, count, (fresh, cached, cacheWrite, said, reasoning) => {
        const input = fresh + cached + cacheWrite;
        const output = said + reasoning;
        const usage = usageOf({ input, output, total: input + output, cached, cacheWrite, reasoning });
        expect(usage).toMatchObject({ freshTokens: fresh, outputTokens: output, reasoningTokens: reasoning });
        expect(inputTokens(usage as never)).toBe(input);
      }),
    );
  });
});

describe('counts nobody can bill are missing, and say why', () => {
  test.each([-1, 1.5, '7', null, undefined, Number.NaN, 2 ** 53])('%s', (input) => {
    const reading = readCounts({ ...COUNTS, input }, usageRule({}));
    expect(reading).toEqual({ state: 'missing', defect: "the host's input tokens are not a valid count" });
  });

  test('a missing total is no defect', () => {
    expect(readCounts({ ...COUNTS, total: null }, usageRule({})).state).toBe('reported');
  });
});
