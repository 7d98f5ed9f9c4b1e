import { isWrittenNumber } from '../../json/json.ts';
import type { Adjustments } from '../adjustments.ts';
import { isObject, type Members } from './members.ts';
import { mustBe } from './request-errors.ts';
import { hasNoEffect, isEmpty } from './without-effect.ts';

/**
 * Names the members of a message, a part, a tool or an option that are not translated. Clients add many harmless ones,
 * often by sending back what they got, so none of them is refused. Values that ask for nothing are not named.
 */
export function noteOthers(
  holder: Readonly<Members>,
  path: string,
  known: ReadonlySet<string>,
  adjustments: Adjustments,
): void {
  for (const name of Object.keys(holder)) {
    if (!known.has(name) && !hasNoEffect(name, holder[name])) adjustments.note(`${path}.${name}`);
  }
}

const STREAM_OPTIONS: ReadonlySet<string> = new Set(['include_usage']);

export function noteStreamOptions({ stream_options: options }: Members, adjustments: Adjustments): void {
  if (isObject(options)) noteOthers(options, 'stream_options', STREAM_OPTIONS, adjustments);
}

/** A text that may be missing. A value of another type must not get lost. */
export function optionalText(value: unknown, path: string): string | null {
  if (typeof value === 'string') return value;
  if (isEmpty(value)) return null;
  throw mustBe(path, 'a string');
}

export function optionalFlag(value: unknown, path: string): boolean | null {
  if (typeof value === 'boolean') return value;
  if (isEmpty(value)) return null;
  throw mustBe(path, 'true or false');
}

/** An object, and not a number that was kept as it was written. */
export function isSchema(value: unknown): value is Members {
  return isObject(value) && !isWrittenNumber(value);
}

/** Some languages write an empty object as an empty list. */
export function optionalSchema(value: unknown, path: string): Members | null {
  if (isSchema(value)) return value;
  if (isEmpty(value)) return null;
  throw mustBe(path, 'a JSON schema');
}
