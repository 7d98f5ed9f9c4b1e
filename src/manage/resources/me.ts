import { z } from 'zod';
import { ACCOUNT_PREFIX } from '../../canonical/id-prefixes.ts';
import { ACTOR_KINDS } from '../../operator/actor.ts';
import { ACCOUNT_ROLES } from '../../operator/choices.ts';
import { route } from '../route.ts';
import { EXAMPLE_IDS, id } from '../schema-fields.ts';

const me = z
  .object({
    object: z.literal('me'),
    kind: z.enum(ACTOR_KINDS),
    id: z
      .string()
      .nullable()
      .describe('The id of the person or of the management key; null for the token of local mode.'),
    name: z.string(),
    operator: z.boolean(),
    read_only: z.boolean(),
    roles: z.array(z.object({ account: id(ACCOUNT_PREFIX), role: z.enum(ACCOUNT_ROLES) })).readonly(),
  })
  .meta({ id: 'Me' });

export const ME_ROUTES = [
  route({
    method: 'GET',
    path: '/me',
    verb: 'me',
    access: 'anybody',
    summary: 'Who sent the request, and the roles that they have.',
    response: me,
    example: {
      input: {},
      output: {
        object: 'me',
        kind: 'management_key',
        id: EXAMPLE_IDS.management_key,
        name: 'ci',
        operator: false,
        read_only: false,
        roles: [{ account: EXAMPLE_IDS.account, role: 'owner' }],
      },
    },
  }),
];
