import { unknownName } from '../canonical/unknown-name.ts';
import { isCalendarDay } from '../kit/calendar-day.ts';
import { parseId } from '../kit/ids.ts';
import { LIMITS } from '../limits.ts';
import { invalid } from './field-errors.ts';

/** One client class adds it to every request. */
const OF_CLIENTS = 'api-version';

/** Refuses unknown parameters: a misspelled filter would return what it should have left out. */
export function readQuery(query: string, parameters: readonly string[]): Map<string, string> {
  const given = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (name === OF_CLIENTS) continue;
    if (!parameters.includes(name)) {
      const remedy = parameters.length === 0 ? 'This route takes no parameters.' : `Use ${parameters.join(', ')}.`;
      throw unknownName(name, remedy, 'A query parameter');
    }
    if (given.has(name)) throw invalid(name, 'must be sent once');
    given.set(name, value);
  }
  return given;
}

const UNIX_SECONDS = /^\d{1,11}$/;
const RFC_3339 = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d))?$/i;

export function readTime(given: ReadonlyMap<string, string>, param: string): number | null {
  const text = given.get(param);
  if (text === undefined) return null;
  if (UNIX_SECONDS.test(text)) return Number(text) * 1000;
  const time = withPlus(text);
  const [, date] = RFC_3339.exec(time) ?? [];
  const ms = date === undefined || !isCalendarDay(date) ? Number.NaN : Date.parse(time);
  if (Number.isNaN(ms))
    throw invalid(param, 'must be a time in Unix seconds, or as 2027-01-31 or 2027-01-31T12:00:00Z');
  return ms;
}

/** A time as it was meant: a plus sign in a query stands for a space. */
export function withPlus(time: string): string {
  return time.replace(/ (?=\d\d:\d\d$)/, '+');
}

export function readText(given: ReadonlyMap<string, string>, param: string, charsMax: number): string | null {
  const text = given.get(param) ?? null;
  if (text !== null && (text === '' || text.length > charsMax))
    throw invalid(param, `must have 1 to ${charsMax} characters`);
  // PostgreSQL cannot compare a text with it.
  if (text?.includes('\0')) throw invalid(param, 'must not contain a NUL character');
  return text;
}

/** How many rows of a list are wanted. */
export function readLimit(given: ReadonlyMap<string, string>, usual: number): number {
  const text = given.get('limit') ?? String(usual);
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= LIMITS.storePageRowsMax) return limit;
  throw invalid('limit', `must be a whole number from 1 to ${LIMITS.storePageRowsMax}`);
}

/** The id that a page of a list begins after; null for the first page. */
export function readAfter(given: ReadonlyMap<string, string>, prefix: string, must: string): bigint | null {
  return readId(given, 'after', prefix, must);
}

export function readId(given: ReadonlyMap<string, string>, param: string, prefix: string, must: string): bigint | null {
  const text = given.get(param);
  const id = text === undefined ? null : parseId(prefix, text);
  if (text !== undefined && id === null) throw invalid(param, must);
  return id;
}
