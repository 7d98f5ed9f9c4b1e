import { expect, test } from 'vitest';
import { GatewayError } from '../../canonical/errors.ts';
import { CallSlots } from './call-slots.ts';

function refusal(take: () => void): GatewayError {
  try {
    take();
  } catch (error) {
    if (error instanceof GatewayError) return error;
  }
  throw new Error('It was not refused.');
}

test('limits the streams of a key, and frees a slot when its stream ends', () => {
  const refused: string[] = [];
  const slots = new CallSlots({ calls: null, streams: 2 }, (what) => refused.push(what));
  slots.take(1n, true);
  slots.take(1n, true);
  slots.take(1n, false);
  slots.take(2n, true);
  const error = refusal(() => slots.take(1n, true));
  expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded', type: 'rate_limit_error', retryAfterS: 1 });
  expect([error.param, error.message]).toEqual(['stream', expect.stringContaining('2 streams')]);
  expect(refused).toEqual(['streams']);
  slots.free(1n, true);
  slots.take(1n, true);
  refusal(() => slots.take(1n, true));
});

test('limits the calls of a key, streams included', () => {
  const refused: string[] = [];
  const slots = new CallSlots({ calls: 2, streams: 64 }, (what) => refused.push(what));
  slots.take(1n, true);
  slots.take(1n, false);
  const error = refusal(() => slots.take(1n, false));
  expect([error.status, error.param, error.message]).toEqual([429, null, expect.stringContaining('2 calls')]);
  expect(refused).toEqual(['calls']);
  slots.take(2n, false);
  slots.free(1n, true);
  slots.take(1n, false);
});

test('remembers no key without a running call', () => {
  const slots = new CallSlots({ calls: 64, streams: 64 });
  for (let key = 0n; key < 100n; key++) slots.take(key, key % 2n === 0n);
  for (let key = 0n; key < 100n; key++) slots.free(key, key % 2n === 0n);
  expect(slots.keys).toBe(0);
});

test('never refuses a call without a key or without a limit', () => {
  const slots = new CallSlots({ calls: 1, streams: 1 });
  slots.take(null, true);
  slots.take(null, true);
  slots.free(null, true);
  const open = new CallSlots({ calls: null, streams: null });
  for (let call = 0; call < 1000; call++) open.take(1n, true);
  expect([slots.keys, open.keys]).toEqual([0, 1]);
});
