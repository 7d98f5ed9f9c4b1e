import { randomBytes } from 'node:crypto';
import { isCalendarDay } from '../kit/calendar-day.ts';
import type { Clock } from '../kit/clock.ts';
import { counted } from '../kit/counted.ts';
import { formatId } from '../kit/ids.ts';
import { formatUsd, INT64_MAX, parseUsd } from '../money/nanousd.ts';
import { ACCOUNT_ROLES, type AccountRole, CAP_WINDOWS, type CapWindow, looksLikeKey } from '../operator/choices.ts';
import type { Options } from './command.ts';
import { usageFailure } from './failure.ts';

/** Exact dollars: `$5.25`, `-$0.000000001`. */
export function usd(nanousd: bigint | number): string {
  const text = formatUsd(BigInt(nanousd));
  return text.startsWith('-') ? `-$${text.slice(1)}` : `$${text}`;
}

export function usdOr(nanousd: bigint | null, otherwise: string): string {
  return nanousd === null ? otherwise : usd(nanousd);
}

/** What a Date can show. */
const SECONDS_MAX = 8_640_000_000_000;

/** UTC, to the second. */
export function time(seconds: number): string {
  return new Date(Math.min(seconds, SECONDS_MAX) * 1000).toISOString().slice(0, 19).replace('T', ' ');
}

export function timeOr(seconds: number | null, otherwise: string): string {
  return seconds === null ? otherwise : time(seconds);
}

/** Lost receipts that the ledger continues without. */
export function describeLoss(loss: { accepted: number; receipts: number; spent_nanousd: bigint | number }): string {
  return `${counted(loss.receipts, 'receipt')}, ${usd(loss.spent_nanousd)} of spending, accepted ${time(loss.accepted)}`;
}

const MOST = formatUsd(INT64_MAX);
const EITHER_SIGN = `between -$${MOST} and $${MOST}`;

/** Reads dollars as people type them; returns nanodollars as text. */
export function readUsd(text: string, what: string): string {
  const nanousd = parseUsd(text);
  if (nanousd !== null) return String(nanousd);
  if (/^-?\$?[0-9]+(\.[0-9]{1,9})?$/.test(text))
    throw usageFailure(`${what} must be ${text.startsWith('-') ? EITHER_SIGN : `at most $${MOST}`}, not "${text}".`);
  throw usageFailure(`${what} must be an amount in dollars with at most nine decimals, like 5 or 5.25, not "${text}".`);
}

export function readNanousd(text: string, what: string): string {
  if (/^-?[0-9]{1,19}$/.test(text) && !/^-0+$/.test(text)) return String(BigInt(text));
  throw usageFailure(`${what} must be a whole number of nanodollars, like 5250000000 for $5.25, not "${text}".`);
}

/** More than nothing, and no more than the ledger can hold. */
export function readPositive(nanousd: string, typed: string, flag: string, remedy = ''): string {
  if (BigInt(nanousd) > 0n && BigInt(nanousd) <= INT64_MAX) return nanousd;
  const range = `more than $0 and at most $${MOST}`;
  throw usageFailure(`${flag} must be ${range}, not "${typed}".${remedy}`);
}

/** The most a key may spend. */
export function readCap(nanousd: string, typed: string, flag: string): string {
  return readPositive(nanousd, typed, flag, ' To stop a key, revoke it.');
}

