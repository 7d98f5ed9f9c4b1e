import { z } from 'zod';
import { PERSON_PREFIX, SESSION_PREFIX } from '../../canonical/id-prefixes.ts';
import type { SessionView } from '../../operator/people-view.ts';
import { route } from '../route.ts';
import { EXAMPLE_IDS, EXAMPLE_TIME, id, seconds } from '../schema-fields.ts';

export const session = z
  .object({
    object: z.literal('session'),
    id: id(SESSION_PREFIX),
    person: id(PERSON_PREFIX),
    created: seconds,
    last_used: seconds,
    expires: seconds,
    address: z.string(),
    user_agent: z.string(),
  })
  .meta({ id: 'Session' });

export const SESSION: SessionView = {
  object: 'session',
  id: EXAMPLE_IDS.session,
  person: EXAMPLE_IDS.person,
  created: EXAMPLE_TIME,
  last_used: EXAMPLE_TIME + 600,
  expires: EXAMPLE_TIME + 604_800,
  address: '203.0.113.7',
  user_agent: 'Mozilla/5.0',
};

export const SESSIONS_ROUTES = [
  route({
    method: 'DELETE',
    path: '/sessions/{session}',
    verb: 'sessions.end',
    access: 'operator',
    summary: 'Ends one session.',
    response: z.object({ object: z.literal('session'), id: id(SESSION_PREFIX), status: z.literal('ended') }),
    example: {
      input: { session: EXAMPLE_IDS.session },
      output: { object: 'session', id: EXAMPLE_IDS.session, status: 'ended' },
    },
  }),
];
