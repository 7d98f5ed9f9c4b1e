import type { ReactNode } from 'react';
import type { Webhook } from '../../api/generated/routes.ts';
import { useApi } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { MissingDrawer } from '../../parts/missing-drawer.tsx';
import { formatCount } from '../../parts/money-format.ts';
import { Page } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Ago } from '../../parts/time.tsx';
import { useFilters } from '../../shell/search.ts';
import { useAccountInput, useViewer } from '../../shell/viewer.tsx';
import { PutWebhookDialog } from './put-webhook.tsx';
import { WebhookDrawer } from './webhook-drawer.tsx';
import { WebhookState } from './webhook-state.tsx';

/** URLs that events are sent to: those of the chosen account, or of the operator. */
export default function WebhooksPage(): ReactNode {
  const { search, change } = useFilters();
  const { account, canManage } = useViewer();
  const scope = useAccountInput();
  const webhooks = useApi('GET /webhooks', scope, { refetchMs: 15_000 });
  const add = canManage ? (
    <Button tone="primary" onClick={() => change({ dialog: 'webhook' })}>
      New webhook
    </Button>
  ) : null;
  const open = webhooks.data?.data.find(({ name }) => name === search.open);
  return (
    <Page title={account === null ? 'Webhooks of the operator' : 'Webhooks'} bleed actions={add}>
      {webhooks.error === null ? (
        <Table
          label="Webhooks"
          bleed
          columns={COLUMNS}
          rows={webhooks.data?.data ?? []}
          idOf={({ name }) => name}
          isPending={webhooks.isPending}
          skeletonRows={3}
          onOpen={({ name }) => change({ open: name })}
          openId={search.open ?? null}
          empty={
            <EmptyState title="No webhook yet" action={add}>
              A webhook gets a signed POST request when an alert comes or a job ends, so that a pager or a program can
              act on it.
            </EmptyState>
          }
        />
      ) : (
        <ErrorPanel error={webhooks.error} again={() => void webhooks.refetch()} />
      )}
      {webhooks.data !== undefined && search.open !== undefined && open === undefined ? (
        <MissingDrawer
          title="Webhook"
          missing={`There is no webhook “${search.open}” here`}
          list="webhooks"
          onClose={() => change({ open: undefined })}
        >
          It may belong to another account, or have been removed.
        </MissingDrawer>
      ) : null}
      {open === undefined ? null : (
        <WebhookDrawer key={open.name} webhook={open} onClose={() => change({ open: undefined })} />
      )}
      {search.dialog === 'webhook' ? (
        <PutWebhookDialog before={null} onClose={() => change({ dialog: undefined })} />
      ) : null}
    </Page>
  );
}

const COLUMNS: readonly Column<Webhook>[] = [
  {
    id: 'name',
    head: 'Name',
    fluid: true,
    cell: ({ name }) => (
      <span title={name} className="block truncate font-medium">
        {name}
      </span>
    ),
  },
  { id: 'state', head: 'State', cell: (webhook) => <WebhookState webhook={webhook} /> },
  {
    id: 'url',
    head: 'URL',
    wideOnly: true,
    fluid: true,
    cell: ({ url }) => <span className="block truncate font-mono text-small">{url}</span>,
  },
  {
    id: 'events',
    head: 'Events',
    wideOnly: true,
    cell: ({ events }) => (
      <span className="block max-w-32 truncate roomy:max-w-48">{events === null ? 'all' : events.join(', ')}</span>
    ),
  },
  { id: 'pending', head: 'Waiting', align: 'right', wideOnly: true, cell: ({ pending }) => formatCount(pending) },
  {
    id: 'delivered',
    head: 'Last delivered',
    align: 'right',
    cell: ({ last_delivered_at }) => <Ago at={last_delivered_at} none="never" />,
  },
];
