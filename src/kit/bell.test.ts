import { expect, test } from 'vitest';
import { Bell } from './bell.ts';

const LONG_MS = 60_001;

test('a thread that read the bell before looking for work does not sleep through a later ring', () => {
  const bell = new Bell(new Int32Array(new SharedArrayBuffer(4)));
  const { rings } = bell;
  bell.ring();
  expect(bell.rings).not.toBe(rings);
  // Would last a minute, and the test would fail, if the ring were missed.
  bell.sleep(rings, LONG_MS);
});

test('a thread sleeps for no longer than it wants to', () => {
  const bell = new Bell(new Int32Array(new SharedArrayBuffer(4)));
  bell.sleep(bell.rings, 1);
  expect(bell.rings).toBe(0);
});
