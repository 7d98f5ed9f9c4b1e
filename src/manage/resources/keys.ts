import { z } from 'zod';
import { ACCOUNT_PREFIX, KEY_PREFIX, PERSON_PREFIX } from '../../canonical/id-prefixes.ts';
import { KEY_PERMISSIONS, ON_UNSUPPORTED } from '../../operator/choices.ts';
import type { KeyView } from '../../operator/view.ts';
import { OWNER, route, VIEWER } from '../route.ts';
import {
  capWindow,
  count,
  EXAMPLE_IDS,
  EXAMPLE_TIME,
  exampleList,
  id,
  listOf,
  nanousd,
  seconds,
} from '../schema-fields.ts';

const key = z
  .object({
    object: z.literal('key'),
    id: id(KEY_PREFIX),
    account: id(ACCOUNT_PREFIX),
    person: id(PERSON_PREFIX).nullable().describe('Whose key it is; null if it belongs to no person.'),
    name: z.string(),
    hint: z.string().describe('The first and last characters of the secret.'),
    status: z.enum(['active', 'disabled', 'expired', 'revoked']),
    spend_cap_nanousd: nanousd.nullable(),
    window: capWindow,
    expires_at: seconds.nullable(),
    models: z.array(z.string()).readonly().nullable().describe('The models that the key may use; null allows all.'),
    permissions: z.array(z.enum(['calls', ...KEY_PERMISSIONS])).readonly(),
    on_unsupported: z.enum(ON_UNSUPPORTED),
    note: z.string().nullable(),
    max_cost_nanousd: nanousd.nullable().describe('The most that one call may cost.'),
    last_used_at: seconds.nullable().describe('To the minute; null if the key was never used.'),
    created: seconds,
    revoked_at: seconds.nullable(),
    disabled_at: seconds.nullable().describe('When the key itself was disabled.'),
    person_disabled_at: seconds
      .nullable()
      .describe("When the key's person was disabled, or ceased to be an owner or member of the account."),
    old_secret_expires_at: seconds
      .nullable()
      .describe('Until when the previous secret works; null if there is none that does.'),
    version: count.describe('Increased by every change. Send it as `If-Match`.'),
  })
  .meta({ id: 'Key' });

const shownKey = key
  .extend({
    spent_nanousd: nanousd.describe('In the current window.'),
    held_nanousd: nanousd,
    reserved_nanousd: nanousd,
    remaining_nanousd: nanousd.nullable().describe('What is left of the cap; null without one.'),
    resets_at: seconds.nullable(),
  })
  .meta({ id: 'ShownKey' });

const unknown_models = z
  .array(z.string())
  .readonly()
  .describe('Names in `models` that match no model now. They are kept, because a model may be added later.');
const changedKey = key.extend({ unknown_models }).meta({ id: 'ChangedKey' });
const secret = z.string().describe('Shown only in this response.');
const mintedKey = changedKey.extend({ secret }).meta({ id: 'MintedKey' });
const rotatedKey = key.extend({ secret }).meta({ id: 'RotatedKey' });

const KEY: KeyView = {
  object: 'key',
  id: EXAMPLE_IDS.key,
  account: EXAMPLE_IDS.account,
  person: null,
  name: 'support bot',
  hint: 'tg_live_3fQ…x81K',
  status: 'active',
  spend_cap_nanousd: 5_000_000_000n,
  window: 'day',
  expires_at: null,
  models: null,
  permissions: ['calls'],
  on_unsupported: 'refuse',
  note: null,
  max_cost_nanousd: null,
  last_used_at: EXAMPLE_TIME + 60,
  created: EXAMPLE_TIME,
  revoked_at: null,
  disabled_at: null,
  person_disabled_at: null,
  old_secret_expires_at: null,
  version: 1,
};

const SPENDING = {
  spent_nanousd: 1_200_000_000n,
  held_nanousd: 0n,
  reserved_nanousd: 0n,
  remaining_nanousd: 3_800_000_000n,
  resets_at: EXAMPLE_TIME + 43_200,
};

