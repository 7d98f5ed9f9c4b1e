import { type ManageRoute, OWNER } from '../route.ts';

export const MEMBERS_ROUTES: readonly ManageRoute[] = [
  {
    method: 'GET',
    path: '/accounts/{account}/members',
    verb: 'members.list',
    access: OWNER,
    scope: 'account',
    summary: 'The people with a role in an account.',
  },
  {
    method: 'PUT',
    path: '/accounts/{account}/members/{person}',
    verb: 'members.put',
    access: OWNER,
    scope: 'account',
    summary: 'Gives a person a role in an account, or replaces role and cap.',
  },
  {
    method: 'DELETE',
    path: '/accounts/{account}/members/{person}',
    verb: 'members.remove',
    access: OWNER,
    scope: 'account',
    summary: 'Takes the role in an account away.',
  },
];
