import { isObject } from './members.ts';
import { mustBe } from './request-errors.ts';

/** Checks only the type; the host checks the value. */
export interface FieldCheck {
  readonly says: string;
  readonly holds: (value: unknown) => boolean;
}

export const aNumber: FieldCheck = { says: 'a number', holds: Number.isFinite };
export const anInteger: FieldCheck = { says: 'an integer', holds: Number.isInteger };
export const aBoolean: FieldCheck = { says: 'true or false', holds: (value) => typeof value === 'boolean' };
export const aString: FieldCheck = { says: 'a string', holds: (value) => typeof value === 'string' };
export const anObject: FieldCheck = { says: 'an object', holds: isObject };
export const aList: FieldCheck = { says: 'a list', holds: Array.isArray };
export const aStringOrObject: FieldCheck = {
  says: 'a string or an object',
  holds: (value) => typeof value === 'string' || isObject(value),
};
export const aStringOrStrings: FieldCheck = {
  says: 'a string or a list of strings',
  holds: (value) =>
    typeof value === 'string' || (Array.isArray(value) && value.every((one) => typeof one === 'string')),
};
/** Checked elsewhere, or by the host. */
export const anything: FieldCheck = { says: 'anything', holds: () => true };

export function checkField(param: string, value: unknown, check: FieldCheck): void {
  if (!check.holds(value)) throw mustBe(param, check.says);
}

export function readString(value: unknown, path: string): string {
  if (typeof value !== 'string') throw mustBe(path, 'a string');
  return value;
}
