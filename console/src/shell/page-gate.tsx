import { Outlet, useRouterState } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { EmptyState } from '../parts/empty-state.tsx';
import { Page } from '../parts/page.tsx';
import { PAGES, pagesFor } from './pages.ts';
import { useViewer } from './viewer.tsx';

const LIST = new Intl.ListFormat('en');

/** The page of the address, or why there is nothing on it for whoever looks: a link may come from somebody with another role. */
export function PageGate(): ReactNode {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const viewer = useViewer();
  const page = PAGES.find((each) => each.path === path);
  if (page === undefined || page.group === 'own') return <Outlet />;
  if (!viewer.isOperator && viewer.accounts.length === 0)
    return (
      <Page title={page.label}>
        <EmptyState title="You have no role in any account">
          Ask the operator, or an owner of your account, for an invitation. Then open this page again.
        </EmptyState>
      </Page>
    );
  if (pagesFor(viewer).includes(page)) return <Outlet />;
  const roles = LIST.format((page.roles ?? []).map((role) => `${role}s`));
  return (
    <Page title={page.label}>
      <EmptyState title="Your role does not have this page">
        It is for {roles}. In “{viewer.account?.name}” you are{' '}
        {viewer.role === 'owner' ? 'an owner' : `a ${viewer.role}`}.
      </EmptyState>
    </Page>
  );
}
