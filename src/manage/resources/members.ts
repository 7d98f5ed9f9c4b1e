import { z } from 'zod';
import { ACCOUNT_PREFIX, PERSON_PREFIX } from '../../canonical/id-prefixes.ts';
import { ACCOUNT_ROLES } from '../../operator/choices.ts';
import type { MemberSpendingView, MemberView } from '../../operator/people-view.ts';
import { OWNER, route } from '../route.ts';
import { capWindow, EXAMPLE_IDS, EXAMPLE_TIME, exampleList, id, listOf, nanousd, seconds } from '../schema-fields.ts';

export const member = z
  .object({
    object: z.literal('member'),
    account: id(ACCOUNT_PREFIX),
    person: id(PERSON_PREFIX),
    email: z.string(),
    address_confirmed: z.boolean(),
    name: z.string(),
    role: z.enum(ACCOUNT_ROLES),
    spend_cap_nanousd: nanousd.nullable(),
    window: capWindow,
  })
  .meta({ id: 'Member' });

const memberSpending = member
  .extend({
    spent_nanousd: nanousd.describe("What the person's keys have spent in the account in the present window."),
    held_nanousd: nanousd,
    reserved_nanousd: nanousd,
    remaining_nanousd: nanousd.nullable(),
    resets_at: seconds.nullable(),
  })
  .meta({ id: 'MemberSpending' });

export const MEMBER: MemberView = {
  object: 'member',
  account: EXAMPLE_IDS.account,
  person: EXAMPLE_IDS.person,
  email: 'ada@example.com',
  address_confirmed: true,
  name: 'Ada',
  role: 'member',
  spend_cap_nanousd: 50_000_000_000n,
  window: 'month',
};

const MEMBER_SPENDING: MemberSpendingView = {
  ...MEMBER,
  spent_nanousd: 12_500_000_000n,
  held_nanousd: 0n,
  reserved_nanousd: 0n,
  remaining_nanousd: 37_500_000_000n,
  resets_at: EXAMPLE_TIME,
};

export const MEMBERS_ROUTES = [
  route({
    method: 'GET',
    path: '/accounts/{account}/members',
    verb: 'members.list',
    access: OWNER,
    scope: 'account',
    summary: 'The people with a role in an account, with what they have spent of their caps.',
    response: listOf(memberSpending),
    example: { input: { account: 'acme', limit: 100 }, output: exampleList(MEMBER_SPENDING) },
  }),
  route({
    method: 'PUT',
    path: '/accounts/{account}/members/{person}',
    verb: 'members.put',
    access: OWNER,
    scope: 'account',
    summary: 'Gives a person a role in an account, or changes role and cap. Fields that are left out stay as they are.',
    response: member,
    example: {
      input: {
        account: 'acme',
        person: 'ada@example.com',
        role: 'member',
        spend_cap_nanousd: 50_000_000_000,
        window: 'month',
      },
      output: MEMBER,
    },
  }),
  route({
    method: 'PATCH',
    path: '/accounts/{account}/members/{person}',
    verb: 'members.update',
    access: OWNER,
    scope: 'account',
    summary: 'Changes role or cap of somebody who has a role in the account; only the fields that are sent.',
    response: member,
    example: {
      input: { account: 'acme', person: 'ada@example.com', role: 'member', spend_cap_nanousd: 50_000_000_000 },
      output: MEMBER,
    },
  }),
  route({
    method: 'DELETE',
    path: '/accounts/{account}/members/{person}',
    verb: 'members.remove',
    access: OWNER,
    scope: 'account',
    summary: 'Takes the role in an account away, and revokes open invitations of the person to it.',
    response: z.object({
      object: z.literal('member'),
      account: id(ACCOUNT_PREFIX),
      person: id(PERSON_PREFIX),
      status: z.literal('removed'),
    }),
    example: {
      input: { account: 'acme', person: 'ada@example.com' },
      output: { object: 'member', account: EXAMPLE_IDS.account, person: EXAMPLE_IDS.person, status: 'removed' },
    },
  }),
];
