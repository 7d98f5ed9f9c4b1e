import type { ReactNode } from 'react';
import { EmptyState } from '../parts/empty-state.tsx';
import { Page } from '../parts/page.tsx';
import { PageLink } from '../shell/page-link.tsx';

export function NotFoundPage(): ReactNode {
  return (
    <Page title="Page not found">
      <EmptyState
        title="There is no such page"
        action={
          <PageLink to="/" className="font-medium text-accent underline">
            Go to the overview
          </PageLink>
        }
      />
    </Page>
  );
}
