import { z } from 'zod';
import { isLoopback } from '../hosts/schema.ts';
import { LIMITS } from '../limits.ts';

const domain = z
  .string()
  .max(LIMITS.emailCharsMax)
  .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/i, 'must be a domain, like "example.com"')
  .transform((text) => text.toLowerCase());

export const ssoSchema = z.strictObject({
  issuer: z
    .url({ protocol: /^https?$/, error: 'must be an https address', abort: true })
    .refine(
      (text) => new URL(text).protocol === 'https:' || isLoopback(new URL(text).hostname),
      'must be an https address',
    )
    .describe('The OpenID Connect provider, like "https://accounts.example.com".'),
  client_id: z.string().min(1).max(LIMITS.urlCharsMax).describe('The id of the gateway at the provider.'),
  client_secret_file: z
    .string()
    .min(1)
    .max(LIMITS.urlCharsMax)
    .describe("File with the gateway's secret at the provider; relative to this file."),
  allowed_domains: z
    .array(domain)
    .max(LIMITS.configListMax)
    .default([])
    .describe(
      'Email domains whose users may sign in without an invitation; they have no role until they are given one.',
    ),
});
