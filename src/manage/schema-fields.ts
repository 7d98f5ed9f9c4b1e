import { z } from 'zod';
import { CAP_WINDOWS } from '../operator/choices.ts';
import type { ListView } from '../operator/view.ts';

/** An amount. JSON has it as an integer with all its digits. */
export const nanousd = z.bigint().describe('Nanodollars: 1,000,000,000 are one US dollar.');
export const seconds = z.int().describe('Seconds since 1970.');

/** Schemas whose values are moments. Those made from them by `describe` are found as well. */
export const MOMENTS = z.registry<{ unit: 'seconds' }>().add(seconds, { unit: 'seconds' });

export const count = z.int().nonnegative();
export const capWindow = z.enum(CAP_WINDOWS).describe('When the spend cap resets.');

/** An id as people see it: a prefix that says what it names, and 13 characters. */
export function id(prefix: string) {
  return z.string().regex(new RegExp(`^${prefix}[0-9a-hjkmnp-tv-z]{13}$`));
}

/** A page of rows. */
export function listOf<Row extends z.ZodType>(row: Row) {
  return z.object({
    object: z.literal('list'),
    data: z.array(row).readonly(),
    next: z.string().nullable().describe('Send it as `after` to get the next page; null at the end.'),
  });
}

export function exampleList<Row>(...data: readonly Row[]): ListView<Row> {
  return { object: 'list', data, next: null };
}

/** Ids for examples. Tests replace them with ids of what they created. */
export const EXAMPLE_IDS = {
  account: 'acct_0k7q2x9mz4r1c',
  key: 'key_0k7q2xb3n5s2d',
  receipt: 'req_0k7q2xd8p6t3e',
  person: 'person_0k7q2xf1q7v4g',
  invitation: 'inv_0k7q2xh4r8w5h',
  session: 'session_0k7q2xj9s9x6j',
  management_key: 'mkey_0k7q2xm2t0y7k',
  audit: 'audit_0k7q2xp7v1z8m',
  event: 'evt_0k7q2xr5w2a9n',
  alert: 'alert_0k7q2xv0y4c1q',
  job: 'job_0k7q2xw6z5d2r',
  job_group: 'grp_0k7q2xx9a6e3s',
} as const;

/** What follows the `#` of a link. */
export const EXAMPLE_SECRET = 'Zm9vYmFyLi4u';

export const EXAMPLE_TIME = 1_790_000_000;

/** A time as jobs have it. */
export const timestamp = z.iso.datetime().describe('RFC 3339, in UTC.');
