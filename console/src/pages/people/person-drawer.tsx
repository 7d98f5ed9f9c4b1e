import { type ReactNode, useState } from 'react';
import type { Invited, PersonWithRoles } from '../../api/generated/routes.ts';
import { useApi, useChange } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Chip } from '../../parts/chip.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Facts } from '../../parts/facts.tsx';
import { isMissing, MissingDrawer } from '../../parts/missing-drawer.tsx';
import { Money } from '../../parts/money.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Table } from '../../parts/table.tsx';
import { Ago } from '../../parts/time.tsx';
import { PageLink } from '../../shell/page-link.tsx';
import { useViewer } from '../../shell/viewer.tsx';
import { LinkDialog } from '../members/invite.tsx';
import { type PersonAction, PersonDialog } from './person-dialogs.tsx';
import { PersonState, signsInWith } from './person-state.tsx';
import { SessionPlace } from './session-place.tsx';

/** One person: their roles, where they are signed in, and what an operator can do. */
export function PersonDrawer({ personId, onClose }: { readonly personId: string; onClose(): void }): ReactNode {
  const person = useApi('GET /people/{person}', { person: personId }, { staleMs: 0 });
  const { me } = useViewer();
  const [action, setAction] = useState<PersonAction | null>(null);
  const [link, setLink] = useState<Invited | null>(null);
  const found = person.data;
  if (isMissing(person.error))
    return (
      <MissingDrawer title="Person" missing={`There is no person “${personId}”`} list="people" onClose={onClose}>
        The link may be mistyped, or come from another gateway. Somebody who is only invited is among the invitations.
      </MissingDrawer>
    );
  return (
    <>
      <Drawer
        title={found?.name ?? 'Person'}
        onClose={onClose}
        {...(found === undefined || me.read_only
          ? {}
          : { footer: <PersonActions person={found} isSelf={me.id === found.id} onAction={setAction} /> })}
      >
        {person.error === null ? null : <ErrorPanel error={person.error} again={() => void person.refetch()} />}
        {found === undefined && person.error === null ? <Skeleton className="h-64 w-full" /> : null}
        {found === undefined ? null : <PersonBody person={found} />}
      </Drawer>
      {action === null || found === undefined ? null : (
        <PersonDialog action={action} person={found} onLink={setLink} onClose={() => setAction(null)} />
      )}
      {link === null ? null : <LinkDialog invited={link} onClose={() => setLink(null)} />}
    </>
  );
}

function PersonBody({ person }: { readonly person: PersonWithRoles }): ReactNode {
  const { accounts } = useViewer();
  return (
    <div className="flex flex-col gap-5">
      <Facts
        facts={[
          ['State', <PersonState key="state" person={person} />],
          ['Email address', person.email],
          [
            'Id',
            <span key="id" className="font-mono text-small">
              {person.id}
            </span>,
          ],
          ['Signs in with', signsInWith(person)],
          ['Since', <Ago key="since" at={person.created} />],
        ]}
      />
      <p>
        <PageLink to="/audit" search={{ actor: person.email }} className="font-medium text-accent hover:underline">
          What they changed
        </PageLink>
      </p>
      <Panel title="Roles">
        <Table
          label="Roles"
          rows={person.roles}
          idOf={({ account }) => account}
          empty={<p className="px-4 pb-4 text-muted">No role in any account.</p>}
          columns={[
            {
              id: 'account',
              head: 'Account',
              cell: ({ account }) => (
                <PageLink to="/members" search={{ account }} className="hover:underline">
                  {accounts.find(({ id }) => id === account)?.name ?? account}
                </PageLink>
              ),
            },
            { id: 'role', head: 'Role', cell: ({ role }) => <Chip>{role}</Chip> },
            {
              id: 'cap',
              head: 'Cap',
              align: 'right',
              cell: ({ spend_cap_nanousd: cap, window }) =>
                cap === null ? (
                  <span className="text-muted">no cap</span>
                ) : (
                  <>
                    <Money nanousd={cap} />
                    {window === 'lifetime' ? '' : ` a ${window}`}
                  </>
                ),
            },
          ]}
        />
      </Panel>
      <Sessions personId={person.id} />
    </div>
  );
}

function Sessions({ personId }: { readonly personId: string }): ReactNode {
  const sessions = useApi('GET /people/{person}/sessions', { person: personId });
  return (
    <Panel title="Signed in">
      {sessions.error === null ? (
        <Table
          label="Sessions"
          isPending={sessions.isPending}
          skeletonRows={1}
          rows={sessions.data?.data ?? []}
          idOf={({ id }) => id}
          empty={<p className="px-4 pb-4 text-muted">Nowhere at present.</p>}
          columns={[
            { id: 'where', head: 'Where', fluid: true, cell: (session) => <SessionPlace session={session} /> },
            { id: 'used', head: 'Last used', align: 'right', cell: ({ last_used }) => <Ago at={last_used} /> },
            {
              id: 'end',
              head: <span className="sr-only">Actions</span>,
              align: 'right',
              cell: ({ id }) => <EndSession sessionId={id} />,
            },
          ]}
        />
      ) : (
        <ErrorPanel error={sessions.error} again={() => void sessions.refetch()} />
      )}
    </Panel>
  );
}

function EndSession({ sessionId }: { readonly sessionId: string }): ReactNode {
  const { tell, tellFailure } = useNotices();
  const end = useChange('DELETE /sessions/{session}', { refreshes: ['GET /people/{person}/sessions'] });
  return (
    <Button
      busy={end.isPending}
      onClick={() =>
        end.mutate(
          { input: { session: sessionId } },
          { onSuccess: () => tell('The session has ended.'), onError: ({ message }) => tellFailure(message) },
        )
      }
    >
      End
    </Button>
  );
}

function PersonActions(props: {
  readonly person: PersonWithRoles;
  readonly isSelf: boolean;
  onAction(action: PersonAction): void;
}): ReactNode {
  const { person, isSelf, onAction } = props;
  return (
    <>
      <Button onClick={() => onAction('rename')}>Rename</Button>
      <Button onClick={() => onAction('reset')}>New password link</Button>
      {isSelf ? null : (
        <>
          <Button onClick={() => onAction(person.operator ? 'demote' : 'promote')}>
            {person.operator ? 'No longer an operator' : 'Make operator'}
          </Button>
          <Button onClick={() => onAction('sign-out')}>Sign out everywhere</Button>
          {person.status === 'active' ? (
            <Button tone="danger" onClick={() => onAction('disable')}>
              Disable
            </Button>
          ) : (
            <Button onClick={() => onAction('enable')}>Enable</Button>
          )}
        </>
      )}
    </>
  );
}
