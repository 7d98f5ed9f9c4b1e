import { type ReactNode, useState } from 'react';
import type { ManagementKey } from '../../api/generated/routes.ts';
import { useChange, useRows } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Chip, type Tone } from '../../parts/chip.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { Page } from '../../parts/page.tsx';
import { RowTable } from '../../parts/row-table.tsx';
import type { Column } from '../../parts/table.tsx';
import { Ago } from '../../parts/time.tsx';
import { useFilters } from '../../shell/search.ts';
import { useAccountInput, useViewer } from '../../shell/viewer.tsx';
import { NamedKey } from '../keys/key-hint.tsx';
import { MintManagementKeyDialog } from './mint-management-key.tsx';

const PAGE_ROWS = 200;

/** Keys with which scripts use the management API. They cannot pay for calls. */
export default function ManagementKeysPage(): ReactNode {
  const { search, change } = useFilters();
  const { me, canManage } = useViewer();
  const account = useAccountInput();
  const [revoking, setRevoking] = useState<ManagementKey | null>(null);
  const keys = useRows('GET /management-keys', { ...account, limit: PAGE_ROWS });
  const columns = useColumns(setRevoking);
  // A management key cannot create another one, which would outlive it.
  const mint =
    canManage && me.kind !== 'management_key' ? (
      <Button tone="primary" onClick={() => change({ dialog: 'mint' })}>
        New management key
      </Button>
    ) : null;
  return (
    <Page title="Management keys" bleed actions={mint}>
      <RowTable
        label="Management keys"
        pages={keys}
        columns={columns}
        idOf={({ id }) => id}
        empty={
          <EmptyState title="No management keys yet" action={mint}>
            A script needs one to use the management API: to mint keys, read reports or add credit. It always expires,
            and it cannot make calls to models.
          </EmptyState>
        }
      />
      {revoking === null ? null : <RevokeDialog managementKey={revoking} onClose={() => setRevoking(null)} />}
      {search.dialog === 'mint' ? <MintManagementKeyDialog onClose={() => change({ dialog: undefined })} /> : null}
    </Page>
  );
}

const TONES: Readonly<Record<ManagementKey['status'], Tone>> = { active: 'good', expired: 'neutral', revoked: 'error' };

function useColumns(onRevoke: (key: ManagementKey) => void): readonly Column<ManagementKey>[] {
  const { accounts, canManage, role } = useViewer();
  const isOperator = role === 'operator';
  return [
    {
      id: 'name',
      head: 'Name',
      fluid: true,
      cell: ({ name, hint }) => <NamedKey name={name} hint={hint} />,
    },
    { id: 'state', head: 'State', cell: ({ status }) => <Chip tone={TONES[status]}>{status}</Chip> },
    {
      id: 'role',
      head: 'May do what',
      wideOnly: true,
      cell: (key) => (
        <span className="block max-w-40 truncate roomy:max-w-64">
          {roleText(key, accounts.find(({ id }) => id === key.account)?.name ?? key.account)}
        </span>
      ),
    },
    {
      id: 'minted',
      head: 'Minted by',
      roomyOnly: true,
      cell: ({ minted_by_name }) => (
        <span title={minted_by_name ?? undefined} className="block max-w-48 truncate text-muted">
          {minted_by_name ?? (isOperator ? 'the command line' : 'operator')}
        </span>
      ),
    },
    {
      id: 'used',
      head: 'Last used',
      align: 'right',
      wideOnly: true,
      cell: ({ last_used }) => <Ago at={last_used} none="never" />,
    },
    {
      id: 'expires',
      head: 'Expires',
      align: 'right',
      className: 'whitespace-nowrap',
      cell: ({ expires_at }) => <Ago at={expires_at} none="never" isAhead />,
    },
    {
      id: 'actions',
      head: <span className="sr-only">Actions</span>,
      align: 'right',
      cell: (key) =>
        canManage && key.status === 'active' ? (
          <Button tone="danger" onClick={() => onRevoke(key)}>
            Revoke
          </Button>
        ) : null,
    },
  ];
}

function roleText({ role, read_only }: ManagementKey, account: string | null): string {
  const what = account === null ? role : `${role} of ${account}`;
  return read_only ? `${what}, reads only` : what;
}

function RevokeDialog(props: { readonly managementKey: ManagementKey; onClose(): void }): ReactNode {
  const { managementKey, onClose } = props;
  const { tell } = useNotices();
  const revoke = useChange('DELETE /management-keys/{management_key}', { refreshes: ['GET /management-keys'] });
  const onSuccess = (): void => {
    tell(`“${managementKey.name}” is revoked.`);
    onClose();
  };
  return (
    <ConfirmDialog
      title={`Revoke “${managementKey.name}”`}
      action="Revoke key"
      busy={revoke.isPending}
      error={revoke.error}
      onSubmit={() => revoke.mutate({ input: { management_key: managementKey.id } }, { onSuccess })}
      onClose={onClose}
    >
      Scripts that use it are refused at once. This cannot be undone. Invitations that it made end too.
    </ConfirmDialog>
  );
}
