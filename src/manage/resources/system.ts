import type { ManageRoute } from '../route.ts';

export const SYSTEM_ROUTES: readonly ManageRoute[] = [
  { method: 'GET', path: '/system', verb: 'status', access: 'operator', summary: 'Version, store and server.' },
];
