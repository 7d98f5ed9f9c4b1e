import { expect, test } from 'vitest';
import { flood } from '../campaigns/sockets/flood.ts';
import { TRANSPORTS } from './transports.ts';

/** A short run of `npm run campaign:sockets`. */

test.each(TRANSPORTS)(
  'more connections than file descriptors: the gateway lives, calls are served and charged (%s transport)',
  async (transport) => {
    const figures = await flood({ descriptors: 256, sockets: 300, transport });
    expect(figures.streams).toEqual(Array.from({ length: 4 }, () => 'complete settled'));
    expect(new Set(figures.callsMeanwhile)).toEqual(new Set([200]));
    expect(figures.isAlive).toBe(true);
    expect(figures.spentNanousd).toBeGreaterThan(0);
    expect(figures.closed).toBeGreaterThanOrEqual(300 - 80);
  },
  120_000,
);

test('while calls run on every connection, others are closed at once, and no call ends early', async () => {
  // 32 connections: half of what is not reserved.
  const figures = await flood({ descriptors: 160, sockets: 60, streams: 32, transport: 'own' });
  expect(figures.streams).toEqual(Array.from({ length: 32 }, () => 'complete settled'));
  expect(new Set(figures.callsMeanwhile)).toEqual(new Set([0]));
  expect([figures.isAlive, figures.closed]).toEqual([true, 60]);
});
