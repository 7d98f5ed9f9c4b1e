import { GatewayError } from '../canonical/errors.ts';
import { isCalendarDay } from '../kit/calendar-day.ts';

/** Refuses unknown parameters: a misspelled filter would return what it should have left out. */
export function readQuery(query: string, parameters: readonly string[]): Map<string, string> {
  const given = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (!parameters.includes(name)) {
      const param = /^[\w-]{1,64}$/.test(name) ? name : null;
      const what = param === null ? 'A query parameter' : `\`${param}\``;
      const remedy = parameters.length === 0 ? 'This route takes no parameters.' : `Use ${parameters.join(', ')}.`;
      const message = `${what} is unknown. ${remedy}`;
      throw new GatewayError('unsupported_parameter', { param, message });
    }
    if (given.has(name)) throw invalid(name, 'must be sent once');
    given.set(name, value);
  }
  return given;
}

export function invalid(param: string, must: string): GatewayError {
  return new GatewayError('invalid_value', { param, message: `\`${param}\` ${must}.` });
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
