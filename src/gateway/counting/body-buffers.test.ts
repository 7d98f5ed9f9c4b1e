import { beforeEach, expect, test } from 'vitest';
import { LIMITS } from '../../limits.ts';
import { BodyBuffers } from './body-buffers.ts';

const KB = 1024;
let buffers: BodyBuffers;

beforeEach(() => {
  buffers = new BodyBuffers();
});

test('copies a body to the beginning of a buffer', () => {
  const body = Buffer.from('a body').subarray(2);
  const buffer = buffers.copy(body);
  expect(Buffer.from(buffer, 0, body.length).toString()).toBe('body');
  expect(body.toString()).toBe('body');
});

test('uses a buffer again once it came back, also for the next turns of a conversation', () => {
  const first = buffers.copy(Buffer.alloc(100 * KB));
  expect(buffers.copy(Buffer.alloc(100 * KB))).not.toBe(first);
  buffers.giveBack(first);
  expect(buffers.copy(Buffer.alloc(120 * KB))).toBe(first);
});

test('takes the smallest buffer that is large enough, and a new one if none is', () => {
  const [small, large] = [100, 300].map((size) => buffers.copy(Buffer.alloc(size * KB)));
  buffers.giveBack(large!);
  buffers.giveBack(small!);
  expect(buffers.copy(Buffer.alloc(1))).toBe(small);
  expect(buffers.copy(Buffer.alloc(1))).toBe(large);
  buffers.giveBack(small!);
  expect(buffers.copy(Buffer.alloc(200 * KB)).byteLength).toBe(256 * KB);
});

test('keeps a few of the largest buffers, and none that is larger than the limit', () => {
  const largest = LIMITS.tokenCountSpareBytesMax;
  const taken = Array.from({ length: LIMITS.tokenCountSpareBuffersMax }, () => buffers.copy(Buffer.alloc(largest)));
  const small = buffers.copy(Buffer.alloc(1));
  const tooLarge = buffers.copy(Buffer.alloc(largest + 1));
  for (const buffer of [...taken, small, tooLarge]) buffers.giveBack(buffer);
  const again = [...taken, small].map(() => buffers.copy(Buffer.alloc(1)));
  expect(taken.every((buffer) => again.includes(buffer))).toBe(true);
  expect(again).not.toContain(small);
  expect(again).not.toContain(tooLarge);
});

test('keeps nothing when it is cleared', () => {
  const buffer = buffers.copy(Buffer.alloc(1));
  buffers.giveBack(buffer);
  buffers.clear();
  expect(buffers.copy(Buffer.alloc(1))).not.toBe(buffer);
});
