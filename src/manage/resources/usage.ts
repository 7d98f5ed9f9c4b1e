import { z } from 'zod';
import { ACCOUNT_PREFIX, KEY_PREFIX, PERSON_PREFIX } from '../../canonical/id-prefixes.ts';
import { USAGE_BUCKETS } from '../../operator/usage-query.ts';
import { route, VIEWER } from '../route.ts';
import { count, EXAMPLE_IDS, EXAMPLE_TIME, id, nanousd, seconds } from '../schema-fields.ts';

const tokens = count.nullable();
const milliseconds = count.nullable();

const figures = {
  requests: count.nullable().describe('Calls that have ended, including free and voided ones.'),
  fresh_tokens: tokens,
  cache_read_tokens: tokens,
  cache_write_tokens: tokens,
  cache_write_1h_tokens: tokens,
  output_tokens: tokens,
  reasoning_tokens: tokens.describe('Part of `output_tokens`.'),
  cost_nanousd: nanousd.nullable(),
  refunded_nanousd: nanousd.nullable().describe('What has been refunded for these calls so far, at any time.'),
  refused: count
    .nullable()
    .describe('Calls that were refused and have no receipt. Null in reports by model, route, host, chain or label.'),
  first_byte_p50_ms: milliseconds.describe('Median time to the first content of a stream.'),
  first_byte_p95_ms: milliseconds,
  duration_p50_ms: milliseconds.describe('Median time of a call from hold to settlement.'),
  duration_p95_ms: milliseconds,
};

export const row = z
  .object({
    start: seconds.nullable().describe('When the bucket begins.'),
    account: id(ACCOUNT_PREFIX).nullable(),
    account_name: z.string().nullable(),
    key: id(KEY_PREFIX).nullable(),
    key_name: z.string().nullable(),
    person: id(PERSON_PREFIX).nullable(),
    person_email: z.string().nullable(),
    model: z.string().nullable().describe('The model that answered.'),
    route: z.string().nullable(),
    host: z.string().nullable(),
    chain: z.string().nullable(),
    label: z.string().nullable().describe('The value of the label that the report is grouped by.'),
    ...figures,
  })
  .meta({ id: 'UsageRow' });

export const usage = z
  .object({
    object: z.literal('usage'),
    since: seconds,
    until: seconds,
    bucket: z.enum(USAGE_BUCKETS),
    group_by: z.array(z.string()).readonly(),
    data: z.array(row).readonly(),
    totals: z.object(figures),
  })
  .meta({ id: 'Usage' });

const FIGURES = {
  requests: 1_204,
  fresh_tokens: 912_400,
  cache_read_tokens: 88_000,
  cache_write_tokens: 0,
  cache_write_1h_tokens: 0,
  output_tokens: 204_310,
  reasoning_tokens: 0,
  cost_nanousd: 4_812_990_000n,
  refunded_nanousd: 0n,
  refused: null,
  first_byte_p50_ms: 412,
  first_byte_p95_ms: 1_890,
  duration_p50_ms: 3_200,
  duration_p95_ms: 11_400,
};

/** Only operators see who served a call, and the email addresses of people; others see their ids. */
const OPERATOR_MEMBERS = ['host', 'person_email'];

export const USAGE_ROUTES = [
  route({
    method: 'GET',
    path: '/usage',
    verb: 'usage.report',
    access: VIEWER,
    scope: 'account',
    membersOwn: 'keys',
    operatorMembers: OPERATOR_MEMBERS,
    operatorInputs: ['host'],
    summary: 'What calls have used and cost, in total or by time, model, key and more. Members see their own.',
    response: usage,
    example: {
      input: {
        account: 'acme',
        since: EXAMPLE_TIME - 86_400,
        until: EXAMPLE_TIME,
        bucket: 'day',
        group_by: 'key,model',
      },
      output: {
        object: 'usage',
        since: EXAMPLE_TIME - (EXAMPLE_TIME % 3_600) - 86_400,
        until: EXAMPLE_TIME - (EXAMPLE_TIME % 3_600) + 3_600,
        bucket: 'day',
        group_by: ['key', 'model'],
        data: [
          {
            start: EXAMPLE_TIME - (EXAMPLE_TIME % 86_400),
            account: null,
            account_name: null,
            key: EXAMPLE_IDS.key,
            key_name: 'support',
            person: null,
            person_email: null,
            model: 'example-large',
            route: null,
            host: null,
            chain: null,
            label: null,
            ...FIGURES,
          },
        ],
        totals: FIGURES,
      },
    },
  }),
];
