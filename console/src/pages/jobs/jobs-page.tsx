import type { ReactNode } from 'react';
import type { Job } from '../../api/generated/routes.ts';
import { useRows } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Filter } from '../../parts/filter.tsx';
import { Page } from '../../parts/page.tsx';
import { RowTable } from '../../parts/row-table.tsx';
import { Segmented } from '../../parts/segmented.tsx';
import type { Column } from '../../parts/table.tsx';
import { Ago } from '../../parts/time.tsx';
import { useOpenDialog } from '../../shell/open-dialog.ts';
import { useFilters } from '../../shell/search.ts';
import { useAccountInput, useViewer } from '../../shell/viewer.tsx';
import { GroupTable } from './group-table.tsx';
import { costColumn, createdColumn, reservedColumn } from './job-columns.tsx';
import { JobDrawer } from './job-drawer.tsx';
import { hasEnded, JobStatus, STATUS_CHOICES, secondsOf } from './job-status.tsx';
import { RestoredJobs } from './restored-jobs.tsx';
import { SubmitJobsDialog } from './submit-jobs.tsx';

const PAGE_ROWS = 100;
const REFETCH_MS = 5_000;
const SHOWS = [
  { value: 'jobs', label: 'Jobs' },
  { value: 'groups', label: 'Groups' },
];

/** Calls that are made later: what waits, what it reserves, what it cost. */
export default function JobsPage(): ReactNode {
  const { search, change } = useFilters();
  const { canHaveKeys } = useViewer();
  const isSubmitting = useOpenDialog('submit', canHaveKeys);
  const shows = search.show === 'groups' ? 'groups' : 'jobs';
  const submit = canHaveKeys ? (
    <Button tone="primary" onClick={() => change({ dialog: 'submit' })}>
      Submit a file
    </Button>
  ) : null;
  return (
    <Page
      title="Jobs"
      bleed
      actions={submit}
      filters={
        <>
          <Segmented
            label="Show"
            value={shows}
            choices={SHOWS}
            onChange={(show) => change({ show: show === 'jobs' ? undefined : show, group: undefined, open: undefined })}
          />
          {shows === 'jobs' ? (
            <Filter
              label="Status"
              value={search.status ?? 'any'}
              choices={STATUS_CHOICES}
              onChange={(status) => change({ status: status === 'any' ? undefined : status })}
            />
          ) : null}
          {search.group === undefined ? null : (
            <Button onClick={() => change({ group: undefined })}>Group {search.group} ×</Button>
          )}
        </>
      }
    >
      <RestoredJobs />
      {shows === 'jobs' ? <JobTable action={submit} /> : <GroupTable action={submit} />}
      {search.open === undefined || shows === 'groups' ? null : (
        <JobDrawer key={search.open} jobId={search.open} onClose={() => change({ open: undefined })} />
      )}
      {isSubmitting ? <SubmitJobsDialog onClose={() => change({ dialog: undefined })} /> : null}
    </Page>
  );
}

function JobTable({ action }: { readonly action: ReactNode }): ReactNode {
  const { search, change } = useFilters();
  const account = useAccountInput();
  const status = search.status as Job['status'] | undefined;
  const jobs = useRows(
    'GET /jobs',
    {
      ...account,
      ...(status === undefined ? {} : { status }),
      ...(search.group === undefined ? {} : { group: search.group }),
      limit: PAGE_ROWS,
    },
    { refetchMs: REFETCH_MS, refetchWhile: (job) => !hasEnded(job) },
  );
  const isFiltered = status !== undefined || search.group !== undefined;
  return (
    <RowTable
      label="Jobs"
      pages={jobs}
      columns={COLUMNS}
      idOf={({ id }) => id}
      onOpen={({ id }) => change({ open: id })}
      openId={search.open ?? null}
      empty={
        isFiltered ? (
          <EmptyState title="No job matches the filters">Choose another status.</EmptyState>
        ) : (
          <EmptyState title="No jobs yet" action={action}>
            A job is a call that is accepted now and made later. Until then its worst case is reserved. Submit a batch
            file in the vendors’ format, with one request per line.
          </EmptyState>
        )
      }
    />
  );
}

const COLUMNS: readonly Column<Job>[] = [
  {
    id: 'job',
    head: 'Job',
    fluid: true,
    cell: ({ id, custom_id }) => <span className="block truncate font-mono text-small">{custom_id ?? id}</span>,
  },
  { id: 'status', head: 'Status', cell: (job) => <JobStatus job={job} /> },
  costColumn,
  reservedColumn,
  {
    id: 'model',
    head: 'Model',
    wideOnly: true,
    fluid: true,
    cell: ({ effective_model }) => <span className="block truncate">{effective_model}</span>,
  },
  {
    id: 'starts',
    head: 'Starts',
    align: 'right',
    wideOnly: true,
    cell: ({ started_at, not_before }) => (
      <Ago at={secondsOf(started_at ?? not_before)} none="as soon as possible" isAhead={started_at === null} />
    ),
  },
  {
    id: 'expires',
    head: 'Expires',
    align: 'right',
    roomyOnly: true,
    cell: (job) => <Ago at={hasEnded(job) ? null : secondsOf(job.expires_at)} isAhead />,
  },
  createdColumn,
];
