import type { IncomingHttpHeaders } from 'node:http';

/** Retry-After in milliseconds: from seconds, a date, or the header in milliseconds that some hosts add; null if absent. */
export function readRetryAfterMs(headers: IncomingHttpHeaders, nowMs: number): number | null {
  const exact = wholeNumber(headers['retry-after-ms']);
  if (exact !== null) return exact;
  const text = headers['retry-after'];
  const seconds = wholeNumber(text);
  if (seconds !== null) return seconds * 1000;
  const date = typeof text === 'string' && /\bGMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}

function wholeNumber(text: string | string[] | undefined): number | null {
  return typeof text === 'string' && /^\d{1,9}(?:\.\d{1,6})?$/.test(text) ? Math.ceil(Number(text)) : null;
}
