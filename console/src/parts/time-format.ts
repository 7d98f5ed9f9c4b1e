const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** What a Date can show. */
const SECONDS_MAX = 8_640_000_000_000;

/** A later time than a Date can show is shown as its last one: an error would replace the whole page. */
export function dateOf(seconds: number): Date {
  return new Date(Math.min(seconds, SECONDS_MAX) * 1000);
}

/** A past moment is never shown as ahead: a page reads its clock only now and then, and clocks differ. */
export function notAhead(seconds: number, nowSeconds: number): number {
  return seconds > nowSeconds && seconds - nowSeconds < MINUTE ? nowSeconds : seconds;
}

/** `in 4 h`, `3 min ago`, or the day when it is further away. */
export function formatAgo(seconds: number, nowSeconds: number, timeZone?: 'UTC'): string {
  const away = Math.abs(nowSeconds - seconds);
  if (away < 45) return seconds > nowSeconds ? 'in a moment' : 'just now';
  if (away >= 7 * DAY) return formatDay(seconds, nowSeconds, timeZone);
  const text = nearest(away);
  return seconds > nowSeconds ? `in ${text}` : `${text} ago`;
}

type Rounded = [number, number, number];

/** Rounded before the unit is chosen: 59.6 minutes are an hour, not 60 minutes. */
function nearest(away: number): string {
  const [minutes, hours, days] = [MINUTE, HOUR, DAY].map((unit) => Math.round(away / unit)) as Rounded;
  if (minutes < 60) return `${minutes} min`;
  if (hours < 24) return `${hours} h`;
  return days === 1 ? '1 day' : `${days} days`;
}

/** `Nov 15`, with the year unless it is this one. */
export function formatDay(seconds: number, nowSeconds: number, timeZone?: 'UTC'): string {
  const yearOf = (at: number): number => {
    const date = dateOf(at);
    return timeZone === 'UTC' ? date.getUTCFullYear() : date.getFullYear();
  };
  const isThisYear = yearOf(seconds) === yearOf(nowSeconds);
  return format(isThisYear ? 'day' : 'dayAndYear', seconds, timeZone);
}

/** `19:41:07`. */
export function formatClock(seconds: number): string {
  return format('clock', seconds);
}

/** `Nov 15, 2026, 19:41:07 GMT+1`. */
export function formatFull(seconds: number, timeZone?: 'UTC'): string {
  return format('full', seconds, timeZone);
}

/** `412 ms`, `1.2 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function formatDuration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–';
  if (Math.round(ms) < 1_000) return `${Math.round(ms)} ms`;
  if (Math.round(ms / 100) < 600) return `${(ms / 1_000).toFixed(1)} s`;
  const [seconds, minutes, hours] = [1, MINUTE, HOUR].map((unit) => Math.round(ms / 1_000 / unit)) as Rounded;
  if (seconds < HOUR) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** `UTC+1`, or `UTC+1/+2` where clocks change during the year: a list may have times of both. */
export function timeZoneName(timeZone?: string): string {
  const zone = timeZone === undefined ? {} : { timeZone };
  const formatter = new Intl.DateTimeFormat('en', { timeZoneName: 'shortOffset', ...zone });
  const year = new Date().getFullYear();
  const offsets = Array.from({ length: 12 }, (_, month) => {
    const parts = formatter.formatToParts(Date.UTC(year, month, 15));
    return parts.find(({ type }) => type === 'timeZoneName')?.value.replace('GMT', '') || '+0';
  });
  const name = `UTC${[...new Set(offsets)].join('/')}`;
  return name === 'UTC+0' ? 'UTC' : name;
}

const DAY_FORMAT = { month: 'short', day: 'numeric' } as const;
const CLOCK_FORMAT = { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false } as const;
const FORMATS = {
  day: DAY_FORMAT,
  dayAndYear: { ...DAY_FORMAT, year: 'numeric' },
  clock: CLOCK_FORMAT,
  full: { ...DAY_FORMAT, year: 'numeric', ...CLOCK_FORMAT, timeZoneName: 'short' },
} as const satisfies Readonly<Record<string, Intl.DateTimeFormatOptions>>;

/** Each takes longer to make than a row of a table, so they are kept. */
const formatters = new Map<string, Intl.DateTimeFormat>();

/** The page is in English, so dates are too; the browser decides only the time zone. */
function format(name: keyof typeof FORMATS, seconds: number, timeZone?: 'UTC'): string {
  const key = `${name} ${timeZone ?? ''}`;
  let formatter = formatters.get(key);
  if (formatter === undefined) {
    const zone = timeZone === undefined ? {} : { timeZone };
    formatter = new Intl.DateTimeFormat('en', { hourCycle: 'h23', ...FORMATS[name], ...zone });
    formatters.set(key, formatter);
  }
  return formatter.format(dateOf(seconds));
}
