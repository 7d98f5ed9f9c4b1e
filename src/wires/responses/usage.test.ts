import { expect, test } from 'vitest';
import { ZERO_USAGE } from '../../canonical/usage.ts';
import { writeUsage } from './usage.ts';

test('shows one-hour cache writes apart, within all cache writes', () => {
  const billed = { ...ZERO_USAGE, freshTokens: 1, cacheWriteTokens: 2, cacheWrite1hTokens: 3 };
  expect(writeUsage(billed, null)).toMatchObject({
    input_tokens: 6,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 5, cache_write_1h_tokens: 3 },
  });
});

test('removes a one-hour count of the host that was not billed, and keeps its other details', () => {
  const raw = { input_tokens_details: { cache_write_tokens: 5, cache_write_1h_tokens: 5, audio_tokens: 1 } };
  expect(writeUsage({ ...ZERO_USAGE, cacheWriteTokens: 5 }, raw).input_tokens_details).toEqual({
    cached_tokens: 0,
    cache_write_tokens: 5,
    audio_tokens: 1,
  });
});
