import type { ManageRoute } from '../route.ts';

export const ME_ROUTES: readonly ManageRoute[] = [
  { method: 'GET', path: '/me', verb: 'me', access: 'anybody', summary: 'Who the request is from, and its roles.' },
];
