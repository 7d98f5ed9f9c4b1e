import { refuseFlag } from '../test/read-flags.ts';

/** The value of a flag that counts something. */
export function readCount(text: string, name: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  return refuseFlag(`--${name} must be a whole number.`);
}
