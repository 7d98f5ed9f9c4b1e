import { z } from 'zod';
import { LIMITS } from '../../limits.ts';
import { webhookInput, webhookRotation } from '../../operator/webhooks.ts';

/** Of the webhooks of an account, where the path has the name. */
const IN_PATH = { account: true, name: true } as const;

const endpoint = z.string().describe('The path of a billed route, like /v1/chat/completions.');
const callBody = z.looseObject({}).describe('What that route takes, without `stream`.');
const customId = z.string().min(1).max(LIMITS.jobCustomIdCharsMax).describe('Your own id.');
const time = z.string().describe('A time in RFC 3339, like 2027-01-31T12:00:00Z.');

/** What applies to a job, and to all jobs of a group. */
const terms = {
  not_before: time.nullish().describe('The earliest start. Without it, as soon as possible. RFC 3339.'),
  expires_at: time
    .nullish()
    .describe(
      'The latest start, at most 30 days ahead. Without it, 24 hours after not_before, or after now. RFC 3339.',
    ),
  result_ttl_seconds: z
    .int()
    .min(1)
    .max(LIMITS.jobResultMaxMs / 1000)
    .nullish()
    .describe('How long request and result are kept after the end. Without it, 24 hours.'),
  on_unknown: z
    .enum(['fail', 'retry'])
    .nullish()
    .describe('What happens if the gateway dies while a host may be working on the job. Without it, fail.'),
  webhook: z
    .string()
    .min(1)
    .max(LIMITS.webhookNameCharsMax)
    .nullish()
    .describe('The webhook that gets the event at the end. Without it, every webhook that wants the event gets it.'),
  metadata: z
    .record(z.string().min(1).max(LIMITS.jobMetadataNameCharsMax), z.string().max(LIMITS.jobMetadataCharsMax))
    .nullish()
    .describe(`At most ${LIMITS.jobMetadataMax} strings of your own.`),
};

const line = z
  .strictObject({ custom_id: customId, method: z.literal('POST'), url: endpoint, body: callBody })
  .meta({ id: 'JobGroupRequest' });

interface PublicBody {
  readonly schema: z.ZodType;
  readonly example: object;
}

const CALL = { model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Hello' }] };
const ROUTE = '/v1/chat/completions';

/** The bodies of requests that are our own, by the id of the route. */
export const PUBLIC_BODIES: Readonly<Record<string, PublicBody>> = {
  quote: {
    schema: z.strictObject({
      path: z.string().describe('The route of the call, like /v1/chat/completions.'),
      body: z.looseObject({}).describe('What you would send there.'),
    }),
    example: { path: ROUTE, body: CALL },
  },
  storeKey: {
    schema: z.strictObject({
      api_key: z.string().min(1).max(LIMITS.providerKeyCharsMax),
      base_url: z
        .string()
        .min(1)
        .max(LIMITS.urlCharsMax)
        .describe('The address of your resource, with `/v1` at its end.'),
    }),
    example: { api_key: '0123456789abcdef', base_url: 'https://resource.example/v1' },
  },
  putWebhook: {
    schema: webhookInput.omit(IN_PATH),
    example: { url: 'https://hooks.example.com/jobs', events: ['job.*', 'group.finished'] },
  },
  rotateWebhook: { schema: webhookRotation.omit(IN_PATH), example: { grace_seconds: 3600 } },
  submitJob: {
    schema: z.strictObject({ endpoint, body: callBody, custom_id: customId.nullish(), ...terms }),
    example: { endpoint: ROUTE, body: CALL, custom_id: 'request-1', metadata: { run: 'nightly' } },
  },
  submitJobGroup: {
    schema: z.strictObject({
      requests: z.array(line).min(1).describe('In the form of the lines of a batch file.'),
      ...terms,
    }),
    example: { requests: [{ custom_id: 'request-1', method: 'POST', url: ROUTE, body: CALL }] },
  },
};
