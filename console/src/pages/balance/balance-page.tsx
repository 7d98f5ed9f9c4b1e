import type { ReactNode } from 'react';
import type { Account } from '../../api/generated/routes.ts';
import { useApi, useRows } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ExportButton } from '../../parts/export-button.tsx';
import { Filter } from '../../parts/filter.tsx';
import { Page } from '../../parts/page.tsx';
import { Panel } from '../../parts/panel.tsx';
import { RowTable } from '../../parts/row-table.tsx';
import { AccountRequired } from '../../shell/account-required.tsx';
import { useOpenDialog } from '../../shell/open-dialog.ts';
import { useFilters } from '../../shell/search.ts';
import { useViewer } from '../../shell/viewer.tsx';
import { AddCreditDialog } from './add-credit.tsx';
import { BalanceFigures } from './balance-figures.tsx';
import { ENTRY_COLUMNS, ENTRY_TYPES } from './entry-columns.tsx';

const PAGE_ROWS = 100;

/** The balance of an account, and every entry that led to it. */
export default function BalancePage(): ReactNode {
  return <AccountRequired title="Balance">{(account) => <AccountBalance account={account} />}</AccountRequired>;
}

function AccountBalance({ account }: { readonly account: Account }): ReactNode {
  const { search, change } = useFilters();
  const { isOperator, role, me } = useViewer();
  const balance = useApi('GET /accounts/{account}/balance', { account: account.id }, { refetchMs: 15_000 });
  // A member sees what is left, as every caller does, but not the entries.
  const seesEntries = role !== 'member';
  const canCredit = isOperator && !me.read_only && account.status !== 'closed';
  const isCrediting = useOpenDialog('credit', canCredit);
  return (
    <Page
      title="Balance"
      actions={
        <>
          {seesEntries ? (
            <ExportButton
              route="GET /accounts/{account}/entries"
              input={{ account: account.id }}
              name={`entries-${account.name}`}
              {...(search.type === undefined ? {} : { whole: 'All entries' })}
            />
          ) : null}
          {canCredit ? (
            <Button tone="primary" onClick={() => change({ dialog: 'credit' })}>
              Add credit
            </Button>
          ) : null}
        </>
      }
    >
      <BalanceFigures balance={balance} account={account} />
      {seesEntries ? (
        <Entries account={account} />
      ) : (
        <p className="text-muted">Owners and viewers of the account also see its credits and monthly charges.</p>
      )}
      {isCrediting ? <AddCreditDialog account={account} onClose={() => change({ dialog: undefined })} /> : null}
    </Page>
  );
}

function Entries({ account }: { readonly account: Account }): ReactNode {
  const { search, change } = useFilters();
  const entries = useRows('GET /accounts/{account}/entries', { account: account.id, limit: PAGE_ROWS });
  const type = search.type ?? 'all';
  const rows = entries.rows.filter((entry) => type === 'all' || entry.type === type);
  return (
    <Panel
      title="Entries"
      actions={
        <Filter
          label="Type"
          value={type}
          choices={ENTRY_TYPES}
          onChange={(value) => change({ type: value === 'all' ? undefined : value })}
        />
      }
    >
      <RowTable
        label="Entries"
        bleed={false}
        pages={entries}
        rows={rows}
        isSearch={type !== 'all'}
        columns={ENTRY_COLUMNS}
        idOf={({ id, type: kind }) => `${kind}-${id}`}
        empty={
          entries.rows.length > 0 ? (
            <EmptyState title="No entry of this type">Choose another type above.</EmptyState>
          ) : (
            <EmptyState title="No entries yet">
              Credits, refunds, monthly charges and amounts that running calls hold appear here.
            </EmptyState>
          )
        }
      />
      {entries.rows.length === 0 ? null : (
        <p className="px-4 py-3 text-small text-muted">
          The balance has the charge of a call at once; the entry of its month has it about an hour later.
        </p>
      )}
    </Panel>
  );
}
