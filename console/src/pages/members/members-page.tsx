import { type ReactNode, useState } from 'react';
import type { Account, MemberSpending } from '../../api/generated/routes.ts';
import { useRows } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Chip } from '../../parts/chip.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { IconButton } from '../../parts/icon-button.tsx';
import { Menu } from '../../parts/menu.tsx';
import { Page } from '../../parts/page.tsx';
import { Panel } from '../../parts/panel.tsx';
import { RowTable } from '../../parts/row-table.tsx';
import type { Column } from '../../parts/table.tsx';
import { Ago } from '../../parts/time.tsx';
import { AccountRequired } from '../../shell/account-required.tsx';
import { useFilters } from '../../shell/search.ts';
import { useViewer } from '../../shell/viewer.tsx';
import { SpendOfCap } from '../keys/cap-meter.tsx';
import { ChangeMemberDialog, RemoveMemberDialog } from './change-member.tsx';
import { InvitationPanel } from './invitations.tsx';
import { InviteDialog } from './invite.tsx';

const PAGE_ROWS = 200;

/** Who has a role in the account, what they may spend, and who is invited. */
export default function MembersPage(): ReactNode {
  return <AccountRequired title="Members">{(account) => <Members account={account} />}</AccountRequired>;
}

type Editing = { readonly member: MemberSpending; readonly action: 'change' | 'remove' };

function Members({ account }: { readonly account: Account }): ReactNode {
  const { search, change } = useFilters();
  const { canManage } = useViewer();
  const [editing, setEditing] = useState<Editing | null>(null);
  const members = useRows('GET /accounts/{account}/members', { account: account.id, limit: PAGE_ROWS });
  const invite = canManage ? (
    <Button tone="primary" onClick={() => change({ dialog: 'invite' })}>
      Invite
    </Button>
  ) : null;
  const close = (): void => setEditing(null);
  return (
    <Page title="Members" actions={invite}>
      <Panel title={`People in “${account.name}”`}>
        <RowTable
          label="Members"
          bleed={false}
          pages={members}
          columns={memberColumns(canManage, setEditing)}
          idOf={({ person }) => person}
          empty={
            <EmptyState title="Nobody has a role here yet" action={invite}>
              Invite people by email address. Each has keys of their own and can have a cap.
            </EmptyState>
          }
        />
      </Panel>
      <InvitationPanel account={account} />
      {editing?.action === 'change' ? <ChangeMemberDialog member={editing.member} onClose={close} /> : null}
      {editing?.action === 'remove' ? <RemoveMemberDialog member={editing.member} onClose={close} /> : null}
      {search.dialog === 'invite' ? (
        <InviteDialog account={account} onClose={() => change({ dialog: undefined })} />
      ) : null}
    </Page>
  );
}

function memberColumns(canManage: boolean, onEdit: (editing: Editing) => void): readonly Column<MemberSpending>[] {
  return [
    {
      id: 'person',
      head: 'Person',
      fluid: true,
      cell: (member) => (
        <span className="flex min-w-0 flex-col">
          <span className="font-medium wrap-anywhere">{member.name}</span>
          <span className="flex flex-wrap items-center gap-x-2 text-small text-muted">
            <span className="wrap-anywhere">{member.email}</span>
            {member.address_confirmed ? null : (
              <Chip tone="warning" title="Only the inviting owner vouches for this address.">
                not confirmed
              </Chip>
            )}
          </span>
          {/* A phone has no room for the column. */}
          <span className="text-small wide:hidden">
            <SpendOfCap {...member} />
          </span>
        </span>
      ),
    },
    { id: 'role', head: 'Role', cell: ({ role }) => <Chip tone={role === 'owner' ? 'good' : 'neutral'}>{role}</Chip> },
    { id: 'spent', head: 'Spent of cap', wideOnly: true, cell: (member) => <SpendOfCap {...member} /> },
    {
      id: 'resets',
      head: 'Resets',
      wideOnly: true,
      cell: ({ resets_at }) => <Ago at={resets_at} none="never" zone="UTC" isAhead />,
    },
    ...(canManage
      ? [
          {
            id: 'actions',
            head: <span className="sr-only">Actions</span>,
            align: 'right' as const,
            cell: (member: MemberSpending) => (
              <Menu
                trigger={<IconButton icon="more" label={`Actions for ${member.name}`} />}
                items={[
                  { label: 'Change role or cap', onSelect: () => onEdit({ member, action: 'change' }) },
                  { label: 'Remove', tone: 'danger', onSelect: () => onEdit({ member, action: 'remove' }) },
                ]}
              />
            ),
          },
        ]
      : []),
  ];
}
