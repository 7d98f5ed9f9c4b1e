import type { ReactNode } from 'react';
import type { Account, Invitation } from '../../api/generated/routes.ts';
import { type RowPages, useApi, useChange, useRows } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Chip, type Tone } from '../../parts/chip.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { Panel } from '../../parts/panel.tsx';
import { RowTable } from '../../parts/row-table.tsx';
import { Segmented } from '../../parts/segmented.tsx';
import type { Column } from '../../parts/table.tsx';
import { Ago } from '../../parts/time.tsx';
import { useFilters } from '../../shell/search.ts';
import { useViewer } from '../../shell/viewer.tsx';

const PAGE_ROWS = 200;
const STATES = [
  { value: 'open', label: 'Open' },
  { value: 'ended', label: 'Ended' },
] as const;
type State = (typeof STATES)[number]['value'];

/** Who is invited to the account; nothing as long as nobody was. */
export function InvitationPanel({ account }: { readonly account: Account }): ReactNode {
  const invitations = useInvitations({ account: account.id });
  const any = useApi('GET /invitations', { account: account.id, limit: 1 });
  const isNoneKnown = any.data === undefined || any.data.data.length === 0;
  if (isNoneKnown && invitations.rows.length === 0 && invitations.error === null) return null;
  return (
    <Panel title="Invitations" actions={<InvitationStates />}>
      <InvitationTable invitations={invitations} columns={COLUMNS} bleed={false} />
    </Panel>
  );
}

/** Those of all accounts, and the links that belong to none: for operators and for new passwords. */
export function AllInvitations(): ReactNode {
  const { accounts } = useViewer();
  const invitations = useInvitations({});
  const account: Column<Invitation> = {
    id: 'account',
    head: 'Account',
    wideOnly: true,
    cell: (invitation) => (
      <span className="block max-w-40 truncate">
        {accounts.find(({ id }) => id === invitation.account)?.name ?? invitation.account ?? '–'}
      </span>
    ),
  };
  return <InvitationTable invitations={invitations} columns={COLUMNS.toSpliced(1, 0, account)} bleed />;
}

/** Which invitations are listed. */
export function InvitationStates(): ReactNode {
  const { change } = useFilters();
  return (
    <Segmented label="State" value={useInvitationState()} choices={STATES} onChange={(status) => change({ status })} />
  );
}

/** Only the open ones if those are chosen: an account has at most a hundred of them. */
function useInvitations(of: { readonly account?: string }): RowPages<Invitation> {
  const isOpen = useInvitationState() === 'open';
  return useRows('GET /invitations', { ...of, ...(isOpen ? { status: 'open' } : {}), limit: PAGE_ROWS });
}

function useInvitationState(): State {
  return useFilters().search.status === 'ended' ? 'ended' : 'open';
}

interface InvitationTableProps {
  readonly invitations: RowPages<Invitation>;
  readonly columns: readonly Column<Invitation>[];
  readonly bleed: boolean;
}

/** The newest first. The API lists the oldest first, so all of it is read. */
function InvitationTable({ invitations, columns, bleed }: InvitationTableProps): ReactNode {
  const state = useInvitationState();
  const shown = invitations.rows.filter(({ status }) => (status === 'open') === (state === 'open')).toReversed();
  return (
    <RowTable
      label={state === 'open' ? 'Open invitations' : 'Ended invitations'}
      bleed={bleed}
      pages={invitations}
      rows={shown}
      isSearch
      columns={columns}
      idOf={({ id }) => id}
      empty={
        <p className={`text-muted ${bleed ? 'spacing-page py-4' : 'px-4 pb-4'}`}>
          {state === 'open' ? 'No invitation is open.' : 'No invitation has ended.'}
        </p>
      }
    />
  );
}

const TONES: Readonly<Record<Invitation['status'], Tone>> = {
  open: 'neutral',
  accepted: 'good',
  revoked: 'error',
  expired: 'warning',
};

const COLUMNS: readonly Column<Invitation>[] = [
  {
    id: 'email',
    head: 'Email address',
    fluid: true,
    cell: (invitation) => (
      <span className="flex flex-col py-1">
        <span className="wrap-anywhere">{invitation.email}</span>
        {invitation.status === 'open' ? (
          <span className="text-small text-muted wide:hidden">
            expires <Ago at={invitation.expires} isAhead />
          </span>
        ) : null}
      </span>
    ),
  },
  {
    id: 'role',
    head: 'Role',
    cell: ({ role, operator, resets_password }) => (
      <Chip>{resets_password ? 'new password' : operator ? 'operator' : (role ?? 'none')}</Chip>
    ),
  },
  { id: 'created', head: 'Made', align: 'right', wideOnly: true, cell: ({ created }) => <Ago at={created} /> },
  {
    id: 'expires',
    head: 'Expires',
    align: 'right',
    wideOnly: true,
    cell: ({ expires, status }) => (status === 'open' ? <Ago at={expires} isAhead /> : null),
  },
  {
    id: 'state',
    head: <span className="sr-only">State</span>,
    align: 'right',
    cell: (invitation) =>
      invitation.status === 'open' ? (
        <RevokeInvitation invitation={invitation} />
      ) : (
        <Chip tone={TONES[invitation.status]}>{invitation.status}</Chip>
      ),
  },
];

function RevokeInvitation({ invitation }: { readonly invitation: Invitation }): ReactNode {
  const { canManage } = useViewer();
  const { tell, tellFailure } = useNotices();
  const revoke = useChange('DELETE /invitations/{invitation}', { refreshes: ['GET /invitations'] });
  if (!canManage) return null;
  return (
    <Button
      tone="danger"
      busy={revoke.isPending}
      onClick={() =>
        revoke.mutate(
          { input: { invitation: invitation.id } },
          {
            onSuccess: () => tell(`The invitation of ${invitation.email} is revoked.`),
            onError: ({ message }) => tellFailure(message),
          },
        )
      }
    >
      Revoke
    </Button>
  );
}
