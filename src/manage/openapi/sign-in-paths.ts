import { z } from 'zod';
import { PERSON_PREFIX, SESSION_PREFIX } from '../../canonical/id-prefixes.ts';
import { ACCOUNT_ROLES } from '../../operator/choices.ts';
import type { PersonView, SessionView } from '../../operator/people-view.ts';
import type { ListView } from '../../operator/view.ts';
import { acceptanceInput } from '../../signin/accept-invitation.ts';
import { linkInput } from '../../signin/link-identity.ts';
import type { changePassword, endOwnSession, OwnSessionView } from '../../signin/own-sessions.ts';
import { ownSessionChoice, passwordChange } from '../../signin/own-sessions.ts';
import { type InvitationLinkView, invitationChoice } from '../../signin/read-invitation.ts';
import { signInInput, type WaysToSignIn } from '../../signin/sign-in.ts';
import { PERSON, person } from '../resources/people.ts';
import { SESSION, session } from '../resources/sessions.ts';
import { EXAMPLE_IDS, EXAMPLE_SECRET, exampleList, id, listOf } from '../schema-fields.ts';
import { SIGN_IN_ROUTES, type SignInRoute } from '../sign-in/routes.ts';
import type { PathItems } from './management-paths.ts';
import { inputSchema, type SchemaBook } from './schema-book.ts';

interface Described {
  readonly id: string;
  readonly status: '200' | '201' | '303';
  readonly input?: z.ZodType;
  /** With path and body together. */
  readonly exampleInput?: Readonly<Record<string, string>>;
  /** Absent for a response without a body. */
  readonly response?: z.ZodType;
  readonly exampleOutput?: object;
}

const waysToSignIn = z.object({
  object: z.literal('sign_in'),
  password: z.boolean(),
  single_sign_on: z.object({ issuer: z.string(), start: z.string() }).nullable(),
  unavailable: z.string().nullable().describe('Why nobody can sign in; null if people can.'),
});
const invitationLink = z.object({
  object: z.literal('invitation_link'),
  email: z.string(),
  purpose: z
    .enum(['new_person', 'existing_person', 'new_password'])
    .describe(
      'A new person sends `name` and `password`, an existing one signs in first, and a new password is sent alone.',
    ),
  operator: z.boolean(),
  role: z.enum(ACCOUNT_ROLES).nullable(),
  account_name: z
    .string()
    .nullable()
    .describe(
      'The account in which the role is. Null for those who have to sign in first, or whose address has to be confirmed first.',
    ),
  signed_in: z.enum(['nobody', 'this_person', 'somebody_else']).describe('Whose session the request has.'),
});
const ended = z.object({ object: z.literal('session'), id: id(SESSION_PREFIX), status: z.literal('ended') });
const ownSession = session.extend({ current: z.boolean() }).meta({ id: 'OwnSession' });

const passwordChanged = z.object({ object: z.literal('person'), id: id(PERSON_PREFIX), password: z.literal(true) });

/** Does not compile unless the schema describes exactly the view. */
function returning<View extends object>() {
  return <Schema extends z.ZodType<View>>(
    schema: [View] extends [z.output<Schema>] ? Schema : never,
    exampleOutput: View,
  ): Pick<Described, 'response' | 'exampleOutput'> => ({ response: schema as unknown as z.ZodType, exampleOutput });
}
type Returned<Run extends (...given: never[]) => Promise<unknown>> = Awaited<ReturnType<Run>>;

const ENDED = { object: 'session', id: EXAMPLE_IDS.session, status: 'ended' } as const;

