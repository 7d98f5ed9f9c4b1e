import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';

/** As `toStrictEqual`, for comparisons that are made ten thousand times: it takes 50 µs each, also for what is the same. */
export function expectSame(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toStrictEqual(expected);
}
