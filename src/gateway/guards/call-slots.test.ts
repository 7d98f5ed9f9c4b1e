import { expect, test } from 'vitest';
import { GatewayError } from '../../canonical/errors.ts';
import { CallSlots } from './call-slots.ts';

function of(keyId: bigint | null, accountId = 1n) {
  return { keyId, accountId };
}

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
  slots.take(of(1n), true);
  slots.take(of(1n), true);
  slots.take(of(1n), false);
  slots.take(of(2n), true);
  const error = refusal(() => slots.take(of(1n), true));
  expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded', type: 'rate_limit_error', retryAfterS: 1 });
  expect([error.param, error.message]).toEqual(['stream', expect.stringContaining('2 streams')]);
  expect(refused).toEqual(['streams']);
  slots.free(of(1n), true);
  slots.take(of(1n), true);
  refusal(() => slots.take(of(1n), true));
});

test('limits the calls of a key, streams included', () => {
  const refused: string[] = [];
  const slots = new CallSlots({ calls: 2, streams: 64 }, (what) => refused.push(what));
  slots.take(of(1n), true);
  slots.take(of(1n), false);
  const error = refusal(() => slots.take(of(1n), false));
  expect([error.status, error.param, error.message]).toEqual([429, null, expect.stringContaining('2 calls')]);
  expect(refused).toEqual(['calls']);
  slots.take(of(2n), false);
  slots.free(of(1n), true);
  slots.take(of(1n), false);
});

test('remembers no key without a running call', () => {
  const slots = new CallSlots({ calls: 64, streams: 64 });
  for (let key = 1n; key <= 100n; key++) slots.take(of(key), key % 2n === 0n);
  for (let key = 1n; key <= 100n; key++) slots.free(of(key), key % 2n === 0n);
  expect(slots.keys).toBe(0);
});

test('never refuses a call without a key or without a limit', () => {
  const slots = new CallSlots({ calls: 1, streams: 1 });
  slots.take(of(null), true);
  slots.take(of(null), true);
  slots.free(of(null), true);
  const open = new CallSlots({ calls: null, streams: null });
  for (let call = 0; call < 1000; call++) open.take(of(1n), true);
  expect([slots.keys, open.keys]).toEqual([0, 1]);
});

test('limits the calls and streams of all keys of an account together, if it is told to', () => {
  const slots = new CallSlots({ calls: 4, streams: 2, accountFactor: 2 });
  for (const key of [1n, 2n, 3n, 4n]) slots.take(of(key), true);
  const error = refusal(() => slots.take(of(5n), true));
  expect([error.status, error.message]).toEqual([429, expect.stringContaining('keys of this account together')]);
  expect(error.message).toContain('4 streams');
  for (const key of [5n, 6n, 7n, 8n]) slots.take(of(key), false);
  expect(refusal(() => slots.take(of(9n), false)).message).toContain('8 calls');
  slots.take(of(9n, 2n), true);
  slots.free(of(1n), true);
  slots.take(of(5n), true);
});

test('forgets an account without a running call, and takes nothing if it refuses', () => {
  const slots = new CallSlots({ calls: 1, streams: 1, accountFactor: 1 });
  slots.take(of(1n), false);
  refusal(() => slots.take(of(2n), false));
  expect(slots.keys).toBe(2);
  slots.free(of(1n), false);
  expect(slots.keys).toBe(0);
});
