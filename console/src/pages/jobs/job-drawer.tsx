import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { readJobResult } from '../../api/gateway-call.ts';
import type { Job } from '../../api/generated/routes.ts';
import { useApi, useChange } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { ErrorPanel, FormError } from '../../parts/error-panel.tsx';
import { type Fact, Facts } from '../../parts/facts.tsx';
import { isMissing, MissingDrawer } from '../../parts/missing-drawer.tsx';
import { Money } from '../../parts/money.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Ago } from '../../parts/time.tsx';
import { useKeyNames } from '../../shell/key-names.ts';
import { PageLink } from '../../shell/page-link.tsx';
import { usePayingKeys } from '../../shell/paying-keys.ts';
import { useViewer } from '../../shell/viewer.tsx';
import { keyFact } from '../requests/call-facts.tsx';
import { canExpire, hasEnded, JobStatus, secondsOf } from './job-status.tsx';

const REFETCH_MS = 2_000;

/** One job: when it runs, what it reserves or cost, and its result, for the submitter. */
export function JobDrawer({ jobId, onClose }: { readonly jobId: string; onClose(): void }): ReactNode {
  const job = useApi(
    'GET /jobs/{job}',
    { job: jobId },
    { staleMs: 0, refetchMs: REFETCH_MS, refetchWhile: (found) => !hasEnded(found) },
  );
  const { canHaveKeys } = useViewer();
  const nameOf = useKeyNames();
  const [isAsking, setAsking] = useState(false);
  if (isMissing(job.error))
    return (
      <MissingDrawer title="Job" missing={`There is no job “${jobId}”`} list="jobs" onClose={onClose}>
        The link may be mistyped, or the job belongs to a key that you may not see. A job that ended long ago is no
        longer listed; the receipt of its call is among the requests.
      </MissingDrawer>
    );
  const cancel = (
    <Button tone="danger" onClick={() => setAsking(true)}>
      Cancel job
    </Button>
  );
  return (
    <Drawer
      title={job.data?.custom_id ?? 'Job'}
      onClose={onClose}
      {...(canHaveKeys && job.data !== undefined && !hasEnded(job.data) ? { footer: cancel } : {})}
    >
      {job.error === null ? null : <ErrorPanel error={job.error} again={() => void job.refetch()} />}
      {job.data === undefined && job.error === null ? <Skeleton className="h-64 w-full" /> : null}
      {job.data === undefined ? null : (
        <div className="flex flex-col gap-5">
          <Facts facts={factsOf(job.data, nameOf)} />
          {job.data.status === 'succeeded' || job.data.status === 'failed' ? <Result job={job.data} /> : null}
        </div>
      )}
      {/* It stays if the job ends meanwhile: nobody would see what came of the answer. */}
      {isAsking && job.data !== undefined ? <CancelJob job={job.data} onClose={() => setAsking(false)} /> : null}
    </Drawer>
  );
}

function factsOf(job: Job, nameOf: (key: string) => string): readonly (Fact | null)[] {
  const metadata = Object.entries(job.metadata);
  return [
    ['Status', <JobStatus key="status" job={job} />],
    ['Id', mono(job.id)],
    ['Model', job.effective_model],
    keyFact(job.key, nameOf),
    ['Route', mono(job.endpoint)],
    ['Reserved', <Money key="reserved" as="cost" nanousd={job.reserved_nanousd} />],
    ['Cost', <Money key="cost" as="cost" nanousd={job.cost_nanousd} />],
    ['Attempts', String(job.attempts)],
    ['Created', <Ago key="created" at={secondsOf(job.created_at)} />],
    job.not_before === null ? null : ['Not before', <Ago key="before" at={secondsOf(job.not_before)} isAhead />],
    canExpire(job) ? ['Latest start', <Ago key="expires" at={secondsOf(job.expires_at)} isAhead />] : null,
    job.finished_at === null ? null : ['Ended', <Ago key="ended" at={secondsOf(job.finished_at)} />],
    job.result_expires_at === null
      ? null
      : ['Result kept until', <Ago key="kept" at={secondsOf(job.result_expires_at)} isAhead />],
    job.error === null ? null : ['Error', job.error.message],
    job.request_id === null ? null : ['Receipt', receiptLink(job.request_id)],
    // In one row: whoever submitted the job chose the names, which may be the same as those of other rows.
    metadata.length === 0 ? null : ['Metadata', mono(metadata.map(([name, value]) => `${name}=${value}`).join(' '))],
  ];
}

function mono(text: string): ReactNode {
  return <span className="font-mono text-small break-all">{text}</span>;
}

function receiptLink(requestId: string): ReactNode {
  return (
    <PageLink to="/requests" search={{ open: requestId }} className="font-mono text-small text-accent hover:underline">
      {requestId}
    </PageLink>
  );
}

/** The response is shown only to people who may use the key that submitted the job. */
function Result({ job }: { readonly job: Job }): ReactNode {
  const { keys, isRequired } = usePayingKeys();
  const result = useMutation<string, Error>({ mutationFn: () => readJobResult(job.id, job.key) });
  const isOwn = job.key === null ? !isRequired : keys.some(({ id }) => id === job.key);
  if (!isOwn) return null;
  return (
    <div className="flex flex-col gap-2">
      {result.data === undefined ? (
        <Button busy={result.isPending} onClick={() => result.mutate()} className="self-start">
          Show the result
        </Button>
      ) : (
        <CodeBlock text={result.data} label="Copy the result" />
      )}
      <FormError error={result.error} />
    </div>
  );
}

function CancelJob({ job, onClose }: { readonly job: Job; onClose(): void }): ReactNode {
  const { tell } = useNotices();
  const cancel = useChange('POST /jobs/{job}/cancel', { refreshes: ['GET /jobs', 'GET /jobs/{job}'] });
  const onSuccess = ({ status }: Pick<Job, 'status'>): void => {
    tell(status === 'cancelled' ? 'The job is cancelled.' : 'The job will be cancelled.');
    onClose();
  };
  return (
    <ConfirmDialog
      title={`Cancel “${job.custom_id ?? job.id}”`}
      action="Cancel job"
      dismissal="Keep it"
      busy={cancel.isPending}
      error={cancel.error}
      onSubmit={() => cancel.mutate({ input: { job: job.id } }, { onSuccess })}
      onClose={onClose}
    >
      {hasEnded(job)
        ? `It has ended in the meantime: ${job.status}.`
        : 'If it waits, it is not run, and what is reserved for it becomes available again. If it runs, cancelling it costs what hanging up on a call costs.'}
    </ConfirmDialog>
  );
}
