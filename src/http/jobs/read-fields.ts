import { unknownName } from '../../canonical/unknown-name.ts';
import type { JobTerms } from '../../jobs/jobs.ts';
import { streamedJob } from '../../jobs/refusals.ts';
import { isCalendarDay } from '../../kit/calendar-day.ts';
import { LIMITS } from '../../limits.ts';
import { invalid } from '../field-errors.ts';

/** Members of a JSON object, or parameters of a query. */
export type Fields = Readonly<Record<string, unknown>>;

/** The terms of a job that are also those of a group. */
export const TERM_FIELDS = [
  'not_before',
  'expires_at',
  'result_ttl_seconds',
  'on_unknown',
  'webhook',
  'metadata',
] as const;

/** A misspelled field would be left out silently, so every unknown one is refused. */
export function refuseUnknown(fields: Fields, known: readonly string[], what: string): void {
  const unknown = Object.keys(fields).find((name) => !known.includes(name));
  if (unknown !== undefined) throw unknownName(unknown, `${what} has only ${known.join(', ')}.`);
}

export function asObject(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

export function readTerms(fields: Fields, nowMs: number): JobTerms {
  const notBeforeMs = readTime(fields, 'not_before');
  const expiresMs = readTime(fields, 'expires_at');
  const latestMs = nowMs + LIMITS.jobExpiryMaxMs;
  const days = LIMITS.jobExpiryMaxMs / 86_400_000;
  if (expiresMs !== null && expiresMs <= nowMs) throw invalid('expires_at', 'must be in the future');
  if (expiresMs !== null && expiresMs > latestMs) throw invalid('expires_at', `must be within ${days} days`);
  if (notBeforeMs !== null && notBeforeMs > latestMs) throw invalid('not_before', `must be within ${days} days`);
  if (notBeforeMs !== null && expiresMs !== null && notBeforeMs >= expiresMs)
    throw invalid('not_before', 'must be earlier than `expires_at`');
  return {
    notBeforeMs,
    expiresMs,
    resultTtlMs: readTtl(fields.result_ttl_seconds),
    onUnknown: readOnUnknown(fields.on_unknown),
    webhook: readWebhook(fields.webhook),
    metadata: readMetadata(fields.metadata),
  };
}

const RFC_3339 = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i;

function readTime(fields: Fields, param: string): number | null {
  const value = fields[param];
  if (value === undefined || value === null) return null;
  const [, date] = typeof value === 'string' ? (RFC_3339.exec(value) ?? []) : [];
  const ms = date === undefined || !isCalendarDay(date) ? Number.NaN : Date.parse(value as string);
  if (!Number.isNaN(ms)) return ms;
  throw invalid(param, 'must be a time in RFC 3339, like 2027-01-31T12:00:00Z');
}

function readTtl(value: unknown): number | null {
  if (value === undefined || value === null) return null;
  const secondsMax = LIMITS.jobResultMaxMs / 1000;
  if (Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= secondsMax)
    return (value as number) * 1000;
  throw invalid('result_ttl_seconds', `must be a whole number of seconds from 1 to ${secondsMax}`);
}

function readOnUnknown(value: unknown): JobTerms['onUnknown'] {
  if (value === undefined || value === null) return 'fail';
  if (value === 'fail' || value === 'retry') return value;
  throw invalid('on_unknown', 'must be "fail" or "retry"');
}

function readWebhook(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' && value !== '' && value.length <= LIMITS.webhookNameCharsMax) return value;
  throw invalid('webhook', "must be the name of one of the account's webhooks");
}

function readMetadata(value: unknown): Readonly<Record<string, string>> | null {
  if (value === undefined || value === null) return null;
  const metadata = asObject(value);
  if (metadata === null) throw invalid('metadata', 'must be an object whose values are strings');
  const entries = Object.entries(metadata);
  if (entries.length > LIMITS.jobMetadataMax)
    throw invalid('metadata', `must have at most ${LIMITS.jobMetadataMax} entries`);
  for (const [name, text] of entries) {
    if (name === '' || name.length > LIMITS.jobMetadataNameCharsMax || !isStorable(name))
      throw invalid('metadata', `must have names of 1 to ${LIMITS.jobMetadataNameCharsMax} characters`);
    if (typeof text !== 'string' || text.length > LIMITS.jobMetadataCharsMax || !isStorable(text))
      throw invalid('metadata', `must have strings of at most ${LIMITS.jobMetadataCharsMax} characters as values`);
  }
  return metadata as Readonly<Record<string, string>>;
}

export function readCustomId(value: unknown): string {
  if (typeof value === 'string' && value !== '' && value.length <= LIMITS.jobCustomIdCharsMax && isStorable(value))
    return value;
  throw invalid('custom_id', `must be a string of 1 to ${LIMITS.jobCustomIdCharsMax} characters`);
}

/** PostgreSQL stores no NUL and no half of a surrogate pair. */
function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** The fields of a call's body that a job does not allow. */
export function checkCallBody(value: unknown): void {
  const body = asObject(value);
  if (body === null) throw invalid('body', 'must be the JSON object that the endpoint takes');
  const { stream } = body;
  if (stream === undefined || stream === null || stream === false) return;
  throw streamedJob();
}
