import type { ComponentType } from 'react';
import { AlertBadge } from './alert-badge.tsx';
import type { Role, Viewer } from './viewer.tsx';

interface PageRow {
  /** Below `/console`. */
  readonly path: string;
  readonly label: string;
  /** Pages of the group `own` are not in the navigation; a link elsewhere leads to them. */
  readonly group: 'main' | 'account' | 'operator' | 'own';
  /** Roles that have the page; everybody if it is left out. */
  readonly roles?: readonly Role[];
  /** Beside the label in the navigation. */
  readonly Badge?: ComponentType;
  /** The page's module exports its component as default and is loaded when it is opened. */
  load(): Promise<{ default: ComponentType }>;
}

const MANAGERS: readonly Role[] = ['operator', 'owner'];

/** Every page. The navigation, the routes and the palette are made from this table. */
export const PAGES: readonly PageRow[] = [
  { path: '/', label: 'Overview', group: 'main', load: () => import('../pages/overview/overview-page.tsx') },
  { path: '/keys', label: 'Keys', group: 'main', load: () => import('../pages/keys/keys-page.tsx') },
  { path: '/usage', label: 'Usage', group: 'main', load: () => import('../pages/usage/usage-page.tsx') },
  { path: '/requests', label: 'Requests', group: 'main', load: () => import('../pages/requests/requests-page.tsx') },
  { path: '/models', label: 'Models', group: 'main', load: () => import('../pages/models/models-page.tsx') },
  {
    path: '/playground',
    label: 'Playground',
    group: 'main',
    roles: ['operator', 'owner', 'member'],
    load: () => import('../pages/playground/playground-page.tsx'),
  },
  { path: '/jobs', label: 'Jobs', group: 'main', load: () => import('../pages/jobs/jobs-page.tsx') },
  { path: '/balance', label: 'Balance', group: 'account', load: () => import('../pages/balance/balance-page.tsx') },
  {
    path: '/provider-keys',
    label: 'Provider keys',
    group: 'account',
    roles: MANAGERS,
    load: () => import('../pages/provider-keys/provider-keys-page.tsx'),
  },
  {
    path: '/members',
    label: 'Members',
    group: 'account',
    roles: MANAGERS,
    load: () => import('../pages/members/members-page.tsx'),
  },
  {
    path: '/management-keys',
    label: 'Management keys',
    group: 'account',
    roles: MANAGERS,
    load: () => import('../pages/management-keys/management-keys-page.tsx'),
  },
  {
    path: '/webhooks',
    label: 'Webhooks',
    group: 'account',
    roles: MANAGERS,
    load: () => import('../pages/webhooks/webhooks-page.tsx'),
  },
  {
    path: '/alerts',
    label: 'Alerts',
    group: 'account',
    roles: MANAGERS,
    Badge: AlertBadge,
    load: () => import('../pages/alerts/alerts-page.tsx'),
  },
  {
    path: '/audit',
    label: 'Audit',
    group: 'account',
    roles: MANAGERS,
    load: () => import('../pages/audit/audit-page.tsx'),
  },
  {
    path: '/accounts',
    label: 'Accounts',
    group: 'operator',
    roles: ['operator'],
    load: () => import('../pages/accounts/accounts-page.tsx'),
  },
  {
    path: '/people',
    label: 'People',
    group: 'operator',
    roles: ['operator'],
    load: () => import('../pages/people/people-page.tsx'),
  },
  {
    path: '/hosts',
    label: 'Hosts',
    group: 'operator',
    roles: ['operator'],
    load: () => import('../pages/hosts/hosts-page.tsx'),
  },
  {
    path: '/system',
    label: 'System',
    group: 'operator',
    roles: ['operator'],
    load: () => import('../pages/system/system-page.tsx'),
  },
  { path: '/profile', label: 'Your sign-in', group: 'own', load: () => import('../pages/profile/profile-page.tsx') },
];

export const GROUPS = [
  { id: 'main', label: null },
  { id: 'account', label: 'Account' },
  { id: 'operator', label: 'Operator' },
] as const;

export function pagesFor({ role }: Pick<Viewer, 'role'>): readonly PageRow[] {
  return PAGES.filter(({ roles }) => roles === undefined || roles.includes(role));
}
