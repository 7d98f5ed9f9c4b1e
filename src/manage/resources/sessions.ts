import type { ManageRoute } from '../route.ts';

export const SESSIONS_ROUTES: readonly ManageRoute[] = [
  {
    method: 'DELETE',
    path: '/sessions/{session}',
    verb: 'sessions.end',
    access: 'operator',
    summary: 'Ends one session.',
  },
];
