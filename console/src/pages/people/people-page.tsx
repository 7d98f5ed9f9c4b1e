import type { ReactNode } from 'react';
import type { Person } from '../../api/generated/routes.ts';
import { useRows } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Page } from '../../parts/page.tsx';
import { RowTable } from '../../parts/row-table.tsx';
import { Segmented } from '../../parts/segmented.tsx';
import type { Column } from '../../parts/table.tsx';
import { Ago } from '../../parts/time.tsx';
import { FilterInput } from '../../shell/filter-input.tsx';
import { useFilters } from '../../shell/search.ts';
import { useViewer } from '../../shell/viewer.tsx';
import { AllInvitations, InvitationStates } from '../members/invitations.tsx';
import { InviteDialog } from '../members/invite.tsx';
import { PersonDrawer } from './person-drawer.tsx';
import { PersonState, signsInWith } from './person-state.tsx';

const PAGE_ROWS = 200;

const LISTS = [
  { value: 'people', label: 'People' },
  { value: 'invitations', label: 'Invitations' },
] as const;

/** Everybody who can sign in, and whom links wait for. */
export default function PeoplePage(): ReactNode {
  const { search, change } = useFilters();
  const { me } = useViewer();
  const list = search.show === 'invitations' ? 'invitations' : 'people';
  const invite = me.read_only ? null : (
    <Button tone="primary" onClick={() => change({ dialog: 'invite' })}>
      Invite an operator
    </Button>
  );
  return (
    <Page
      title="People"
      bleed
      actions={invite}
      filters={
        <>
          <Segmented
            label="List"
            value={list}
            choices={LISTS}
            onChange={(show) => change({ show: show === 'people' ? undefined : show, open: undefined })}
          />
          {list === 'people' ? (
            <FilterInput name="q" label="Search people" placeholder="Search by name or email address" />
          ) : (
            <InvitationStates />
          )}
        </>
      }
    >
      {list === 'people' ? <Everybody invite={invite} /> : <AllInvitations />}
      {search.open === undefined ? null : (
        <PersonDrawer key={search.open} personId={search.open} onClose={() => change({ open: undefined })} />
      )}
      {search.dialog === 'invite' ? (
        <InviteDialog account={null} onClose={() => change({ dialog: undefined })} />
      ) : null}
    </Page>
  );
}

function Everybody({ invite }: { readonly invite: ReactNode }): ReactNode {
  const { search, change } = useFilters();
  const people = useRows('GET /people', { limit: PAGE_ROWS });
  const text = (search.q ?? '').trim().toLowerCase();
  const shown = people.rows.filter(({ name, email, id }) => `${name} ${email} ${id}`.toLowerCase().includes(text));
  return (
    <RowTable
      label="People"
      pages={people}
      rows={shown}
      isSearch={text !== ''}
      columns={COLUMNS}
      idOf={({ id }) => id}
      onOpen={({ id }) => change({ open: id })}
      openId={search.open ?? null}
      empty={
        people.rows.length > 0 ? (
          <EmptyState title="Nobody matches">Search for another name or address.</EmptyState>
        ) : (
          <EmptyState title="Nobody signs in here yet" action={invite}>
            In hosted mode people sign in with a password or single sign-on. Invite them into an account on the page
            Members; operators are invited here.
          </EmptyState>
        )
      }
    />
  );
}

const COLUMNS: readonly Column<Person>[] = [
  {
    id: 'person',
    head: 'Person',
    fluid: true,
    cell: ({ name, email }) => (
      <span className="flex min-w-0 flex-col wide:flex-row wide:items-baseline wide:gap-2">
        <span className="truncate font-medium">{name}</span>
        <span className="truncate text-muted">{email}</span>
      </span>
    ),
  },
  {
    id: 'state',
    head: 'State',
    cell: (person) => <PersonState person={person} />,
  },
  {
    id: 'ways',
    head: 'Signs in with',
    wideOnly: true,
    cell: signsInWith,
  },
  { id: 'created', head: 'Since', align: 'right', wideOnly: true, cell: ({ created }) => <Ago at={created} /> },
];
