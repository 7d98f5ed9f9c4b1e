import type { ComponentType } from 'react';
import type { Role, Viewer } from './viewer.tsx';

export interface PageRow {
  /** Below `/console`. */
  readonly path: string;
  readonly label: string;
  readonly group: 'main' | 'account' | 'operator';
  /** Roles that have the page; everybody if it is left out. */
  readonly roles?: readonly Role[];
  /** The page's module exports its component as default and is loaded when it is opened. */
  load(): Promise<{ default: ComponentType }>;
}

/** Every page. The navigation, the routes and the palette are made from this table. */
export const PAGES: readonly PageRow[] = [
  { path: '/', label: 'Overview', group: 'main', load: () => import('../pages/overview/overview-page.tsx') },
  { path: '/keys', label: 'Keys', group: 'main', load: () => import('../pages/keys/keys-page.tsx') },
  { path: '/usage', label: 'Usage', group: 'main', load: () => import('../pages/usage/usage-page.tsx') },
  { path: '/requests', label: 'Requests', group: 'main', load: () => import('../pages/requests/requests-page.tsx') },
];

export const GROUPS = [
  { id: 'main', label: null },
  { id: 'account', label: 'Account' },
  { id: 'operator', label: 'Operator' },
] as const;

export function pagesFor({ role }: Pick<Viewer, 'role'>): readonly PageRow[] {
  return PAGES.filter(({ roles }) => roles === undefined || roles.includes(role));
}
