import { expect, test } from 'vitest';
import { GatewayError } from '../canonical/errors.ts';
import { StreamSlots } from './stream-slots.ts';

function refusal(take: () => void): GatewayError {
  try {
    take();
  } catch (error) {
    if (error instanceof GatewayError) return error;
  }
  throw new Error('It was not refused.');
}

test('a key has so many slots, each free again when its stream has ended', () => {
  let refused = 0;
  const slots = new StreamSlots(2, () => refused++);
  slots.take(1n);
  slots.take(1n);
  slots.take(2n);
  const error = refusal(() => slots.take(1n));
  expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded', type: 'rate_limit_error', retryAfterS: 1 });
  expect(error.message).toContain('2 streams');
  expect(refused).toBe(1);
  slots.free(1n);
  slots.take(1n);
  refusal(() => slots.take(1n));
});

test('nothing is remembered of who has no stream', () => {
  const slots = new StreamSlots(64);
  for (let key = 0n; key < 100n; key++) slots.take(key);
  for (let key = 0n; key < 100n; key++) slots.free(key);
  expect(slots.keys).toBe(0);
});

test('who has no key, or no limit, is not counted', () => {
  const slots = new StreamSlots(1);
  slots.take(null);
  slots.take(null);
  slots.free(null);
  const open = new StreamSlots(null);
  open.take(1n);
  open.take(1n);
  open.free(1n);
  expect([slots.keys, open.keys]).toEqual([0, 0]);
});
