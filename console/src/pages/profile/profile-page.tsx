import type { ReactNode } from 'react';
import type { OwnSession } from '../../api/generated/routes.ts';
import { useApi, useChange } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Chip } from '../../parts/chip.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Facts } from '../../parts/facts.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { Page } from '../../parts/page.tsx';
import { Panel } from '../../parts/panel.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Ago } from '../../parts/time.tsx';
import { useViewer } from '../../shell/viewer.tsx';
import { SessionPlace } from '../people/session-place.tsx';
import { PasswordForm } from './password-form.tsx';
import { SingleSignOn } from './single-sign-on.tsx';

/** The person who looks at this page: roles, password, single sign-on, sessions. */
export default function ProfilePage(): ReactNode {
  const { me, accounts } = useViewer();
  if (me.kind !== 'person')
    return (
      <Page title="Your sign-in">
        <EmptyState title="Nobody signs in here">
          This gateway runs in local mode: whoever is on this machine is its operator. In hosted mode people sign in.
        </EmptyState>
      </Page>
    );
  const roles = me.roles.map(({ account, role }) => {
    const name = accounts.find(({ id }) => id === account)?.name ?? account;
    return `${role} of ${name}`;
  });
  return (
    <Page title="Your sign-in">
      <Panel title={me.name}>
        <div className="px-4 pb-4">
          <Facts facts={[['Roles', [...(me.operator ? ['operator'] : []), ...roles].join(', ') || 'none yet']]} />
        </div>
      </Panel>
      <div className="grid items-start gap-5 wide:grid-cols-2">
        <PasswordForm />
        <SingleSignOn />
      </div>
      <Sessions />
    </Page>
  );
}

function Sessions(): ReactNode {
  const sessions = useApi('GET /me/sessions', {});
  return (
    <Panel title="Where you are signed in">
      {sessions.error === null ? (
        <Table
          label="Your sessions"
          isPending={sessions.isPending}
          skeletonRows={2}
          rows={sessions.data?.data ?? []}
          idOf={({ id }) => id}
          columns={COLUMNS}
        />
      ) : (
        <ErrorPanel error={sessions.error} again={() => void sessions.refetch()} />
      )}
    </Panel>
  );
}

const COLUMNS: readonly Column<OwnSession>[] = [
  { id: 'where', head: 'Where', fluid: true, cell: (session) => <SessionPlace session={session} /> },
  { id: 'used', head: 'Last used', align: 'right', cell: ({ last_used }) => <Ago at={last_used} /> },
  { id: 'began', head: 'Signed in', align: 'right', wideOnly: true, cell: ({ created }) => <Ago at={created} /> },
  {
    id: 'end',
    head: <span className="sr-only">Actions</span>,
    align: 'right',
    cell: (session) => <End session={session} />,
  },
];

function End({ session }: { readonly session: OwnSession }): ReactNode {
  const { tell, tellFailure } = useNotices();
  const end = useChange('DELETE /me/sessions/{session}', { refreshes: ['GET /me/sessions'] });
  if (session.current) return <Chip tone="good">this browser</Chip>;
  return (
    <Button
      busy={end.isPending}
      onClick={() =>
        end.mutate(
          { input: { session: session.id } },
          { onSuccess: () => tell('The session has ended.'), onError: ({ message }) => tellFailure(message) },
        )
      }
    >
      End
    </Button>
  );
}
