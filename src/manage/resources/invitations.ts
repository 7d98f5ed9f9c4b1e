import { z } from 'zod';
import { ACCOUNT_PREFIX, INVITATION_PREFIX } from '../../canonical/id-prefixes.ts';
import { ACCOUNT_ROLES, INVITATION_STATUSES } from '../../operator/choices.ts';
import type { InvitedView } from '../../operator/invitations.ts';
import type { InvitationView } from '../../operator/people-view.ts';
import { OWNER, route } from '../route.ts';
import {
  capWindow,
  EXAMPLE_IDS,
  EXAMPLE_SECRET,
  EXAMPLE_TIME,
  exampleList,
  id,
  listOf,
  nanousd,
  seconds,
} from '../schema-fields.ts';

const invitation = z
  .object({
    object: z.literal('invitation'),
    id: id(INVITATION_PREFIX),
    email: z.string(),
    operator: z.boolean(),
    account: id(ACCOUNT_PREFIX).nullable(),
    role: z.enum(ACCOUNT_ROLES).nullable(),
    spend_cap_nanousd: nanousd
      .nullable()
      .describe(
        'What all keys of the person may spend in the account; null keeps the cap that the person has, if any.',
      ),
    window: capWindow,
    resets_password: z.boolean().describe('It sets a new password for a person who already exists.'),
    status: z.enum(INVITATION_STATUSES),
    created: seconds,
    expires: seconds,
  })
  .meta({ id: 'Invitation' });

/** With the link, which is shown once. */
export const invited = invitation
  .extend({
    secret: z.string().describe('Shown only in this response.'),
    link: z.string().nullable().describe('Null if no `public_url` is configured.'),
  })
  .meta({ id: 'Invited' });

const INVITATION: InvitationView = {
  object: 'invitation',
  id: EXAMPLE_IDS.invitation,
  email: 'ada@example.com',
  operator: false,
  account: EXAMPLE_IDS.account,
  role: 'member',
  spend_cap_nanousd: 50_000_000_000n,
  window: 'month',
  resets_password: false,
  status: 'open',
  created: EXAMPLE_TIME,
  expires: EXAMPLE_TIME + 86_400,
};

export const INVITED: InvitedView = {
  ...INVITATION,
  secret: EXAMPLE_SECRET,
  link: `https://gateway.example.com/console/join#${EXAMPLE_SECRET}`,
};

export const INVITATIONS_ROUTES = [
  route({
    method: 'GET',
    path: '/invitations',
    verb: 'invitations.list',
    access: OWNER,
    scope: 'account',
    summary: 'Invitations. `account` and `status` filter the list; `status` is open, accepted, revoked or expired.',
    response: listOf(invitation),
    example: { input: { account: 'acme', status: 'open', limit: 100 }, output: exampleList(INVITATION) },
  }),
  route({
    method: 'POST',
    path: '/invitations',
    verb: 'people.invite',
    access: OWNER,
    scope: 'account',
    creates: true,
    operatorInputs: ['operator'],
    summary: 'Makes a link with which a person can sign in. It is shown only in this response.',
    response: invited,
    example: {
      input: {
        email: 'grace@example.com',
        account: 'acme',
        role: 'member',
        spend_cap_nanousd: 50_000_000_000,
        window: 'month',
      },
      output: INVITED,
    },
  }),
  route({
    method: 'DELETE',
    path: '/invitations/{invitation}',
    verb: 'invitations.revoke',
    access: OWNER,
    scope: 'invitation',
    summary: 'Revokes an invitation that is still open.',
    response: z.object({ object: z.literal('invitation'), id: id(INVITATION_PREFIX), status: z.literal('revoked') }),
    example: {
      input: { invitation: EXAMPLE_IDS.invitation },
      output: { object: 'invitation', id: EXAMPLE_IDS.invitation, status: 'revoked' },
    },
  }),
];
