import { type ReactNode, useState } from 'react';
import type { JobGroup } from '../../api/generated/routes.ts';
import { useChange, useRows } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Meter } from '../../parts/meter.tsx';
import { formatCount, formatCounted } from '../../parts/money-format.ts';
import { useNotices } from '../../parts/notices.tsx';
import { RowTable } from '../../parts/row-table.tsx';
import type { Column } from '../../parts/table.tsx';
import { PageLink } from '../../shell/page-link.tsx';
import { useAccountInput, useViewer } from '../../shell/viewer.tsx';
import { costColumn, createdColumn, reservedColumn } from './job-columns.tsx';

const PAGE_ROWS = 100;
const REFETCH_MS = 5_000;

/** Batch files that were submitted, and how far each is. */
export function GroupTable({ action }: { readonly action: ReactNode }): ReactNode {
  const account = useAccountInput();
  const groups = useRows(
    'GET /job-groups',
    { ...account, limit: PAGE_ROWS },
    { refetchMs: REFETCH_MS, refetchWhile: ({ status }) => status !== 'finished' },
  );
  return (
    <RowTable
      label="Groups of jobs"
      pages={groups}
      columns={COLUMNS}
      idOf={({ id }) => id}
      empty={
        <EmptyState title="No groups yet" action={action}>
          A batch file becomes a group: its jobs are accepted together or not at all.
        </EmptyState>
      }
    />
  );
}

const COLUMNS: readonly Column<JobGroup>[] = [
  {
    id: 'group',
    head: 'Group',
    cell: ({ id }) => (
      <PageLink to="/jobs" search={{ group: id }} className="font-mono text-small text-accent hover:underline">
        {id}
      </PageLink>
    ),
  },
  { id: 'progress', head: 'Ended', cell: (group) => <GroupProgress group={group} /> },
  costColumn,
  reservedColumn,
  {
    id: 'failed',
    head: 'Failed',
    align: 'right',
    wideOnly: true,
    cell: ({ counts }) => formatCount(counts.failed + counts.expired),
  },
  createdColumn,
  {
    id: 'actions',
    head: <span className="sr-only">Actions</span>,
    align: 'right',
    cell: (group) => <CancelGroup group={group} />,
  },
];

function GroupProgress({ group: { id, counts } }: { readonly group: JobGroup }): ReactNode {
  const ended = counts.total - counts.waiting - counts.running;
  return (
    <span className="flex items-center gap-3">
      <span className="hidden w-24 leading-none wide:inline">
        <Meter
          warns={false}
          part={counts.total === 0 ? 1 : ended / counts.total}
          label={`${id}: jobs that have ended`}
        />
      </span>
      {formatCount(ended)} of {formatCount(counts.total)}
    </span>
  );
}

function CancelGroup({ group }: { readonly group: JobGroup }): ReactNode {
  const { canHaveKeys } = useViewer();
  const { tell } = useNotices();
  const [isAsking, setAsking] = useState(false);
  const cancel = useChange('POST /job-groups/{job_group}/cancel', { refreshes: ['GET /job-groups', 'GET /jobs'] });
  const onSuccess = (): void => {
    tell('The jobs that have not ended are cancelled.');
    setAsking(false);
  };
  if (!canHaveKeys) return null;
  const { waiting, running } = group.counts;
  return (
    <>
      {group.status === 'finished' ? null : (
        <Button tone="danger" onClick={() => setAsking(true)}>
          Cancel
        </Button>
      )}
      {/* It stays if the group finishes meanwhile: nobody would see what came of the answer. */}
      {isAsking ? (
        <ConfirmDialog
          title={`Cancel ${group.id}`}
          action="Cancel jobs"
          dismissal="Keep them"
          busy={cancel.isPending}
          error={cancel.error}
          onSubmit={() => cancel.mutate({ input: { job_group: group.id } }, { onSuccess })}
          onClose={() => setAsking(false)}
        >
          {formatCounted(waiting, 'job')} not started yet: not run, and what is reserved becomes available again.{' '}
          {formatCounted(running, 'job')} running: ended, at the cost of hanging up on a call.
        </ConfirmDialog>
      ) : null}
    </>
  );
}
