import { type ReactNode, useState } from 'react';
import { useApi, useChange } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { useViewer } from '../../shell/viewer.tsx';

const CHOICES = {
  resume: {
    title: 'Run the paused jobs',
    action: 'Run jobs',
    route: 'POST /restored-jobs/resume',
    text: 'All paused jobs, of every account, wait for their turn again. Jobs that ran after the backup was made run a second time, and the provider bills them again.',
    done: 'The paused jobs wait for their turn again.',
  },
  fail: {
    title: 'End the paused jobs',
    action: 'End jobs',
    route: 'POST /restored-jobs/fail',
    text: 'All paused jobs, of every account, end as failed, and what is reserved for them becomes available again. Nothing runs twice.',
    done: 'The paused jobs have ended as failed.',
  },
} as const;
type Choice = keyof typeof CHOICES;

/** After a restore the operator decides what becomes of the jobs that had not ended in the backup. */
export function RestoredJobs(): ReactNode {
  const { isOperator, me } = useViewer();
  const [choice, setChoice] = useState<Choice | null>(null);
  const paused = useApi('GET /jobs', { status: 'paused', limit: 1 }, { enabled: isOperator });
  if (!isOperator || (paused.data?.data.length ?? 0) === 0) return null;
  return (
    <div role="status" className="spacing-page flex flex-wrap items-center gap-3 bg-warning-soft py-3">
      <p className="min-w-0 flex-1 basis-80 text-warning">
        The ledger was restored from a backup, and jobs that had not ended in it are paused. They may have run since.
        Decide what becomes of them.
      </p>
      {me.read_only ? null : (
        <span className="flex gap-2">
          <Button onClick={() => setChoice('resume')}>Run them</Button>
          <Button onClick={() => setChoice('fail')}>End them as failed</Button>
        </span>
      )}
      {choice === null ? null : <Decide choice={choice} onClose={() => setChoice(null)} />}
    </div>
  );
}

function Decide({ choice, onClose }: { readonly choice: Choice; onClose(): void }): ReactNode {
  const { title, action, route, text, done } = CHOICES[choice];
  const { tell } = useNotices();
  const decide = useChange(route, { refreshes: ['GET /jobs', 'GET /job-groups'] });
  const onSuccess = (): void => {
    tell(done);
    onClose();
  };
  return (
    <ConfirmDialog
      title={title}
      action={action}
      busy={decide.isPending}
      error={decide.error}
      onSubmit={() => decide.mutate({ input: { restored: true } }, { onSuccess })}
      onClose={onClose}
    >
      {text}
    </ConfirmDialog>
  );
}
