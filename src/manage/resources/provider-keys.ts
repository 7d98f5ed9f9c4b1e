import { z } from 'zod';
import { PROVIDER_ROWS } from '../../custody/providers.ts';
import type { ProviderKeyView } from '../../operator/provider-keys.ts';
import { OWNER, route } from '../route.ts';
import { EXAMPLE_TIME, exampleList, listOf, seconds } from '../schema-fields.ts';

export const providerKey = z
  .object({
    object: z.literal('provider_key'),
    provider: z.string(),
    last_four: z.string().describe('Empty for a short key.'),
    base_url: z.string(),
    status: z
      .enum(['verified', 'rejected', 'unreadable'])
      .describe('`rejected`: the provider refuses it. `unreadable`: it cannot be decrypted.'),
    verified_at: seconds,
    created_at: seconds,
    rejected_at: seconds.nullable(),
    last_used_at: seconds.nullable().describe('To the hour.'),
  })
  .meta({ id: 'ProviderKey' });

const { slug, basePathEnd } = PROVIDER_ROWS[0]!;
const BASE_URL = `https://acme.example.com${basePathEnd}`;

const PROVIDER_KEY: ProviderKeyView = {
  object: 'provider_key',
  provider: slug,
  last_four: '7f3c',
  base_url: BASE_URL,
  status: 'verified',
  verified_at: EXAMPLE_TIME,
  created_at: EXAMPLE_TIME,
  rejected_at: null,
  last_used_at: null,
};

const CHOICE = { account: 'acme', provider: slug };

/** The keys that an account's callers use with their own providers. A stored key is never returned. */
export const PROVIDER_KEYS_ROUTES = [
  route({
    method: 'GET',
    path: '/accounts/{account}/provider-keys',
    verb: 'providerkeys.list',
    access: OWNER,
    scope: 'account',
    summary: 'The stored provider keys of an account, without the keys themselves.',
    response: listOf(providerKey),
    example: { input: { account: 'acme' }, output: exampleList(PROVIDER_KEY) },
  }),
  route({
    method: 'PUT',
    path: '/accounts/{account}/provider-keys/{provider}',
    verb: 'providerkeys.put',
    access: OWNER,
    scope: 'account',
    summary: 'Verifies a provider key and stores it, replacing the previous one.',
    response: providerKey,
    example: {
      input: { ...CHOICE, api_key: 'example-key-7f3c', base_url: BASE_URL },
      output: PROVIDER_KEY,
    },
  }),
  route({
    method: 'POST',
    path: '/accounts/{account}/provider-keys/{provider}/verify',
    verb: 'providerkeys.verify',
    access: OWNER,
    scope: 'account',
    summary: 'Asks the provider whether it still accepts the stored key.',
    response: providerKey,
    example: { input: CHOICE, output: PROVIDER_KEY },
  }),
  route({
    method: 'DELETE',
    path: '/accounts/{account}/provider-keys/{provider}',
    verb: 'providerkeys.remove',
    access: OWNER,
    scope: 'account',
    summary: 'Removes a stored provider key.',
    response: z.object({ object: z.literal('provider_key'), provider: z.string(), status: z.literal('removed') }),
    example: { input: CHOICE, output: { object: 'provider_key', provider: slug, status: 'removed' } },
  }),
];