export const KEYS_ROUTES = [
  route({
    method: 'GET',
    path: '/keys',
    verb: 'keys.list',
    access: VIEWER,
    scope: 'account',
    membersOwn: 'keys',
    summary: 'Gateway keys, and what they have spent in their windows. `account` and `person` filter the list.',
    response: listOf(shownKey),
    example: { input: { account: 'acme', limit: 100 }, output: exampleList({ ...KEY, ...SPENDING }) },
  }),
  route({
    method: 'POST',
    path: '/keys',
    verb: 'keys.mint',
    access: OWNER,
    scope: 'account',
    membersOwn: 'keys',
    creates: true,
    summary: 'Creates a gateway key. Its secret is shown only in this response.',
    response: mintedKey,
    example: {
      input: { account: 'acme', name: 'support bot', spend_cap_nanousd: 5_000_000_000, window: 'day' },
      output: { ...KEY, secret: 'tg_live_3fQ…', unknown_models: [] },
    },
  }),
  route({
    method: 'GET',
    path: '/keys/{key}',
    verb: 'keys.show',
    access: VIEWER,
    scope: 'key',
    membersOwn: 'key',
    summary: 'One gateway key, with what it has spent in its window.',
    response: shownKey,
    example: { input: { key: EXAMPLE_IDS.key }, output: { ...KEY, ...SPENDING } },
  }),
  route({
    method: 'PATCH',
    path: '/keys/{key}',
    verb: 'keys.update',
    access: OWNER,
    scope: 'key',
    membersOwn: 'key',
    versioned: true,
    summary: 'Changes only the fields that are sent.',
    response: changedKey,
    example: {
      input: { key: EXAMPLE_IDS.key, name: 'help desk', spend_cap_nanousd: 8_000_000_000 },
      output: { ...KEY, name: 'help desk', spend_cap_nanousd: 8_000_000_000n, unknown_models: [] },
    },
  }),
  route({
    method: 'POST',
    path: '/keys/{key}/rotate',
    verb: 'keys.rotate',
    access: OWNER,
    scope: 'key',
    membersOwn: 'key',
    creates: true,
    versioned: true,
    summary: 'Gives a key a new secret, shown only in this response. The old one works for `grace_seconds` more.',
    response: rotatedKey,
    example: {
      input: { key: EXAMPLE_IDS.key, grace_seconds: 3_600 },
      output: {
        ...KEY,
        hint: 'tg_live_8pW…c27D',
        old_secret_expires_at: EXAMPLE_TIME + 3_600,
        version: 2,
        secret: 'tg_live_8pW…',
      },
    },
  }),
  route({
    method: 'POST',
    path: '/keys/{key}/disable',
    verb: 'keys.disable',
    access: OWNER,
    scope: 'key',
    membersOwn: 'key',
    summary: 'Disables a gateway key until it is enabled again.',
    response: key,
    example: {
      input: { key: EXAMPLE_IDS.key },
      output: { ...KEY, status: 'disabled', disabled_at: EXAMPLE_TIME + 60 },
    },
  }),
  route({
    method: 'POST',
    path: '/keys/{key}/enable',
    verb: 'keys.enable',
    access: OWNER,
    scope: 'key',
    summary: 'Enables a gateway key again.',
    response: key,
    example: { input: { key: EXAMPLE_IDS.key }, output: KEY },
  }),
  route({
    method: 'POST',
    path: '/keys/{key}/revoke',
    verb: 'keys.revoke',
    access: OWNER,
    scope: 'key',
    membersOwn: 'key',
    summary: 'Revokes a gateway key for good.',
    response: key,
    example: {
      input: { key: EXAMPLE_IDS.key },
      output: { ...KEY, status: 'revoked', revoked_at: EXAMPLE_TIME + 60 },
    },
  }),
];
