import { z } from 'zod';
import { ACCOUNT_PREFIX, KEY_PREFIX, REQUEST_PREFIX } from '../../canonical/id-prefixes.ts';
import type { EntryView } from '../../operator/entries.ts';
import { route, VIEWER } from '../route.ts';
import { count, EXAMPLE_IDS, EXAMPLE_TIME, exampleList, id, listOf, nanousd, seconds } from '../schema-fields.ts';

const entry = z
  .object({
    object: z.literal('entry'),
    id: z.string(),
    account: id(ACCOUNT_PREFIX),
    type: z.enum(['credit', 'refund', 'month', 'hold', 'reservation']),
    created: seconds.describe('Seconds since 1970; for a month, when it began.'),
    amount_nanousd: nanousd.describe(
      "What changed the balance: below zero for a month's calls, zero for a hold or a reservation.",
    ),
    held_nanousd: nanousd.nullable(),
    reserved_nanousd: nanousd.nullable().describe('For a job that waits to run.'),
    reference: z.string().nullable(),
    note: z.string().nullable(),
    receipt: id(REQUEST_PREFIX).nullable().describe('The receipt that was refunded, or that of the running call.'),
    key: id(KEY_PREFIX).nullable().describe('The key of the running call or the waiting job.'),
    receipts: count.nullable().describe('How many closed receipts a month has.'),
  })
  .meta({ id: 'Entry' });

const ENTRY: EntryView = {
  object: 'entry',
  id: 'credit_0k7q2xr5w2a9n',
  account: EXAMPLE_IDS.account,
  type: 'credit',
  created: EXAMPLE_TIME,
  amount_nanousd: 25_000_000_000n,
  held_nanousd: null,
  reserved_nanousd: null,
  reference: 'invoice-17',
  note: 'Paid by card',
  receipt: null,
  key: null,
  receipts: null,
};

export const ENTRIES_ROUTES = [
  route({
    method: 'GET',
    path: '/accounts/{account}/entries',
    verb: 'accounts.entries',
    access: VIEWER,
    scope: 'account',
    membersOwn: 'nothing',
    summary: 'Credits, refunds, closed months and open holds of an account, the newest first. Not for members.',
    response: listOf(entry),
    example: { input: { account: 'acme', limit: 100 }, output: exampleList(ENTRY) },
  }),
];
