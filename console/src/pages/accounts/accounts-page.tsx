import { type ReactNode, useState } from 'react';
import type { Account } from '../../api/generated/routes.ts';
import { useRows } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Chip, type Tone } from '../../parts/chip.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ExportButton } from '../../parts/export-button.tsx';
import { IconButton } from '../../parts/icon-button.tsx';
import { Menu } from '../../parts/menu.tsx';
import { Money } from '../../parts/money.tsx';
import { Page } from '../../parts/page.tsx';
import { RowTable } from '../../parts/row-table.tsx';
import type { Column } from '../../parts/table.tsx';
import { Ago } from '../../parts/time.tsx';
import { FilterInput } from '../../shell/filter-input.tsx';
import { PageLink } from '../../shell/page-link.tsx';
import { useFilters } from '../../shell/search.ts';
import { useViewer } from '../../shell/viewer.tsx';
import { AddCreditDialog } from '../balance/add-credit.tsx';
import { type AccountAction, AccountDialog, NewAccountDialog } from './account-dialogs.tsx';

const PAGE_ROWS = 200;

interface Editing {
  readonly account: Account;
  readonly action: AccountAction | 'credit';
}

/** Every account, what it has and what it spent. */
export default function AccountsPage(): ReactNode {
  const { search, change } = useFilters();
  const { me } = useViewer();
  const accounts = useRows('GET /accounts', { limit: PAGE_ROWS });
  const [editing, setEditing] = useState<Editing | null>(null);
  const text = (search.q ?? '').trim().toLowerCase();
  const shown = accounts.rows.filter(({ name, id }) => `${name} ${id}`.toLowerCase().includes(text));
  const create = me.read_only ? null : (
    <Button tone="primary" onClick={() => change({ dialog: 'account' })}>
      New account
    </Button>
  );
  const close = (): void => setEditing(null);
  // As it was read last: after a conflict, what somebody else has changed is shown and the next attempt can succeed.
  const edited = accounts.rows.find(({ id }) => id === editing?.account.id) ?? editing?.account;
  return (
    <Page
      title="Accounts"
      bleed
      actions={
        <>
          <ExportButton
            route="GET /accounts"
            input={{}}
            name="accounts"
            {...(text === '' ? {} : { whole: 'All accounts' })}
          />
          {create}
        </>
      }
      filters={<FilterInput name="q" label="Search accounts" placeholder="Search by name or id" />}
    >
      <RowTable
        label="Accounts"
        pages={accounts}
        rows={shown}
        isSearch={text !== ''}
        columns={columnsFor(me.read_only ? null : setEditing)}
        idOf={({ id }) => id}
        empty={
          accounts.rows.length > 0 ? (
            <EmptyState title="No account matches">Search for another name.</EmptyState>
          ) : (
            <EmptyState title="No account yet" action={create}>
              An account has a balance, keys and members. Create one for each team or customer.
            </EmptyState>
          )
        }
      />
      {search.dialog === 'account' ? <NewAccountDialog onClose={() => change({ dialog: undefined })} /> : null}
      {editing === null || edited === undefined ? null : editing.action === 'credit' ? (
        <AddCreditDialog account={edited} onClose={close} />
      ) : (
        <AccountDialog account={edited} action={editing.action} onClose={close} />
      )}
    </Page>
  );
}

const TONES: Readonly<Record<Account['status'], Tone>> = { active: 'good', suspended: 'warning', closed: 'neutral' };

function columnsFor(onEdit: ((editing: Editing) => void) | null): readonly Column<Account>[] {
  return [
    {
      id: 'name',
      head: 'Account',
      fluid: true,
      cell: ({ id, name }) => (
        <PageLink to="/" search={{ account: id }} className="block truncate font-medium hover:underline">
          {name}
        </PageLink>
      ),
    },
    { id: 'state', head: 'State', cell: ({ status }) => <Chip tone={TONES[status]}>{status}</Chip> },
    {
      id: 'available',
      head: 'Available',
      align: 'right',
      cell: ({ kind, available_nanousd }) =>
        kind === 'unlimited' ? <span className="text-muted">no limit</span> : <Money nanousd={available_nanousd} />,
    },
    {
      id: 'held',
      head: 'Held',
      align: 'right',
      wideOnly: true,
      cell: ({ held_nanousd }) => <Money nanousd={held_nanousd} />,
    },
    {
      id: 'spent',
      head: 'Spent in total',
      align: 'right',
      wideOnly: true,
      cell: ({ spent_nanousd }) => <Money nanousd={spent_nanousd} />,
    },
    { id: 'created', head: 'Created', align: 'right', wideOnly: true, cell: ({ created }) => <Ago at={created} /> },
    ...(onEdit === null
      ? []
      : [
          {
            id: 'actions',
            head: <span className="sr-only">Actions</span>,
            align: 'right' as const,
            cell: (account: Account) => <AccountMenu account={account} onEdit={onEdit} />,
          },
        ]),
  ];
}

function AccountMenu({ account, onEdit }: { readonly account: Account; onEdit(editing: Editing): void }): ReactNode {
  if (account.status === 'closed') return null;
  const item = (label: string, action: Editing['action']) => ({
    label,
    onSelect: () => onEdit({ account, action }),
    ...(action === 'close' ? { tone: 'danger' as const } : {}),
  });
  return (
    <Menu
      trigger={<IconButton icon="more" label={`Actions for ${account.name}`} />}
      items={[
        item('Add credit', 'credit'),
        item('Rename', 'rename'),
        account.status === 'active' ? item('Suspend', 'suspend') : item('Resume', 'resume'),
        item('Close for good', 'close'),
      ]}
    />
  );
}
