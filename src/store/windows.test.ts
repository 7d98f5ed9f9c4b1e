import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { startOfDayMs, startOfMonthMs, windowSpan } from './windows.ts';

/** The platform's calendar, as an independent check. */
function byDate(ms: number) {
  const at = new Date(ms);
  const [year, month, date] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  const sinceMonday = (at.getUTCDay() + 6) % 7;
  return {
    day: { startMs: Date.UTC(year, month, date), resetsMs: Date.UTC(year, month, date + 1) },
    week: {
      startMs: Date.UTC(year, month, date - sinceMonday),
      resetsMs: Date.UTC(year, month, date - sinceMonday + 7),
    },
    month: { startMs: Date.UTC(year, month, 1), resetsMs: Date.UTC(year, month + 1, 1) },
  };
}

describe('cap windows', () => {
  it('agree with the platform calendar for every day of 1970 to 2170', () => {
    const differing: string[] = [];
    for (let ms = 0; ms < Date.UTC(2170, 0, 1); ms += 86_400_000) {
      const expected = byDate(ms);
      for (const window of ['week', 'month'] as const) {
        const { startMs, resetsMs } = windowSpan(window, ms);
        if (startMs !== expected[window].startMs || resetsMs !== expected[window].resetsMs) {
          differing.push(`${window} ${new Date(ms).toISOString()}`);
        }
      }
    }
    expect(differing).toEqual([]);
  });

  it('agree with the platform calendar at any millisecond', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Date.UTC(2400, 0, 1) }), (ms) => {
        const expected = byDate(ms);
        expect(windowSpan('day', ms)).toEqual(expected.day);
        expect(windowSpan('week', ms)).toEqual(expected.week);
        expect(windowSpan('month', ms)).toEqual(expected.month);
        expect(startOfDayMs(ms)).toBe(expected.day.startMs);
        expect(startOfMonthMs(ms)).toBe(expected.month.startMs);
      }),
    );
  });

  it('never end for a lifetime', () => {
    expect(windowSpan('lifetime', Date.UTC(2026, 5, 1))).toEqual({ startMs: 0, resetsMs: null });
  });
});
