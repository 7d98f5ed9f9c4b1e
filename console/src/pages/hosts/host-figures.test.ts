import { expect, test } from 'vitest';
import { type HostFigures, lostBy, paidFor, requestsThrough } from './host-figures.ts';

const UNKNOWN: HostFigures = { usage: new Map(), isUsageKnown: false, losses: new Map(), areLossesKnown: false };

test('what a host was paid and lost is unknown until the reports are there, and zero if they do not name it', () => {
  expect([paidFor(UNKNOWN, 'sim'), requestsThrough(UNKNOWN, 'sim'), lostBy(UNKNOWN, 'sim')]).toEqual([
    null,
    null,
    null,
  ]);
  const known = { ...UNKNOWN, isUsageKnown: true, areLossesKnown: true };
  expect([paidFor(known, 'sim'), requestsThrough(known, 'sim'), lostBy(known, 'sim')]).toEqual([0n, 0, 0n]);
});
