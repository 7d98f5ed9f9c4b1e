import { expect, test, vi } from 'vitest';
import { dateOf, formatAgo, formatDay, formatDuration, formatFull, notAhead, timeZoneName } from './time-format.ts';

test.each([
  [null, '–'],
  [412, '412 ms'],
  [999.6, '1.0 s'],
  [1_240, '1.2 s'],
  [59_960, '1 min 0 s'],
  [119_700, '2 min 0 s'],
  [200_000, '3 min 20 s'],
  [3_599_400, '59 min 59 s'],
  [3_599_600, '1 h 0 min'],
  [7_500_000, '2 h 5 min'],
  [86_369_000, '23 h 59 min'],
  [86_371_000, '1 d 0 h'],
  [273_600_000, '3 d 4 h'],
])('writes %d milliseconds as %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test.each([
  [44, 'just now'],
  [45, '1 min ago'],
  [89, '1 min ago'],
  [90, '2 min ago'],
  [59.4 * 60, '59 min ago'],
  [59.6 * 60, '1 h ago'],
  [23.4 * 3_600, '23 h ago'],
  [23.6 * 3_600, '1 day ago'],
  [1.6 * 86_400, '2 days ago'],
  [6.9 * 86_400, '7 days ago'],
  [7 * 86_400, 'Dec 25, 1969'],
  [-59.6 * 60, 'in 1 h'],
  [-23.6 * 3_600, 'in 1 day'],
])('takes the next unit once a time is rounded to one of it: %d seconds ago is %s', (away, text) => {
  expect(formatAgo(-away, 0, 'UTC')).toBe(text);
});

test.each(['Pacific/Kiritimati', 'America/Los_Angeles'])(
  'leaves out the year of a day in UTC if it is this one in UTC, wherever the browser is: %s',
  (zone) => {
    const seconds = (text: string): number => Date.parse(text) / 1000;
    const [first, last] = [seconds('2026-01-01T00:00:00Z'), seconds('2026-12-31T23:59:59Z')];
    vi.stubEnv('TZ', zone);
    try {
      expect(formatDay(first, last, 'UTC')).toBe('Jan 1');
      expect(formatDay(last, first, 'UTC')).toBe('Dec 31');
      expect(formatDay(first - 1, first, 'UTC')).toBe('Dec 31, 2025');
      expect(formatDay(last + 1, last, 'UTC')).toBe('Jan 1, 2027');
    } finally {
      vi.unstubAllEnvs();
    }
  },
);

test.each([
  ['UTC', 'UTC'],
  ['Asia/Tokyo', 'UTC+9'],
  ['Asia/Kolkata', 'UTC+5:30'],
  ['Europe/Berlin', 'UTC+1/+2'],
  ['Europe/London', 'UTC+0/+1'],
  ['America/New_York', 'UTC-5/-4'],
])('names both offsets of a time zone in which clocks change, because a list has times of both: %s', (zone, name) => {
  expect(timeZoneName(zone)).toBe(name);
});

test('names the day of a time in UTC in UTC, although it is still the day before where the browser is', () => {
  vi.stubEnv('TZ', 'America/Los_Angeles');
  try {
    const [now, reset] = ['2026-11-17T12:00:00Z', '2026-12-01T00:00:00Z'].map((text) => Date.parse(text) / 1000);
    expect(formatAgo(reset!, now!, 'UTC')).toBe('Dec 1');
  } finally {
    vi.unstubAllEnvs();
  }
});

test('shows a time after the end of the calendar as its last one', () => {
  const late = 9_000_000_000_000;
  expect(dateOf(late).toISOString()).toBe('+275760-09-13T00:00:00.000Z');
  expect(formatAgo(late, 0, 'UTC')).toBe('Sep 13, 275760');
  expect(formatFull(late, 'UTC')).toBe('Sep 13, 275760, 00:00:00 UTC');
});

test.each([
  [100, 100],
  [140, 100],
  [170, 170],
  [60, 60],
])('something that happened at %d is shown as of %d if the page read its clock at 100', (at, shown) => {
  expect(notAhead(at, 100)).toBe(shown);
});