/** What an account is credited or debited. */
export function readChange(nanousd: string, what: string): string {
  const size = BigInt(nanousd.replace('-', ''));
  if (size > 0n && size <= INT64_MAX) return nanousd;
  throw usageFailure(`${what} must be ${EITHER_SIGN}, and not $0.`);
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

function readSpan(text: string): number | null {
  const [, count, unit = ''] = /^([0-9]{1,6})([smhdw])$/.exec(text) ?? [];
  return count === undefined ? null : Number(count) * (UNIT_SECONDS[unit] ?? 0);
}

/** Reads a duration like `1h` as seconds. */
export function readDuration(text: string, what: string, secondsMax: number): number {
  const span = readSpan(text);
  if (span === null) throw usageFailure(`${what} must be a duration like 30m, 12h or 7d, not "${text}".`);
  if (span <= secondsMax) return span;
  throw usageFailure(`${what} must be at most ${secondsMax / 86_400} days, not "${text}".`);
}

/** Reads a time as seconds since 1970: `2027-01-31` (UTC), a full timestamp, or a duration before or after now. */
export function readMoment(text: string, what: string, clock: Clock, direction: 'ago' | 'ahead'): number {
  const now = Math.floor(clock.nowMs() / 1000);
  const span = readSpan(text);
  const moment = span === null ? readTimestamp(text) : direction === 'ago' ? now - span : now + span;
  if (moment !== null && moment < 0) throw usageFailure(`${what} must not be before 1970, as "${text}" is.`);
  if (moment !== null) return moment;
  const forms = 'a date like 2027-01-31, a time like 2027-01-31T12:00Z, or a duration like 30d or 12h';
  throw usageFailure(`${what} must be ${forms}, not "${text}".`);
}

interface ExpiryTerms {
  readonly clock: Clock;
  readonly daysMax: number;
  /** What to do about a time that is too late. */
  readonly remedy: string;
}

/** When a key expires: later than now, and not later than it may. */
export function readExpiry(text: string, flag: string, { clock, daysMax, remedy }: ExpiryTerms): number {
  const moment = text === 'never' ? Number.POSITIVE_INFINITY : readMoment(text, flag, clock, 'ahead');
  const now = Math.floor(clock.nowMs() / 1000);
  if (moment <= now) throw usageFailure(`${flag} must be in the future, not "${text}".`);
  if (moment - now <= daysMax * 86_400) return moment;
  throw usageFailure(`${flag} must be within ${daysMax} days, not "${text}". ${remedy}`);
}

/** A time without a zone is UTC. Days that do not exist are refused, not rolled over. */
function readTimestamp(text: string): number | null {
  const [, date, time = '00:00', zone = 'Z'] =
    /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:\d{2})?)?$/.exec(
      text.toUpperCase(),
    ) ?? [];
  if (date === undefined || !isCalendarDay(date)) return null;
  const ms = Date.parse(`${date}T${time}${zone}`);
  return Number.isNaN(ms) ? null : Math.floor(ms / 1000);
}

export function readMonth(text: string, what: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text;
  throw usageFailure(`${what} must be a month like 2026-05, not "${text}".`);
}

export function readCount(text: string, what: string, max: number): number {
  const count = /^[0-9]{1,9}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= max) return count;
  throw usageFailure(`${what} must be a whole number from 1 to ${max}, not "${text}".`);
}

export function readList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Chosen before a request is sent, so that it can be repeated safely if the answer is lost. */
export function newReference(prefix: string): string {
  return formatId(prefix, randomBytes(8).readBigUInt64LE() >> 1n);
}

export function textOption(options: Options, name: string, charsMax: number): string | null {
  const text = options[name];
  if (typeof text !== 'string') return null;
  if (text.length > charsMax) throw usageFailure(`--${name} must be at most ${charsMax} characters long.`);
  return text;
}

/** The name of a variable that holds a key. A key that somebody has typed instead is not repeated, and goes into no file. */
export function readVariableName(typed: string, flag: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(typed) && !looksLikeKey(typed)) return typed;
  throw usageFailure(
    `${flag} must be the name of an environment variable, like TOLLGATE_API_KEY, and not the key itself.`,
  );
}

/** One of a few words. */
export function readChoice<Choice extends string>(typed: string, flag: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((each) => each === typed);
  if (choice !== undefined) return choice;
  throw usageFailure(`${flag} must be one of ${choices.join(', ')}, not "${typed}".`);
}

/** A role in an account; null if none was named. */
export function readRole(typed: string | boolean | undefined): AccountRole | null {
  return typeof typed === 'string' ? readChoice(typed, '--role', ACCOUNT_ROLES) : null;
}

/** Nanodollars as text; null for `none`, undefined if neither option is given. */
export function readCapOption({ cap, capNanousd }: Options): string | null | undefined {
  if (cap !== undefined && capNanousd !== undefined) throw usageFailure('Give --cap or --cap-nanousd, not both.');
  if (cap === 'none' || capNanousd === 'none') return null;
  if (typeof cap === 'string') return readCap(readUsd(cap, '--cap'), cap, '--cap');
  if (typeof capNanousd !== 'string') return undefined;
  return readCap(readNanousd(capNanousd, '--cap-nanousd'), capNanousd, '--cap-nanousd');
}

export function readWindow(text: string): CapWindow {
  return readChoice(text, '--window', CAP_WINDOWS);
}
