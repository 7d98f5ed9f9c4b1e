import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ZERO_USAGE } from '../../canonical/usage.ts';
import { mergeUsage, readUsage, writeFinalUsage, writeUsage } from './usage.ts';

test('buckets are disjoint as the host counts them', () => {
  const raw = {
    input_tokens: 10,
    cache_read_input_tokens: 20,
    cache_creation_input_tokens: 30,
    cache_creation: { ephemeral_5m_input_tokens: 18, ephemeral_1h_input_tokens: 12 },
    output_tokens: 40,
    output_tokens_details: { thinking_tokens: 5 },
  };
  expect(readUsage(raw)).toEqual({
    state: 'reported',
    usage: {
      freshTokens: 10,
      cacheReadTokens: 20,
      cacheWriteTokens: 18,
      cacheWrite1hTokens: 12,
      outputTokens: 40,
      reasoningTokens: 5,
    },
  });
});

test('without a breakdown, cache writes are of the usual lifetime; without a sum, the breakdown is the sum', () => {
  const plain = { input_tokens: 1, output_tokens: 1 };
  expect(readUsage({ ...plain, cache_creation_input_tokens: 9, cache_creation: null })).toMatchObject({
    usage: { cacheWriteTokens: 9, cacheWrite1hTokens: 0 },
  });
  const breakdown = { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 };
  expect(readUsage({ ...plain, cache_creation: breakdown })).toMatchObject({
    usage: { cacheWriteTokens: 3, cacheWrite1hTokens: 4 },
  });
});

describe('what nobody can bill is missing, with the reason', () => {
  test.each([
    { input_tokens: -1, output_tokens: 1 },
    { input_tokens: 1.5, output_tokens: 1 },
    { input_tokens: '1', output_tokens: 1 },
    { output_tokens: 1 },
    { input_tokens: 1, output_tokens: 2 ** 53 },
    { input_tokens: 1, output_tokens: 1, cache_read_input_tokens: Number.NaN },
    { input_tokens: 1, output_tokens: 1, cache_creation: { ephemeral_1h_input_tokens: -2 } },
    { input_tokens: 1, output_tokens: 1, output_tokens_details: { thinking_tokens: 'x' } },
    'many',
  ])('%j', (raw) => {
    expect(readUsage(raw)).toEqual({ state: 'missing', defect: expect.any(String) });
  });
});

test('no usage is missing, zero is zero, no output count is partial', () => {
  expect(readUsage(undefined)).toEqual({ state: 'missing' });
  expect(readUsage(null)).toEqual({ state: 'missing' });
  expect(readUsage({ input_tokens: 0, output_tokens: 0 })).toEqual({ state: 'reported', usage: ZERO_USAGE });
  expect(readUsage({ input_tokens: 3 })).toEqual({ state: 'partial', usage: { ...ZERO_USAGE, freshTokens: 3 } });
});

test('later counts replace earlier ones and are never added; null says nothing', () => {
  const merged = mergeUsage(
    { input_tokens: 702, output_tokens: 1 },
    { input_tokens: 1591, output_tokens: null, speed: 'standard' },
  );
  expect(merged).toEqual({ input_tokens: 1591, output_tokens: 1, speed: 'standard' });
});

const count = fc.oneof(fc.constant(0), fc.nat(2 ** 40));
const billed = fc
  .record({
    freshTokens: count,
    cacheReadTokens: count,
    cacheWriteTokens: count,
    cacheWrite1hTokens: count,
    outputTokens: count,
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .map(({ share, ...usage }) => ({ ...usage, reasoningTokens: Math.floor(usage.outputTokens * share) }));

test('what is written is what was billed: read again it gives the same buckets, whatever the host had said', () => {
  const host = fc.dictionary(
    fc.constantFrom('input_tokens', 'cache_creation', 'output_tokens_details', 'cost', 'service_tier'),
    fc.anything(),
  );
  fc.assert(
    fc.property(billed, host, (usage, raw) => {
      const expected = { state: 'reported', usage };
      expect(readUsage(JSON.parse(JSON.stringify(writeUsage(usage, raw))))).toEqual(expected);
      expect(readUsage(JSON.parse(JSON.stringify(writeFinalUsage(usage, raw))))).toEqual(expected);
    }),
  );
});

test('a service tier that the vendor has not published is not shown', () => {
  for (const write of [writeUsage, writeFinalUsage]) {
    expect(write(ZERO_USAGE, { service_tier: 'on_demand' })).toMatchObject({ service_tier: null });
  }
});

test('a host’s bill is never shown', () => {
  const raw = { cost: 1, cost_details: {}, is_byok: true, service_tier: 'standard' };
  for (const written of [writeUsage(ZERO_USAGE, raw), writeFinalUsage(ZERO_USAGE, raw)]) {
    expect(written).toMatchObject({ service_tier: 'standard' });
    expect(Object.keys(written).filter((name) => /cost|byok/.test(name))).toEqual([]);
  }
});
