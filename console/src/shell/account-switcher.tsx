import type { ReactNode } from 'react';
import { Icon } from '../parts/icons.tsx';
import { Menu } from '../parts/menu.tsx';
import { Money } from '../parts/money.tsx';
import { formatCount, formatCounted } from '../parts/money-format.ts';
import { useFilters } from './search.ts';
import { useViewer, type Viewer } from './viewer.tsx';

/** Names of filters whose values belong to one account: in another one there is no such key, job or person. */
const OF_ONE_ACCOUNT = ['open', 'dialog', 'key', 'group', 'chain', 'actor', 'subject'];

/** The account that is looked at, what it has, and the way to another one. */
export function AccountSwitcher(): ReactNode {
  const viewer = useViewer();
  const { change } = useFilters();
  const { accounts, account, isOperator } = viewer;
  if (accounts.length <= 1)
    return (
      <div className="rounded-panel border border-line bg-panel px-3 py-2">
        <AccountFacts {...viewer} />
      </div>
    );
  const all = isOperator
    ? [{ label: 'All accounts', checked: account === null, onSelect: () => change({ account: undefined }) }]
    : [];
  const items = accounts.map(({ id, name }) => ({
    label: name,
    checked: id === account?.id,
    onSelect: () => change({ ...Object.fromEntries(OF_ONE_ACCOUNT.map((of) => [of, undefined])), account: id }),
  }));
  return (
    <Menu
      align="start"
      items={[...all, ...items]}
      trigger={
        <button
          type="button"
          className="flex w-full items-center justify-between gap-2 rounded-panel border border-line bg-panel px-3 py-2 text-left hover:bg-raised"
        >
          <AccountFacts {...viewer} />
          <Icon name="chevron" size={12} />
        </button>
      }
    />
  );
}

function AccountFacts({ account, accounts, hasMoreAccounts }: Viewer): ReactNode {
  return (
    <span className="flex min-w-0 flex-col">
      <span className="truncate font-semibold">{account?.name ?? 'All accounts'}</span>
      <span className="truncate text-muted">
        {account === null ? (
          hasMoreAccounts ? (
            `${formatCount(accounts.length)}+ accounts`
          ) : (
            formatCounted(accounts.length, 'account')
          )
        ) : (
          <Available {...account} />
        )}
      </span>
    </span>
  );
}

function Available({ kind, status, available_nanousd }: NonNullable<Viewer['account']>): ReactNode {
  if (status !== 'active') return status;
  if (kind === 'unlimited') return 'No limit';
  return (
    <>
      <Money nanousd={available_nanousd} /> available
    </>
  );
}
