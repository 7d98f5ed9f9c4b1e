import { z } from 'zod';
import type { HostView } from '../../operator/hosts.ts';
import { route } from '../route.ts';
import { count, EXAMPLE_TIME, exampleList, listOf, nanousd, seconds } from '../schema-fields.ts';

const rate = nanousd.describe('Nanodollars per million tokens.');

const host = z
  .object({
    object: z.literal('host'),
    id: z.string(),
    state: z.enum(['well', 'limited', 'ejected', 'key_refused', 'probing']),
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
      .describe('What went wrong last, the newest first.'),
  })
  .meta({ id: 'Host' });

export const HOSTS_ROUTES = [
  route({
    method: 'GET',
    path: '/hosts',
    verb: 'hosts.list',
    access: 'operator',
    summary: 'The hosts: health, models with their place by price, and what went wrong last.',
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
];
