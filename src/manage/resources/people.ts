import { z } from 'zod';
import { PERSON_PREFIX } from '../../canonical/id-prefixes.ts';
import type { PersonView } from '../../operator/people-view.ts';
import { route } from '../route.ts';
import { count, EXAMPLE_IDS, EXAMPLE_TIME, exampleList, id, listOf, seconds } from '../schema-fields.ts';
import { INVITED, invited } from './invitations.ts';
import { MEMBER, member } from './members.ts';
import { SESSION, session } from './sessions.ts';

export const person = z
  .object({
    object: z.literal('person'),
    id: id(PERSON_PREFIX),
    email: z.string(),
    address_confirmed: z
      .boolean()
      .describe(
        'False while only an owner of one account has invited the address. The person has no role elsewhere then.',
      ),
    name: z.string(),
    operator: z.boolean(),
    status: z.enum(['active', 'disabled']),
    password: z.boolean().describe('The person can sign in with a password.'),
    single_sign_on: z.boolean().describe('The person can sign in with single sign-on.'),
    created: seconds,
    version: count.describe('Also the ETag. Increased by every change.'),
  })
  .meta({ id: 'Person' });

const personWithRoles = person.extend({ roles: z.array(member).readonly() }).meta({ id: 'PersonWithRoles' });

export const PERSON: PersonView = {
  object: 'person',
  id: EXAMPLE_IDS.person,
  email: 'ada@example.com',
  address_confirmed: true,
  name: 'Ada',
  operator: false,
  status: 'active',
  password: true,
  single_sign_on: false,
  created: EXAMPLE_TIME,
  version: 3,
};

const CHOICE = { person: 'ada@example.com' };

export const PEOPLE_ROUTES = [
  route({
    method: 'GET',
    path: '/people',
    verb: 'people.list',
    access: 'operator',
    summary: 'All people.',
    response: listOf(person),
    example: { input: { limit: 100 }, output: exampleList(PERSON) },
  }),
  route({
    method: 'GET',
    path: '/people/{person}',
    verb: 'people.show',
    access: 'operator',
    summary: 'A person and their roles.',
    response: personWithRoles,
    example: { input: CHOICE, output: { ...PERSON, roles: [MEMBER] } },
  }),
  route({
    method: 'PATCH',
    path: '/people/{person}',
    verb: 'people.update',
    access: 'operator',
    versioned: true,
    summary: 'Changes the name of a person, or whether they are an operator.',
    response: person,
    example: { input: { ...CHOICE, name: 'Ada L.' }, output: { ...PERSON, name: 'Ada L.', version: 4 } },
  }),
  route({
    method: 'POST',
    path: '/people/{person}/disable',
    verb: 'people.disable',
    access: 'operator',
    summary: 'Ends the sessions of a person, disables their keys and revokes the management keys they minted.',
    response: person,
    example: { input: CHOICE, output: { ...PERSON, status: 'disabled', version: 4 } },
  }),
  route({
    method: 'POST',
    path: '/people/{person}/enable',
    verb: 'people.enable',
    access: 'operator',
    summary: 'Lets a disabled person sign in again, and their keys work again.',
    response: person,
    example: { input: CHOICE, output: { ...PERSON, version: 5 } },
  }),
  route({
    method: 'POST',
    path: '/people/{person}/reset',
    verb: 'people.reset',
    access: 'operator',
    summary: 'Makes a link with which a person sets a new password.',
    response: invited,
    example: {
      input: CHOICE,
      output: {
        ...INVITED,
        resets_password: true,
        account: null,
        role: null,
        spend_cap_nanousd: null,
        window: 'lifetime',
      },
    },
  }),
  route({
    method: 'GET',
    path: '/people/{person}/sessions',
    verb: 'people.sessions',
    access: 'operator',
    summary: 'Where a person is signed in.',
    response: listOf(session),
    example: { input: CHOICE, output: exampleList(SESSION) },
  }),
  route({
    method: 'POST',
    path: '/people/{person}/sign-out',
    verb: 'people.signout',
    access: 'operator',
    summary: 'Ends all sessions of a person.',
    response: z.object({ object: z.literal('person'), id: id(PERSON_PREFIX), sessions_ended: count }),
    example: { input: CHOICE, output: { object: 'person', id: EXAMPLE_IDS.person, sessions_ended: 2 } },
  }),
];
