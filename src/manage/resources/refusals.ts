import { z } from 'zod';
import { ACCOUNT_PREFIX, KEY_PREFIX, REQUEST_PREFIX } from '../../canonical/id-prefixes.ts';
import type { RefusalView } from '../../operator/refusals.ts';
import { route, VIEWER } from '../route.ts';
import { EXAMPLE_IDS, EXAMPLE_TIME, exampleList, id, listOf, nanousd, seconds } from '../schema-fields.ts';

const refusal = z
  .object({
    object: z.literal('refusal'),
    id: id(REQUEST_PREFIX).describe('The request id, which is in the header x-gateway-request-id.'),
    account: id(ACCOUNT_PREFIX),
    key: id(KEY_PREFIX).nullable(),
    created: seconds,
    route: z.string(),
    model: z
      .string()
      .nullable()
      .describe('As the caller named it; null if the request was refused before it was read.'),
    http_status: z.int(),
    code: z.string(),
    message: z.string().describe('The message that the caller got.'),
    worst_nanousd: nanousd.nullable().describe('What the call could have cost; null if it was not refused for money.'),
    available_nanousd: nanousd.nullable().describe('What was left of the limit that refused it.'),
  })
  .meta({ id: 'Refusal' });

export const REFUSALS_ROUTES = [
  route({
    method: 'GET',
    path: '/refusals',
    verb: 'refusals.list',
    access: VIEWER,
    scope: 'account',
    membersOwn: 'keys',
    summary:
      'Refused calls of the last days, the newest first; with `request`, only that one. `model` is what the caller typed. Members see those of their own keys.',
    response: listOf(refusal),
    example: {
      input: { account: 'acme', limit: 100 },
      output: exampleList<RefusalView>({
        object: 'refusal',
        id: EXAMPLE_IDS.receipt,
        account: EXAMPLE_IDS.account,
        key: EXAMPLE_IDS.key,
        created: EXAMPLE_TIME,
        route: '/v1/chat/completions',
        model: 'example-large',
        http_status: 402,
        code: 'insufficient_quota',
        message: 'This call could cost up to $0.015421; the balance leaves $0.0012. Nothing was charged. Add credit.',
        worst_nanousd: 15_421_000n,
        available_nanousd: 1_200_000n,
      }),
    },
  }),
];
