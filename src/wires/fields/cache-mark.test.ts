import { expect, test } from 'vitest';
import { readCacheMark, writeCacheMark } from './cache-mark.ts';

test.each([{ type: 'ephemeral' }, { type: 'ephemeral', ttl: '5m' }, { type: 'ephemeral', ttl: '1h' }])(
  '%j comes back as it was',
  (control) => {
    expect(writeCacheMark(readCacheMark(control).cache)).toEqual({ cache_control: control });
  },
);

test.each([undefined, null, 'ephemeral', []])('%j is no mark', (control) => {
  expect(readCacheMark(control)).toEqual({});
  expect(writeCacheMark(undefined)).toEqual({});
});

test('a lifetime nobody knows is left to the host', () => {
  expect(readCacheMark({ type: 'ephemeral', ttl: '2h' })).toEqual({ cache: { lifetime: null } });
});
