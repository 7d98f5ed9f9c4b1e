import type { ReactNode } from 'react';
import type { Account } from '../api/generated/routes.ts';
import { Button } from '../parts/button.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Page } from '../parts/page.tsx';
import { PageLink } from './page-link.tsx';
import { useFilters } from './search.ts';
import { useViewer } from './viewer.tsx';

const BUTTONS_MAX = 8;

/** For pages about one account: an operator who looks at all accounts chooses one first. */
export function AccountRequired({
  title,
  children,
}: {
  readonly title: string;
  children(account: Account): ReactNode;
}): ReactNode {
  const { account, accounts } = useViewer();
  const { change } = useFilters();
  if (account !== null) return children(account);
  if (accounts.length === 0)
    return (
      <Page title={title}>
        <EmptyState
          title="No account yet"
          action={
            <PageLink to="/accounts" search={{ dialog: 'account' }} className="font-medium text-accent underline">
              Create an account
            </PageLink>
          }
        >
          This page shows what is in an account.
        </EmptyState>
      </Page>
    );
  return (
    <Page title={title}>
      <EmptyState
        title="Choose an account"
        action={
          <span className="flex max-w-full flex-wrap justify-center gap-2">
            {accounts.slice(0, BUTTONS_MAX).map(({ id, name }) => (
              <Button key={id} className="max-w-full" onClick={() => change({ account: id })}>
                <span className="truncate">{name}</span>
              </Button>
            ))}
          </span>
        }
      >
        This page is about one account. Others are in the list at the bottom left.
      </EmptyState>
    </Page>
  );
}
