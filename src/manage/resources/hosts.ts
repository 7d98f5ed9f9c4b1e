import { z } from 'zod';
import type { HostView } from '../../operator/hosts.ts';
import { route } from '../route.ts';
import { count, EXAMPLE_TIME, exampleList, listOf, nanousd, seconds } from '../schema-fields.ts';

const rate = nanousd.describe('Nanodollars per million tokens.');

const host = z
  .object({
    object: z.literal('host'),
    id: z.string(),
    state: z
      .enum(['well', 'limited', 'ejected', 'key_refused', 'probing', 'refusing'])
      .describe('`refusing`: it refuses every request with 402 or 403, and is called nevertheless.'),
    first_byte_ms: count.nullable().describe('Average time to first byte of recent streams.'),
    models: z
      .array(
        z.object({
          model: z.string(),
          host_model: z.string(),
          input: rate,
          output: rate,
          place: count.describe('Among the hosts of the model, 1 for the cheapest.'),
        }),
      )
      .readonly(),
    events: z
      .array(z.object({ at: seconds, kind: z.string(), status: z.int().nullable() }))
      .readonly()
      .describe('Latest problems, the newest first.'),
  })
  .meta({ id: 'Host' });

const hostLosses = z
  .object({
    object: z.literal('host_losses'),
    since: seconds,
    until: seconds,
    complete: z.boolean().describe('False if the period has more receipts than were read: the oldest are missing.'),
    data: z
      .array(
        z.object({
          host: z.string().nullable().describe('Null if it is unknown, for example because a process died.'),
          reason: z.string().nullable(),
          calls: count,
          loss_nanousd: nanousd,
        }),
      )
      .readonly()
      .describe('The largest first.'),
  })
  .meta({ id: 'HostLosses' });

export const HOSTS_ROUTES = [
  route({
    method: 'GET',
    path: '/hosts',
    verb: 'hosts.list',
    access: 'operator',
    summary: 'The hosts: health, models with their place by price, and the latest problems.',
    response: listOf(host),
    example: {
      input: {},
      output: exampleList<HostView>({
        object: 'host',
        id: 'example-host',
        state: 'well',
        first_byte_ms: 412,
        models: [
          {
            model: 'example-large',
            host_model: 'example-large-2027',
            input: 1_750_000_000n,
            output: 14_000_000_000n,
            place: 1,
          },
        ],
        events: [{ at: EXAMPLE_TIME, kind: 'refused', status: 402 }],
      }),
    },
  }),
  route({
    method: 'GET',
    path: '/hosts/losses',
    verb: 'hosts.losses',
    access: 'operator',
    summary:
      'What hosts may bill although no caller paid for it, by host and reason. Reads the receipts of the period.',
    response: hostLosses,
    example: {
      input: { since: EXAMPLE_TIME - 86_400, until: EXAMPLE_TIME },
      output: {
        object: 'host_losses',
        since: EXAMPLE_TIME - 86_400,
        until: EXAMPLE_TIME,
        complete: true,
        data: [{ host: 'example-host', reason: 'host_may_bill_failed_attempt', calls: 3, loss_nanousd: 1_204_000n }],
      },
    },
  }),
];
