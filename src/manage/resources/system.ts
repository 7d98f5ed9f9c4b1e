import { z } from 'zod';
import { route } from '../route.ts';
import { count, EXAMPLE_TIME, nanousd, seconds } from '../schema-fields.ts';

const status = z
  .object({
    object: z.literal('status'),
    server: z.object({ url: z.string(), pid: count, hosted: z.boolean(), started: seconds }).nullable(),
    store: z.object({ ok: z.boolean(), reason: z.string().nullable(), may_admit: z.boolean() }),
    clock_behind_ms: z.number().describe('How far the clock is behind the last call of the ledger.'),
    accepted_losses: z
      .array(z.object({ accepted: seconds, receipts: count, spent_nanousd: nanousd }))
      .readonly()
      .describe('Receipts that a damaged file lost, and that the ledger goes on without.'),
    models: count,
    price_version: z.string(),
  })
  .meta({ id: 'Status' });

export const SYSTEM_ROUTES = [
  route({
    method: 'GET',
    path: '/system',
    verb: 'status',
    access: 'operator',
    summary: 'Version, store and server.',
    response: status,
    example: {
      input: {},
      output: {
        object: 'status',
        server: { url: 'http://127.0.0.1:8080', pid: 4242, hosted: true, started: EXAMPLE_TIME },
        store: { ok: true, reason: null, may_admit: true },
        clock_behind_ms: 0,
        accepted_losses: [],
        models: 120,
        price_version: '2027-01-31.1',
      },
    },
  }),
];
