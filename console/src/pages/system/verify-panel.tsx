import { type ReactNode, useState } from 'react';
import type { VerificationTask } from '../../api/generated/routes.ts';
import { useApi, useChange } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Chip } from '../../parts/chip.tsx';
import { FormError } from '../../parts/error-panel.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Money } from '../../parts/money.tsx';
import { formatCount, formatCounted } from '../../parts/money-format.ts';
import { Panel } from '../../parts/panel.tsx';
import { ProgressBar } from '../../parts/progress-bar.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Ago } from '../../parts/time.tsx';
import { useViewer } from '../../shell/viewer.tsx';

const RUNNING_MS = 700;
/** After so many answers of other replicas in a row, the one that ran the verification is taken for stopped. */
const MISSED_MAX = 20;

/** Recomputes every balance from the receipts, while calls go on. */
export function VerifyPanel(): ReactNode {
  const { me } = useViewer();
  // Replicas know only their own, and the next answer may come from another one.
  const [newest, setNewest] = useState<Answer | null>(null);
  const task = useApi(
    'GET /system/verify',
    {},
    {
      staleMs: 0,
      refetchMs: RUNNING_MS,
      refetchWhile: (found) => isRunningIn(newerOf(answerAt(Date.now(), found), newest)),
    },
  );
  const start = useChange('POST /system/verify', { refreshes: ['GET /system/verify'] });
  const shown = task.data === undefined ? newest : newerOf(answerAt(task.dataUpdatedAt, task.data), newest);
  if (shown?.task !== newest?.task || shown?.atMs !== newest?.atMs) setNewest(shown);
  const isRunning = shown !== null && isRunningIn(shown);
  const onSuccess = (started: VerificationTask): void => setNewest(answerAt(Date.now(), started));
  return (
    <Panel
      title="Ledger"
      actions={
        me.read_only ? null : (
          <Button
            busy={start.isPending || isRunning}
            onClick={() => start.mutate({ input: { usage: true } }, { onSuccess })}
          >
            {isRunning ? 'Verifying' : 'Verify now'}
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-3 px-4 pb-4">
        <FormError error={start.error ?? task.error} />
        {shown === null && task.error === null ? <Skeleton className="h-24 w-full" /> : null}
        {shown === null ? null : <TaskState task={shown.task} />}
      </div>
    </Panel>
  );
}

interface Answer {
  readonly task: VerificationTask;
  readonly atMs: number;
  /** How many answers since then did not know of it. */
  readonly missed: number;
}

function answerAt(atMs: number, task: VerificationTask): Answer {
  return { task, atMs, missed: 0 };
}

function isRunningIn({ task }: Answer): boolean {
  return task.status === 'running';
}

/** The answer about the verification that started later; of the same one, the answer that says that it has ended. */
function newerOf(answer: Answer, known: Answer | null): Answer {
  if (known === null) return answer;
  const [start, knownStart] = [answer.task.started ?? 0, known.task.started ?? 0];
  if (start > knownStart) return answer;
  if (start === knownStart && (known.task.ended === null || answer.task.ended !== null)) return answer;
  if (isRunningIn(known) && known.missed >= MISSED_MAX) return answer;
  if (answer.atMs <= known.atMs) return known;
  return { task: known.task, atMs: answer.atMs, missed: known.missed + 1 };
}

function TaskState({ task }: { readonly task: VerificationTask }): ReactNode {
  if (task.status === 'none')
    return (
      <p className="text-muted">
        Recomputes every balance, cap and usage sum from the receipts and compares them. Calls continue meanwhile. It
        has not run since this process of the gateway was started.
      </p>
    );
  if (task.status === 'running')
    return (
      <ProgressBar
        label="Verifying the ledger"
        part={task.rows_total === 0 ? 0 : task.rows_read / task.rows_total}
        detail={`${formatCount(task.rows_read)} of ${formatCounted(task.rows_total, 'row')}`}
      />
    );
  if (task.status === 'failed' || task.report === null)
    return <FormError error={`The verification did not finish: ${task.reason ?? 'the reason is unknown.'}`} />;
  return <Report report={task.report} ended={task.ended} />;
}

function Report(props: {
  readonly report: NonNullable<VerificationTask['report']>;
  readonly ended: number | null;
}): ReactNode {
  const { report, ended } = props;
  return (
    <>
      <p className="flex items-center gap-2" role="status">
        <Chip tone={report.ok ? 'good' : 'error'}>
          {report.ok ? 'all amounts agree' : formatCounted(report.violations.length, 'violation')}
        </Chip>
        <span className="text-muted">
          verified <Ago at={ended} />
        </span>
      </p>
      {report.violations.length === 0 ? null : (
        <ul className="flex max-h-64 flex-col gap-1 overflow-y-auto rounded-control bg-error-soft px-3 py-2 text-error">
          {report.violations.map((violation) => (
            <li key={violation}>{violation}</li>
          ))}
        </ul>
      )}
      <Facts
        facts={[
          ['Receipts', formatCount(report.receipts)],
          ['Accounts, keys', `${formatCount(report.accounts)}, ${formatCount(report.keys)}`],
          ['Credits, refunds', `${formatCount(report.credits)}, ${formatCount(report.refunds)}`],
          ['Open holds', formatCount(report.open_holds)],
          [
            'Closed months',
            `${formatCount(report.closed_months)} with ${formatCounted(report.closed_receipts, 'receipt')}`,
          ],
          ['Losses', <Money key="loss" nanousd={report.loss_nanousd} />],
        ]}
      />
    </>
  );
}
