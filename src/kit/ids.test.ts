import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from './clock.ts';
import { checksum6, formatId, IdSource, idFloorAt, idTimeMs, parseId, randomBase62 } from './ids.ts';

const NOW_MS = Date.UTC(2026, 10, 15);
const ids = fc.bigInt({ min: 0n, max: (1n << 63n) - 1n });

describe('IdSource', () => {
  it('encodes the time and the instance in an id', () => {
    const id = new IdSource(new ManualClock(NOW_MS), 1023).next();
    expect(idTimeMs(id)).toBe(NOW_MS);
    expect((id >> 12n) & 1023n).toBe(1023n);
    expect(id & 4095n).toBe(0n);
    expect(id < 1n << 63n).toBe(true);
  });

  it('makes ids that always increase, whatever the clock does', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 1, max: 9000 })), { maxLength: 8 }),
        (steps) => {
          const clock = new ManualClock(NOW_MS);
          const source = new IdSource(clock, 7);
          let last = source.next();
          for (const [stepMs, count] of steps) {
            clock.setNowMs(clock.nowMs() + stepMs);
            for (let made = 0; made < count; made++) {
              const id = source.next();
              if (id <= last) expect(id).toBeGreaterThan(last);
              last = id;
            }
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  it('uses the next millisecond instead of waiting when one is full', () => {
    const source = new IdSource(new ManualClock(NOW_MS), 0);
    const made = Array.from({ length: 4097 }, () => source.next());
    expect(idTimeMs(made[4095]!)).toBe(NOW_MS);
    expect(idTimeMs(made[4096]!)).toBe(NOW_MS + 1);
    expect(new Set(made).size).toBe(4097);
  });

  it('follows the clock again once it has caught up', () => {
    const clock = new ManualClock(NOW_MS);
    const source = new IdSource(clock, 0);
    for (let made = 0; made < 5000; made++) source.next();
    clock.advance(10);
    expect(source.next()).toBe(idFloorAt(NOW_MS + 10));
  });

  it('continues above a given id, and says how far that is ahead of the clock', () => {
    const clock = new ManualClock(NOW_MS);
    const source = new IdSource(clock, 3);
    expect(source.aheadMs).toBe(0);
    const stored = new IdSource(new ManualClock(NOW_MS + 5_000), 1023).next();
    source.continueAbove(stored);
    expect(source.next()).toBeGreaterThan(stored);
    expect(source.aheadMs).toBe(5_001);
    source.continueAbove(idFloorAt(NOW_MS));
    expect(source.next()).toBeGreaterThan(stored);
    clock.advance(10_000);
    expect(idTimeMs(source.next())).toBe(NOW_MS + 10_000);
    expect(source.aheadMs).toBe(0);
  });

  it('accepts fractions of milliseconds, and times before the epoch, and never makes the id 0', () => {
    expect(idTimeMs(new IdSource(new ManualClock(NOW_MS + 0.7), 0).next())).toBe(NOW_MS);
    const early = new IdSource(new ManualClock(0), 0);
    const first = early.next();
    expect(first).toBeGreaterThan(0n);
    expect(early.next()).toBeGreaterThan(first);
  });

  it.each([-1, 1024, 1.5, Number.NaN])('refuses %d as an instance', (instance) => {
    expect(() => new IdSource(new ManualClock(NOW_MS), instance)).toThrow(RangeError);
  });
});

describe('idFloorAt', () => {
  it('returns the smallest id of a millisecond', () => {
    const first = new IdSource(new ManualClock(NOW_MS), 0).next();
    expect(idFloorAt(NOW_MS)).toBe(first);
    expect(idFloorAt(NOW_MS - 1)).toBeLessThan(first);
    expect(idFloorAt(0)).toBe(0n);
    expect(idTimeMs(idFloorAt(NOW_MS))).toBe(NOW_MS);
  });
});

describe('formatId and parseId', () => {
  it('reverse each other', () => {
    fc.assert(
      fc.property(ids, (id) => {
        const text = formatId('req_', id);
        expect(text).toMatch(/^req_[0-7][0-9a-hjkmnp-tv-z]{12}$/);
        expect(parseId('req_', text)).toBe(id);
      }),
      { numRuns: 2000 },
    );
    expect(formatId('', 0n)).toBe('0000000000000');
    expect(formatId('', (1n << 63n) - 1n)).toBe('7zzzzzzzzzzzz');
  });

  it('keep the order of ids', () => {
    fc.assert(
      fc.property(ids, ids, (left, right) => {
        expect(formatId('', left) < formatId('', right)).toBe(left < right);
      }),
      { numRuns: 2000 },
    );
  });

  it('refuse a number that does not fit in 63 bits', () => {
    expect(() => formatId('', -1n)).toThrow(RangeError);
    expect(() => formatId('', 1n << 63n)).toThrow(RangeError);
  });

  it.each([
    '',
    'req_',
    'key_0000000000000',
    'req_000000000000',
    'req_00000000000000',
    'req_000000000000O',
    'req_000000000000A',
    'req_000000000000l',
    'req_8000000000000',
    'req_00000000000é0',
    ' req_000000000000',
  ])('refuse the spelling %j', (text) => {
    expect(parseId('req_', text)).toBeNull();
  });
});

describe('randomBase62', () => {
  it('has the requested length and uses all base62 characters about equally often', () => {
    expect(randomBase62(0)).toBe('');
    expect(randomBase62(1)).toHaveLength(1);
    const text = randomBase62(62_000);
    expect(text).toMatch(/^[0-9A-Za-z]{62000}$/);
    const counts = new Map<string, number>();
    for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).toBe(62);
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(160);
  });
});

describe('checksum6', () => {
  it('is six characters that depend on every character of the text', () => {
    expect(checksum6('abc')).toMatch(/^[0-9A-Za-z]{6}$/);
    expect(checksum6('abc')).toBe(checksum6('abc'));
    expect(new Set(['abc', 'abd', 'acb', 'ab', ''].map(checksum6)).size).toBe(5);
  });
});
