import { z } from 'zod';
import { ACCOUNT_PREFIX, KEY_PREFIX, REQUEST_PREFIX } from '../../canonical/id-prefixes.ts';
import { ENDINGS, USAGE_SOURCES } from '../../canonical/receipt.ts';
import type { OperatorReceiptView } from '../../canonical/receipt-view.ts';
import { route, VIEWER } from '../route.ts';
import { count, EXAMPLE_IDS, EXAMPLE_TIME, exampleList, id, listOf, nanousd, seconds } from '../schema-fields.ts';

const usage = z.object({
  fresh_tokens: count,
  cache_read_tokens: count,
  cache_write_tokens: count,
  cache_write_1h_tokens: count,
  output_tokens: count,
  reasoning_tokens: count.describe('Part of `output_tokens`.'),
});

const components = z.object({ fresh: nanousd, cache_write: nanousd, cache_read: nanousd, output: nanousd });

export const receipt = z
  .object({
    object: z.literal('receipt'),
    id: id(REQUEST_PREFIX).describe('The request id, which is in the header x-gateway-request-id.'),
    created: seconds,
    route: z.string(),
    requested_model: z.string(),
    effective_model: z.string(),
    status: z.enum(['open', 'settled', 'voided']),
    http_status: z.int().nullable(),
    ended: z.enum(ENDINGS).nullable(),
    usage_source: z.enum(USAGE_SOURCES),
    hangup_charged: z.boolean(),
    usage: usage.nullable(),
    components: components.nullable().describe('Four amounts that sum to the cost.'),
    cost_nanousd: nanousd.nullable().describe('Nanodollars; null while the call runs.'),
    refunded_nanousd: nanousd.describe('How much of the cost the operator has refunded.'),
    held_nanousd: nanousd,
    price_version: z.string(),
    key: id(KEY_PREFIX).nullable(),
    idempotency_key: z.string().nullable(),
    labels: z.record(z.string(), z.string()),
    adjusted: z.string().nullable(),
    chain: z.string().nullable(),
    first_byte_ms: z
      .int()
      .nullable()
      .describe('Milliseconds from the hold to the first content of a stream; null for a buffered call.'),
    account: id(ACCOUNT_PREFIX),
    duration_ms: z
      .int()
      .nonnegative()
      .nullable()
      .describe('Milliseconds from the hold to the settlement; null while the call runs.'),
    host: z.string().nullable(),
    attempts: count,
    tries: z
      .array(z.object({ host: z.string(), outcome: z.string(), ms: z.number() }))
      .readonly()
      .nullable(),
    loss: z
      .object({ amount_nanousd: nanousd, reason: z.string() })
      .nullable()
      .describe('What the call may have cost the operator beyond the charge.'),
  })
  .meta({ id: 'Receipt' });

const refund = z
  .object({
    object: z.literal('refund'),
    receipt: id(REQUEST_PREFIX),
    account: id(ACCOUNT_PREFIX),
    amount_nanousd: nanousd,
    reference: z.string(),
    repeated: z.boolean().describe('A refund with this reference was made before, so nothing was changed now.'),
    cost_nanousd: nanousd,
    refunded_nanousd: nanousd.describe('The total that was refunded for the receipt.'),
    balance_nanousd: nanousd,
  })
  .meta({ id: 'Refund' });

const RECEIPT: OperatorReceiptView = {
  object: 'receipt',
  id: EXAMPLE_IDS.receipt,
  created: EXAMPLE_TIME,
  route: '/v1/chat/completions',
  requested_model: 'example-large',
  effective_model: 'example-large',
  status: 'settled',
  http_status: 200,
  ended: 'complete',
  usage_source: 'reported',
  hangup_charged: false,
  usage: {
    fresh_tokens: 812,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    cache_write_1h_tokens: 0,
    output_tokens: 96,
    reasoning_tokens: 0,
  },
  components: { fresh: 1_421_000n, cache_write: 0n, cache_read: 0n, output: 1_344_000n },
  cost_nanousd: 2_765_000n,
  refunded_nanousd: 0n,
  held_nanousd: 15_421_000n,
  price_version: '2027-01-31.1',
  key: EXAMPLE_IDS.key,
  idempotency_key: null,
  labels: { team: 'support' },
  adjusted: null,
  chain: null,
  first_byte_ms: 412,
  account: EXAMPLE_IDS.account,
  duration_ms: 3_215,
  host: 'example-host',
  attempts: 1,
  tries: null,
  loss: null,
};

/** Who served a call and what it cost beyond the charge is the operator's business. */
const OPERATOR_MEMBERS = ['host', 'attempts', 'tries', 'loss'];

export const RECEIPTS_ROUTES = [
  route({
    method: 'GET',
    path: '/receipts',
    verb: 'receipts.list',
    access: VIEWER,
    scope: 'account',
    membersOwn: 'receipts',
    operatorMembers: OPERATOR_MEMBERS,
    operatorInputs: ['host'],
    summary:
      'Receipts, the newest first. A page may be short even if more follow, because each search reads a limited number of receipts.',
    response: listOf(receipt),
    example: { input: { account: 'acme', limit: 100 }, output: exampleList(RECEIPT) },
  }),
  route({
    method: 'GET',
    path: '/receipts/feed',
    verb: 'receipts.feed',
    access: VIEWER,
    scope: 'account',
    membersOwn: 'feed',
    streams: true,
    operatorMembers: OPERATOR_MEMBERS,
    summary:
      'Receipts of calls as they end, as server-sent events: `ready`, `receipt`, `gap`. The stream goes on until you close it.',
    response: receipt,
    example: { input: { account: 'acme' }, output: RECEIPT },
  }),
  route({
    method: 'GET',
    path: '/receipts/{receipt}',
    verb: 'receipts.show',
    access: VIEWER,
    scope: 'receipt',
    membersOwn: 'receipt',
    operatorMembers: OPERATOR_MEMBERS,
    summary: 'One receipt. Operators also see host, attempts and loss.',
    response: receipt,
    example: { input: { receipt: EXAMPLE_IDS.receipt }, output: RECEIPT },
  }),
  route({
    method: 'POST',
    path: '/receipts/{receipt}/refund',
    verb: 'receipts.refund',
    access: 'operator',
    creates: true,
    summary:
      'Pays back the cost of a call, or a part of it, to its account. Repeating a reference refunds nothing more.',
    response: refund,
    example: {
      input: { receipt: EXAMPLE_IDS.receipt, amount_nanousd: 1_000, reference: 'ticket-42', note: 'Cut off' },
      output: {
        object: 'refund',
        receipt: EXAMPLE_IDS.receipt,
        account: EXAMPLE_IDS.account,
        amount_nanousd: 1_000n,
        reference: 'ticket-42',
        repeated: false,
        cost_nanousd: 2_765_000n,
        refunded_nanousd: 1_000n,
        balance_nanousd: 24_997_236_000n,
      },
    },
  }),
];
