import { type ReactNode, useState } from 'react';
import type { Account, ProviderKey } from '../../api/generated/routes.ts';
import { useApi, useChange } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Chip } from '../../parts/chip.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { IconButton } from '../../parts/icon-button.tsx';
import { Menu } from '../../parts/menu.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { Page } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Ago } from '../../parts/time.tsx';
import { AccountRequired } from '../../shell/account-required.tsx';
import { useFilters } from '../../shell/search.ts';
import { useViewer } from '../../shell/viewer.tsx';
import { StoreProviderKeyDialog } from './store-provider-key.tsx';

/** Keys of the account's own deployments at a provider. The keys themselves are sealed and never shown. */
export default function ProviderKeysPage(): ReactNode {
  return <AccountRequired title="Provider keys">{(account) => <Stored account={account} />}</AccountRequired>;
}

function Stored({ account }: { readonly account: Account }): ReactNode {
  const { search, change } = useFilters();
  const { canManage } = useViewer();
  const keys = useApi('GET /accounts/{account}/provider-keys', { account: account.id });
  const [removing, setRemoving] = useState<ProviderKey | null>(null);
  const store = canManage ? (
    <Button tone="primary" onClick={() => change({ dialog: 'store' })}>
      Store a key
    </Button>
  ) : null;
  // A gateway without a master key stores no provider keys at all, and says so.
  const isOff = keys.error !== null && [409, 501, 503].includes(keys.error.status);
  return (
    <Page title="Provider keys" bleed actions={isOff ? null : store}>
      {keys.error === null ? (
        <Table
          label="Provider keys"
          bleed
          columns={columnsFor(account, canManage, setRemoving)}
          rows={keys.data?.data ?? []}
          idOf={({ provider }) => provider}
          isPending={keys.isPending}
          skeletonRows={2}
          empty={
            <EmptyState title="No provider key is stored" action={store}>
              Store the key of your own deployment at a cloud provider, and call it as{' '}
              <code className="font-mono text-small">cloud/deployment-name</code>. The provider bills you; the gateway
              charges nothing for the tokens.
            </EmptyState>
          }
        />
      ) : isOff ? (
        <EmptyState title="Provider keys cannot be stored here">{keys.error.message}</EmptyState>
      ) : (
        <ErrorPanel error={keys.error} again={() => void keys.refetch()} />
      )}
      {removing === null ? null : (
        <RemoveDialog account={account} stored={removing} onClose={() => setRemoving(null)} />
      )}
      {search.dialog === 'store' ? (
        <StoreProviderKeyDialog
          account={account}
          stored={keys.data?.data ?? []}
          onClose={() => change({ dialog: undefined })}
        />
      ) : null}
    </Page>
  );
}

function columnsFor(
  account: Account,
  canManage: boolean,
  onRemove: (key: ProviderKey) => void,
): readonly Column<ProviderKey>[] {
  return [
    { id: 'provider', head: 'Provider', cell: ({ provider }) => <span className="font-medium">{provider}</span> },
    {
      id: 'last',
      head: 'Key',
      cell: ({ last_four }) => <span className="font-mono text-small">…{last_four}</span>,
    },
    { id: 'state', head: 'State', cell: (key) => <StoredState stored={key} /> },
    {
      id: 'url',
      head: 'Resource URL',
      wideOnly: true,
      cell: ({ base_url }) => <span className="block max-w-96 truncate font-mono text-small">{base_url}</span>,
    },
    {
      id: 'used',
      head: 'Last used',
      align: 'right',
      wideOnly: true,
      cell: ({ last_used_at }) => <Ago at={last_used_at} none="never" />,
    },
    {
      id: 'created',
      head: 'Stored',
      align: 'right',
      wideOnly: true,
      cell: ({ created_at }) => <Ago at={created_at} />,
    },
    ...(canManage
      ? [
          {
            id: 'actions',
            head: <span className="sr-only">Actions</span>,
            align: 'right' as const,
            cell: (key: ProviderKey) => <RowActions account={account} stored={key} onRemove={onRemove} />,
          },
        ]
      : []),
  ];
}

function StoredState({ stored }: { readonly stored: ProviderKey }): ReactNode {
  const { status, verified_at, rejected_at } = stored;
  if (status === 'unreadable')
    return (
      <Chip tone="error" title="The master key that sealed it is missing. Store the key again.">
        cannot be decrypted
      </Chip>
    );
  return (
    <span className="flex items-center gap-2">
      <Chip tone={status === 'verified' ? 'good' : 'error'}>{status}</Chip>
      <span className="hidden text-small text-muted wide:inline">
        <Ago at={status === 'verified' ? verified_at : rejected_at} />
      </span>
    </span>
  );
}

function RowActions(props: {
  readonly account: Account;
  readonly stored: ProviderKey;
  onRemove(key: ProviderKey): void;
}): ReactNode {
  const { account, stored, onRemove } = props;
  const { tell, tellFailure } = useNotices();
  const verify = useChange('POST /accounts/{account}/provider-keys/{provider}/verify', {
    refreshes: ['GET /accounts/{account}/provider-keys'],
  });
  const ask = (): void =>
    verify.mutate(
      { input: { account: account.id, provider: stored.provider } },
      {
        onSuccess: ({ status }) =>
          status === 'verified' ? tell('The provider accepts the key.') : tellFailure('The provider rejects the key.'),
        onError: ({ message }) => tellFailure(message),
      },
    );
  return (
    <Menu
      trigger={<IconButton icon="more" label={`Actions for ${stored.provider}`} disabled={verify.isPending} />}
      items={[
        { label: 'Verify again', onSelect: ask },
        { label: 'Remove', tone: 'danger', onSelect: () => onRemove(stored) },
      ]}
    />
  );
}

function RemoveDialog(props: { readonly account: Account; readonly stored: ProviderKey; onClose(): void }): ReactNode {
  const { account, stored, onClose } = props;
  const { tell } = useNotices();
  const remove = useChange('DELETE /accounts/{account}/provider-keys/{provider}', {
    refreshes: ['GET /accounts/{account}/provider-keys'],
  });
  const onSuccess = (): void => {
    tell(`The key of “${stored.provider}” is removed.`);
    onClose();
  };
  return (
    <ConfirmDialog
      title={`Remove the key of “${stored.provider}”`}
      action="Remove key"
      busy={remove.isPending}
      error={remove.error}
      onSubmit={() => remove.mutate({ input: { account: account.id, provider: stored.provider } }, { onSuccess })}
      onClose={onClose}
    >
      Calls to your own deployments are refused from now on. The key is deleted here; the provider still accepts it.
    </ConfirmDialog>
  );
}