/** By method and path. Tests check that every route of sign-in is here, and send the examples to a server. */
export const DESCRIBED: Readonly<Record<string, Described>> = {
  'GET /sign-in': {
    id: 'signInWays',
    status: '200',
    ...returning<WaysToSignIn>()(waysToSignIn, {
      object: 'sign_in',
      password: true,
      single_sign_on: { issuer: 'https://accounts.example.com', start: '/manage/v1/sso/start' },
      unavailable: null,
    }),
  },
  'POST /sign-in': {
    id: 'signIn',
    status: '201',
    input: signInInput,
    exampleInput: { email: 'ada@example.com', password: 'a long secret sentence' },
    ...returning<SessionView>()(session, SESSION),
  },
  'POST /invitations/read': {
    id: 'invitationsRead',
    status: '200',
    input: invitationChoice,
    exampleInput: { secret: EXAMPLE_SECRET },
    ...returning<InvitationLinkView>()(invitationLink, {
      object: 'invitation_link',
      email: 'ada@example.com',
      purpose: 'new_person',
      operator: false,
      role: 'member',
      account_name: 'acme',
      signed_in: 'nobody',
    }),
  },
  'POST /invitations/accept': {
    id: 'invitationsAccept',
    status: '200',
    input: acceptanceInput,
    exampleInput: { secret: EXAMPLE_SECRET, name: 'Ada', password: 'a long secret sentence' },
    ...returning<PersonView>()(person, PERSON),
  },
  'GET /sso/start': { id: 'ssoStart', status: '303' },
  'GET /sso/callback': { id: 'ssoCallback', status: '303' },
  'POST /sso/link': {
    id: 'ssoLink',
    status: '200',
    input: linkInput,
    exampleInput: { password: 'a long secret sentence' },
    ...returning<{ object: 'sso_link'; url: string }>()(z.object({ object: z.literal('sso_link'), url: z.string() }), {
      object: 'sso_link',
      url: 'https://accounts.example.com/authorize?client_id=tollgate',
    }),
  },
  'POST /me/password': {
    id: 'changePassword',
    status: '200',
    input: passwordChange,
    exampleInput: { current: 'a long secret sentence', password: 'another secret sentence' },
    ...returning<Returned<typeof changePassword>>()(passwordChanged, {
      object: 'person',
      id: EXAMPLE_IDS.person,
      password: true,
    }),
  },
  'GET /me/sessions': {
    id: 'ownSessions',
    status: '200',
    ...returning<ListView<OwnSessionView>>()(listOf(ownSession), exampleList({ ...SESSION, current: true })),
  },
  'DELETE /me/sessions/{session}': {
    id: 'endOwnSession',
    status: '200',
    input: ownSessionChoice,
    exampleInput: { session: EXAMPLE_IDS.session },
    ...returning<Returned<typeof endOwnSession>>()(ended, ENDED),
  },
  'POST /sign-out': { id: 'signOut', status: '200', ...returning<Returned<typeof endOwnSession>>()(ended, ENDED) },
};

/** The routes with which people sign in. Only hosted mode has them. */
export function signInPaths(book: SchemaBook, prefix: string): PathItems {
  const paths: PathItems = {};
  for (const route of SIGN_IN_ROUTES) {
    const described = DESCRIBED[`${route.method} ${route.path}`];
    if (described === undefined) throw new Error(`Describe ${route.method} ${route.path} in sign-in-paths.ts.`);
    const path = prefix + route.path;
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, described, book) };
  }
  return paths;
}

function operationOf({ method, path, summary, access }: SignInRoute, described: Described, book: SchemaBook): object {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const takesBody = method === 'POST' && described.input !== undefined;
  return {
    operationId: described.id,
    tags: ['sign-in'],
    summary,
    security: access === 'everybody' ? [] : [{ session: [] }],
    ...(inPath.length > 0 && {
      parameters: inPath.map((name) => ({
        name,
        in: 'path',
        required: true,
        schema: { type: 'string' },
        example: described.exampleInput?.[name],
      })),
    }),
    ...(takesBody && { requestBody: bodyOf(described.input!, described.exampleInput) }),
    responses: {
      [described.status]: {
        description: described.status === '303' ? 'Redirects the browser.' : 'Done.',
        ...(described.response !== undefined && {
          content: {
            'application/json': { schema: book.response(described.response), example: described.exampleOutput },
          },
        }),
      },
      default: { $ref: '#/components/responses/Error' },
    },
  };
}

function bodyOf(input: z.ZodType, example: object | undefined): object {
  const { properties, required } = inputSchema(input);
  const schema = { type: 'object', properties, required, additionalProperties: false };
  return { required: true, content: { 'application/json': { schema, example } } };
}
