import type { CapWindow } from './cap-window.ts';

/** A spend cap's window in UTC; weeks begin on Monday, a lifetime begins in 1970 and never ends. */
export interface WindowSpan {
  readonly startMs: number;
  readonly resetsMs: number | null;
}

const DAY_MS = 86_400_000;
/** 1970-01-01 was a Thursday: three days after a Monday. */
const EPOCH_WEEKDAY = 3;

export function startOfDayMs(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS;
}

/** The window of that kind that contains the given time. */
export function windowSpan(window: CapWindow, ms: number): WindowSpan {
  const day = Math.floor(ms / DAY_MS);
  if (window === 'lifetime') return { startMs: 0, resetsMs: null };
  if (window === 'day') return days(day, day + 1);
  if (window === 'week') {
    const monday = day - ((((day + EPOCH_WEEKDAY) % 7) + 7) % 7);
    return days(monday, monday + 7);
  }
  const month = monthOfDay(day);
  return days(firstDayOfMonth(month), firstDayOfMonth(month + 1));
}

/** Start of the month that contains the given time; closing entries are stored by month. */
export function startOfMonthMs(ms: number): number {
  return windowSpan('month', ms).startMs;
}

function days(first: number, next: number): WindowSpan {
  return { startMs: first * DAY_MS, resetsMs: next * DAY_MS };
}

/** Months since year 0, counted in years that begin in March, so that a leap day comes last. */
function monthOfDay(day: number): number {
  const shifted = day + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  return (yearOfEra + era * 400) * 12 + marchMonth + 2;
}

function firstDayOfMonth(month: number): number {
  const marchYear = Math.floor((month - 2) / 12);
  const marchMonth = month - 2 - marchYear * 12;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * marchMonth + 2) / 5);
  return (
    era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468
  );
}
