import { z } from 'zod';
import { PERSON_PREFIX, SESSION_PREFIX } from '../../canonical/id-prefixes.ts';
import type { PersonView, SessionView } from '../../operator/people-view.ts';
import type { ListView } from '../../operator/view.ts';
import { acceptanceInput } from '../../signin/accept-invitation.ts';
import type { changePassword, endOwnSession, OwnSessionView } from '../../signin/own-sessions.ts';
import { ownSessionChoice, passwordChange } from '../../signin/own-sessions.ts';
import { signInInput, type WaysToSignIn } from '../../signin/sign-in.ts';
import { person } from '../resources/people.ts';
import { session } from '../resources/sessions.ts';
import { id, listOf } from '../schema-fields.ts';
import { SIGN_IN_ROUTES, type SignInRoute } from '../sign-in/routes.ts';
import type { PathItems } from './management-paths.ts';
import { inputSchema, type SchemaBook } from './schema-book.ts';

interface Described {
  readonly id: string;
  readonly status: '200' | '201' | '303';
  readonly input?: z.ZodType;
  /** Absent for a response without a body. */
  readonly response?: z.ZodType;
}

const waysToSignIn = z.object({
  object: z.literal('sign_in'),
  password: z.boolean(),
  single_sign_on: z.object({ issuer: z.string(), start: z.string() }).nullable(),
  unavailable: z.string().nullable().describe('Why nobody can sign in; null if people can.'),
});
const ended = z.object({ object: z.literal('session'), id: id(SESSION_PREFIX), status: z.literal('ended') });
const ownSession = session.extend({ current: z.boolean() }).meta({ id: 'OwnSession' });

const passwordChanged = z.object({ object: z.literal('person'), id: id(PERSON_PREFIX), password: z.literal(true) });

/** Does not compile unless the schema describes exactly the view. */
function exactly<View>() {
  return <Schema extends z.ZodType<View>>(schema: [View] extends [z.output<Schema>] ? Schema : never): z.ZodType =>
    schema as unknown as z.ZodType;
}
type Returned<Run extends (...given: never[]) => Promise<unknown>> = Awaited<ReturnType<Run>>;

/** By method and path. A test checks that every route of sign-in is here. */
const DESCRIBED: Readonly<Record<string, Described>> = {
  'GET /sign-in': { id: 'signInWays', status: '200', response: exactly<WaysToSignIn>()(waysToSignIn) },
  'POST /sign-in': { id: 'signIn', status: '201', input: signInInput, response: exactly<SessionView>()(session) },
  'POST /invitations/accept': {
    id: 'invitationsAccept',
    status: '200',
    input: acceptanceInput,
    response: exactly<PersonView>()(person),
  },
  'GET /sso/start': { id: 'ssoStart', status: '303' },
  'GET /sso/callback': { id: 'ssoCallback', status: '303' },
  'POST /sso/link': {
    id: 'ssoLink',
    status: '200',
    response: z.object({ object: z.literal('sso_link'), url: z.string() }),
  },
  'POST /sign-out': { id: 'signOut', status: '200', response: exactly<Returned<typeof endOwnSession>>()(ended) },
  'POST /me/password': {
    id: 'changePassword',
    status: '200',
    input: passwordChange,
    response: exactly<Returned<typeof changePassword>>()(passwordChanged),
  },
  'GET /me/sessions': {
    id: 'ownSessions',
    status: '200',
    response: exactly<ListView<OwnSessionView>>()(listOf(ownSession)),
  },
  'DELETE /me/sessions/{session}': {
    id: 'endOwnSession',
    status: '200',
    input: ownSessionChoice,
    response: exactly<Returned<typeof endOwnSession>>()(ended),
  },
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
      parameters: inPath.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    }),
    ...(takesBody && { requestBody: bodyOf(described.input!) }),
    responses: {
      [described.status]: {
        description: described.status === '303' ? 'Sends the browser on.' : 'Done.',
        ...(described.response !== undefined && {
          content: { 'application/json': { schema: book.response(described.response) } },
        }),
      },
      default: { $ref: '#/components/responses/Error' },
    },
  };
}

function bodyOf(input: z.ZodType): object {
  const { properties, required } = inputSchema(input);
  return {
    required: true,
    content: { 'application/json': { schema: { type: 'object', properties, required, additionalProperties: false } } },
  };
}
