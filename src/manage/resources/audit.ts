import { type ManageRoute, OWNER } from '../route.ts';

export const AUDIT_ROUTES: readonly ManageRoute[] = [
  {
    method: 'GET',
    path: '/audit',
    verb: 'audit.list',
    access: OWNER,
    scope: 'account',
    summary: 'Who changed what, the newest first.',
  },
];
