import { type ManageRoute, OWNER, VIEWER } from '../route.ts';

export const KEYS_ROUTES: readonly ManageRoute[] = [
  {
    method: 'GET',
    path: '/keys',
    verb: 'keys.list',
    access: VIEWER,
    scope: 'account',
    summary: 'Gateway keys, of one account with `account`.',
  },
  {
    method: 'POST',
    path: '/keys',
    verb: 'keys.mint',
    access: OWNER,
    scope: 'account',
    creates: true,
    summary: 'Creates a gateway key. Its secret is shown only in this response.',
  },
  {
    method: 'PATCH',
    path: '/keys/{key}',
    verb: 'keys.update',
    access: OWNER,
    scope: 'key',
    summary: 'Changes what is named.',
  },
  {
    method: 'POST',
    path: '/keys/{key}/revoke',
    verb: 'keys.revoke',
    access: OWNER,
    scope: 'key',
    summary: 'Revokes a gateway key for good.',
  },
];
