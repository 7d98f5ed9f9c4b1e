import { buildJson } from './build.ts';

/** Node has these since version 21; TypeScript's library does not declare them yet. */
const { rawJSON, isRawJSON } = JSON as typeof JSON & {
  rawJSON(text: string): unknown;
  isRawJSON(value: unknown): boolean;
};

/** What a number that a double cannot hold looks like; strings may look so too, which only costs time. */
const LONG_NUMBER = /\d[\d.]{15}|\d[eE][+-]?\d{2}/;

/**
 * The value of valid JSON in which numbers that a double would change are kept as they were written: `JSON.stringify`
 * writes their digits again. Null if there is none, so that the parsed value is exact already.
 */
export function buildExact(bytes: Buffer, parseScalar: ParseScalar): { readonly value: unknown } | null {
  if (!LONG_NUMBER.test(bytes.toString('latin1'))) return null;
  return { value: buildJson(bytes, (json) => exactScalar(json, parseScalar(json))) };
}

type ParseScalar = Parameters<typeof buildJson>[1];

function exactScalar(json: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || JSON.stringify(value) === json) return value;
  return rawJSON(json);
}

/** Whether this is a number that was kept as it was written. */
export function isWrittenNumber(value: unknown): boolean {
  return isRawJSON(value);
}
