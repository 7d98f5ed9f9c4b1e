import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterEach, expect, it } from 'vitest';
import { ManualClock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { TokenCounter } from './count-tokens.ts';

const clock = new ManualClock();
const counter = new TokenCounter(clock);

afterEach(() => counter.close());

it('counts texts exactly and sums them', async () => {
  const texts = ['Hello, world!', 'Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. 你好 👩‍👩‍👧', ''];
  const expected = texts.reduce((sum, text) => sum + countTokens(text), 0);
  expect(await counter.count('o200k_base', texts)).toEqual({ tokens: expected });
});

it('knows both encodings', async () => {
  expect(await counter.count('o200k_base', ['안녕하세요'])).toEqual({ tokens: 2 });
  expect(await counter.count('cl100k_base', ['안녕하세요'])).toEqual({ tokens: 5 });
});

it('counts the names of special tokens as plain text', async () => {
  const counted = await counter.count('o200k_base', ['<|endoftext|>']);
  expect(counted?.tokens).toBeGreaterThan(1);
});

it('returns null for a text with a piece that is too long to merge', async () => {
  const piece = LIMITS.tokenCountPieceCharsMax;
  expect(await counter.count('o200k_base', ['fine', 'a'.repeat(piece + 1)])).toBeNull();
  expect(await counter.count('o200k_base', ['fine', 'a'.repeat(piece)])).not.toBeNull();
});

it('returns null for more text than the limit, without starting a thread', async () => {
  const half = 'word '.repeat(LIMITS.tokenCountCharsMax / 10);
  expect(await counter.count('o200k_base', [half, half, '.'])).toBeNull();
  expect(clock.pendingTimers).toBe(0);
});

it('returns null at the timeout, and counts again with a new thread', async () => {
  const late = counter.count('o200k_base', ['late']);
  const alsoLate = counter.count('o200k_base', ['also late']);
  clock.advance(LIMITS.tokenCountMs);
  expect(await Promise.all([late, alsoLate])).toEqual([null, null]);
  expect(await counter.count('o200k_base', ['Hello'])).toEqual({ tokens: 1 });
});

it('returns null at once when too many are waiting, and still counts those', async () => {
  const waiting = Array.from({ length: LIMITS.tokenCountsPendingMax }, () => counter.count('o200k_base', ['Hello']));
  expect(await counter.count('o200k_base', ['Hello'])).toBeNull();
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => ({ tokens: 1 })));
});

it('returns null for waiting counts when it is closed', async () => {
  const waiting = counter.count('o200k_base', ['Hello']);
  await counter.close();
  expect(await waiting).toBeNull();
});

it('ends its thread when idle, leaves no timer behind, and starts again', async () => {
  expect(await counter.count('o200k_base', ['Hello'])).toEqual({ tokens: 1 });
  expect(clock.pendingTimers).toBe(1);
  clock.advance(LIMITS.tokenCounterIdleMs);
  expect(clock.pendingTimers).toBe(0);
  expect(await counter.count('o200k_base', ['Hello'])).toEqual({ tokens: 1 });
});
