import type { ReactNode } from 'react';
import type { Input } from '../../api/client.ts';
import type { Alert } from '../../api/generated/routes.ts';
import { useChange, useRows } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Chip } from '../../parts/chip.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Filter } from '../../parts/filter.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { Page } from '../../parts/page.tsx';
import { RowTable } from '../../parts/row-table.tsx';
import { Segmented } from '../../parts/segmented.tsx';
import type { Column } from '../../parts/table.tsx';
import { Ago } from '../../parts/time.tsx';
import { useFilters } from '../../shell/search.ts';
import { useAccountInput, useViewer } from '../../shell/viewer.tsx';
import { AlertSettingsDialog } from './alert-settings.tsx';
import { KIND_CHOICES, kindLabel } from './alert-words.ts';

type Status = NonNullable<Input<'GET /alerts'>['status']>;

const STATES: readonly { readonly value: Status; readonly label: string }[] = [
  { value: 'open', label: 'Open' },
  { value: 'unacknowledged', label: 'Not seen' },
  { value: 'all', label: 'All' },
];
const PAGE_ROWS = 100;
/** As often as the number beside the page's name. */
const REFETCH_MS = 30_000;

/** What somebody should know: balances, caps, hosts, the disk, the ledger. */
export default function AlertsPage(): ReactNode {
  const { search, change } = useFilters();
  const { account, canManage } = useViewer();
  const scope = useAccountInput();
  const status = STATES.find(({ value }) => value === search.status)?.value ?? 'open';
  const kind = search.kind as Alert['kind'] | undefined;
  const alerts = useRows(
    'GET /alerts',
    { ...scope, status, ...(kind === undefined ? {} : { kind }), limit: PAGE_ROWS },
    { refetchMs: REFETCH_MS },
  );
  const columns = useColumns();
  return (
    <Page
      title="Alerts"
      bleed
      actions={
        account !== null && canManage ? (
          <Button onClick={() => change({ dialog: 'settings' })}>Thresholds</Button>
        ) : null
      }
      filters={
        <>
          <Segmented label="State" value={status} choices={STATES} onChange={(value) => change({ status: value })} />
          <Filter
            label="About"
            value={kind ?? 'any'}
            choices={KIND_CHOICES}
            onChange={(value) => change({ kind: value === 'any' ? undefined : value })}
          />
        </>
      }
    >
      <RowTable
        label="Alerts"
        pages={alerts}
        columns={columns}
        idOf={({ id }) => id}
        empty={<NoAlerts status={status} isFiltered={kind !== undefined} />}
      />
      {search.dialog === 'settings' && account !== null ? (
        <AlertSettingsDialog account={account} onClose={() => change({ dialog: undefined })} />
      ) : null}
    </Page>
  );
}

function NoAlerts({ status, isFiltered }: { readonly status: Status; readonly isFiltered: boolean }): ReactNode {
  if (isFiltered)
    return (
      <EmptyState title="No alert matches the filters">Choose another state, or alerts about anything.</EmptyState>
    );
  const title =
    status === 'open'
      ? 'Nothing needs attention'
      : status === 'unacknowledged'
        ? 'Every alert has been seen'
        : 'No alerts yet';
  return (
    <EmptyState title={title}>
      An alert comes when a balance runs low, a key or a person nears a cap, a host fails, or the ledger does not add
      up. Webhooks send it on.
    </EmptyState>
  );
}

function useColumns(): readonly Column<Alert>[] {
  const { account, accounts, canManage } = useViewer();
  return [
    { id: 'state', head: 'State', cell: (alert) => <AlertState alert={alert} /> },
    {
      id: 'message',
      head: 'What',
      cell: ({ message }) => <span className="block max-w-[560px] py-0.5 leading-5 wrap-anywhere">{message}</span>,
    },
    { id: 'kind', head: 'About', wideOnly: true, cell: ({ kind }) => <Chip>{kindLabel(kind)}</Chip> },
    ...(account === null
      ? [
          {
            id: 'account',
            head: 'Account',
            wideOnly: true,
            cell: (alert: Alert) => accounts.find(({ id }) => id === alert.account)?.name ?? 'operator',
          },
        ]
      : []),
    {
      id: 'created',
      head: 'Since',
      align: 'right',
      wideOnly: true,
      className: 'whitespace-nowrap',
      cell: ({ created }) => <Ago at={created} />,
    },
    {
      id: 'seen',
      head: 'Seen by',
      align: 'right',
      cell: (alert) => <Seen alert={alert} canAcknowledge={canManage} />,
    },
  ];
}

function AlertState({ alert }: { readonly alert: Alert }): ReactNode {
  if (alert.resolved_at === null) return <Chip tone="warning">open</Chip>;
  return (
    <span className="flex items-center gap-2">
      <Chip tone="good">over</Chip>
      <span className="hidden text-small text-muted wide:inline">
        <Ago at={alert.resolved_at} />
      </span>
    </span>
  );
}

function Seen({ alert, canAcknowledge }: { readonly alert: Alert; readonly canAcknowledge: boolean }): ReactNode {
  const { tellFailure } = useNotices();
  const acknowledge = useChange('POST /alerts/{alert}/acknowledge', { refreshes: ['GET /alerts'] });
  if (alert.acknowledged_at !== null)
    return (
      <span className="text-muted">
        <span className="hidden max-w-40 truncate align-bottom wide:inline-block">{alert.acknowledged_by}</span>
        <span className="hidden wide:inline"> · </span>
        <Ago at={alert.acknowledged_at} />
      </span>
    );
  if (!canAcknowledge) return <span className="text-muted">nobody</span>;
  return (
    <Button
      busy={acknowledge.isPending}
      onClick={() =>
        acknowledge.mutate({ input: { alert: alert.id } }, { onError: ({ message }) => tellFailure(message) })
      }
    >
      Acknowledge
    </Button>
  );
}
