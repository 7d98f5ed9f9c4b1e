import type { ManageRoute } from '../route.ts';

export const PEOPLE_ROUTES: readonly ManageRoute[] = [
  { method: 'GET', path: '/people', verb: 'people.list', access: 'operator', summary: 'All people.' },
  {
    method: 'GET',
    path: '/people/{person}',
    verb: 'people.show',
    access: 'operator',
    summary: 'A person and their roles.',
  },
  {
    method: 'PATCH',
    path: '/people/{person}',
    verb: 'people.update',
    access: 'operator',
    versioned: true,
    summary: 'Changes the name of a person, or whether they are an operator.',
  },
  {
    method: 'POST',
    path: '/people/{person}/disable',
    verb: 'people.disable',
    access: 'operator',
    summary: 'Ends the sessions of a person and revokes the management keys they minted.',
  },
  {
    method: 'POST',
    path: '/people/{person}/enable',
    verb: 'people.enable',
    access: 'operator',
    summary: 'Lets a disabled person sign in again.',
  },
  {
    method: 'POST',
    path: '/people/{person}/reset',
    verb: 'people.reset',
    access: 'operator',
    summary: 'Makes a link with which a person sets a new password.',
  },
  {
    method: 'GET',
    path: '/people/{person}/sessions',
    verb: 'people.sessions',
    access: 'operator',
    summary: 'Where a person is signed in.',
  },
  {
    method: 'POST',
    path: '/people/{person}/sign-out',
    verb: 'people.signout',
    access: 'operator',
    summary: 'Ends all sessions of a person.',
  },
];
