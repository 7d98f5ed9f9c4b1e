import type { ManageRoute } from '../route.ts';

export const MANAGEMENT_KEYS_ROUTES: readonly ManageRoute[] = [
  {
    method: 'GET',
    path: '/management-keys',
    verb: 'managementkeys.list',
    access: 'operator',
    summary: 'Management keys, of one account with `account`.',
  },
  {
    method: 'POST',
    path: '/management-keys',
    verb: 'managementkeys.mint',
    access: 'operator',
    creates: true,
    summary: 'Creates a management key, with the token of local mode. Its secret is shown only in this response.',
  },
  {
    method: 'DELETE',
    path: '/management-keys/{management_key}',
    verb: 'managementkeys.revoke',
    access: 'operator',
    summary: 'Revokes a management key for good.',
  },
];
