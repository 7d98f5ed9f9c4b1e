import { z } from 'zod';
import { ACCOUNT_PREFIX, MANAGEMENT_KEY_PREFIX, PERSON_PREFIX } from '../../canonical/id-prefixes.ts';
import { ACCOUNT_ROLES } from '../../operator/choices.ts';
import type { ManagementKeyView } from '../../operator/people-view.ts';
import { OWNER, route } from '../route.ts';
import { EXAMPLE_IDS, EXAMPLE_TIME, exampleList, id, listOf, seconds } from '../schema-fields.ts';

const managementKey = z
  .object({
    object: z.literal('management_key'),
    id: id(MANAGEMENT_KEY_PREFIX),
    name: z.string(),
    hint: z.string().describe('The first and last characters of the secret.'),
    account: id(ACCOUNT_PREFIX).nullable(),
    role: z.enum(['operator', ...ACCOUNT_ROLES]),
    read_only: z.boolean(),
    status: z.enum(['active', 'expired', 'revoked']),
    minted_by: id(PERSON_PREFIX).nullable().describe('Null for the command line.'),
    minted_by_name: z
      .string()
      .nullable()
      .describe(
        'The email address of that person. `operator` if they have no role in the account, unless an operator reads it.',
      ),
    created: seconds,
    expires_at: seconds.nullable(),
    last_used: seconds.nullable(),
  })
  .meta({ id: 'ManagementKey' });

const MANAGEMENT_KEY: ManagementKeyView = {
  object: 'management_key',
  id: EXAMPLE_IDS.management_key,
  name: 'ci',
  hint: 'tg_mgmt_9aT…k22P',
  account: EXAMPLE_IDS.account,
  role: 'owner',
  read_only: false,
  status: 'active',
  minted_by: null,
  minted_by_name: null,
  created: EXAMPLE_TIME,
  expires_at: EXAMPLE_TIME + 2_592_000,
  last_used: null,
};

export const MANAGEMENT_KEYS_ROUTES = [
  route({
    method: 'GET',
    path: '/management-keys',
    verb: 'managementkeys.list',
    access: OWNER,
    scope: 'account',
    summary: 'Management keys. `account` filters the list.',
    response: listOf(managementKey),
    example: { input: { account: 'acme', limit: 100 }, output: exampleList(MANAGEMENT_KEY) },
  }),
  route({
    method: 'POST',
    path: '/management-keys',
    verb: 'managementkeys.mint',
    access: OWNER,
    scope: 'account',
    creates: true,
    summary: 'Creates a management key, for people only. Its secret is shown only in this response.',
    response: managementKey
      .extend({ secret: z.string().describe('Shown only in this response.') })
      .meta({ id: 'MintedManagementKey' }),
    example: {
      input: { name: 'ci', account: 'acme', role: 'owner', expires_at: EXAMPLE_TIME + 2_592_000 },
      output: { ...MANAGEMENT_KEY, secret: 'tg_mgmt_9aT…' },
    },
  }),
  route({
    method: 'DELETE',
    path: '/management-keys/{management_key}',
    verb: 'managementkeys.revoke',
    access: OWNER,
    scope: 'management_key',
    summary: 'Revokes a management key for good.',
    response: managementKey,
    example: {
      input: { management_key: EXAMPLE_IDS.management_key },
      output: { ...MANAGEMENT_KEY, status: 'revoked' },
    },
  }),
];
