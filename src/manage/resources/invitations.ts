import type { ManageRoute } from '../route.ts';

export const INVITATIONS_ROUTES: readonly ManageRoute[] = [
  { method: 'GET', path: '/invitations', verb: 'invitations.list', access: 'operator', summary: 'All invitations.' },
  {
    method: 'POST',
    path: '/invitations',
    verb: 'people.invite',
    access: 'operator',
    creates: true,
    summary: 'Makes a link with which somebody can sign in. It is shown only in this response.',
  },
  {
    method: 'DELETE',
    path: '/invitations/{invitation}',
    verb: 'invitations.revoke',
    access: 'operator',
    summary: 'Revokes an invitation that is still open.',
  },
];
