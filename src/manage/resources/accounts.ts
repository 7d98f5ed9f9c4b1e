import { type ManageRoute, VIEWER } from '../route.ts';

export const ACCOUNTS_ROUTES: readonly ManageRoute[] = [
  {
    method: 'GET',
    path: '/accounts',
    verb: 'own.accounts',
    access: 'anybody',
    summary: 'All accounts for an operator, else those in which the caller has a role.',
  },
  {
    method: 'POST',
    path: '/accounts',
    verb: 'accounts.create',
    access: 'operator',
    creates: true,
    summary: 'Creates an account.',
  },
  {
    method: 'POST',
    path: '/accounts/{account}/credits',
    verb: 'accounts.credit',
    access: 'operator',
    creates: true,
    summary: 'Adds money to an account, or removes it. The same reference is credited once.',
  },
  {
    method: 'GET',
    path: '/accounts/{account}/balance',
    verb: 'balance.show',
    access: VIEWER,
    scope: 'account',
    summary: 'The balance of an account.',
  },
];
