import { lazy, type ReactNode, Suspense } from 'react';
import type { UsageRow } from '../../api/generated/routes.ts';
import { useApi } from '../../api/queries.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import type { Choice } from '../../parts/field.tsx';
import { formatMoney } from '../../parts/money-format.ts';
import { Panel } from '../../parts/panel.tsx';
import { Segmented } from '../../parts/segmented.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { formatBucket, formatDollarTick, NANOUSD_PER_DOLLAR } from '../../plots/axis-format.ts';
import { bucketStarts, buildPlot, type Point } from '../../plots/series.ts';
import { useMemberNames } from '../../shell/member-names.ts';
import { PageLink } from '../../shell/page-link.tsx';
import { useFilters } from '../../shell/search.ts';
import { useAccountInput, useViewer } from '../../shell/viewer.tsx';
import { type Range, sinceOf } from './range.ts';

const StackedBars = lazy(() => import('../../plots/stacked-bars.tsx'));
const Legend = lazy(() => import('../../plots/stacked-bars.tsx').then((module) => ({ default: module.Legend })));

type By = 'model' | 'key' | 'person' | 'account';
const PLOT_HEIGHT = 208;

/** Spend by day, stacked by what somebody chooses. */
export function SpendPanel({ range }: { readonly range: Range }): ReactNode {
  const { search, change } = useFilters();
  const account = useAccountInput();
  const choices = useChoices();
  const personNames = useMemberNames();
  const by = choices.find(({ value }) => value === search.by)?.value ?? 'model';
  const since = sinceOf(range);
  const input = { ...account, since, bucket: range.bucket, group_by: by, metrics: 'cost' };
  const usage = useApi('GET /usage', input, { keepsPrevious: true, refetchMs: 30_000 });
  const plot =
    usage.data === undefined
      ? null
      : buildPlot(
          usage.data.data.map((row) => pointOf(row, by, personNames)),
          bucketStarts(range.bucket, since, usage.data.until),
        );
  const isEmpty = plot !== null && plot.series.length === 0;
  return (
    <Panel
      title={`Spend by ${range.bucket} (UTC)`}
      actions={<Segmented label="Stack by" value={by} choices={choices} onChange={(value) => change({ by: value })} />}
    >
      <div className="px-4 pb-4">
        {usage.error === null ? null : <ErrorPanel error={usage.error} again={() => void usage.refetch()} />}
        {isEmpty ? <EmptyState title="Nothing was spent in this period" /> : null}
        {usage.error !== null || isEmpty ? null : (
          <div style={{ minHeight: PLOT_HEIGHT + 28 }}>
            {plot === null ? (
              <Skeleton className="h-52 w-full" />
            ) : (
              <Suspense fallback={<Skeleton className="h-52 w-full" />}>
                <div className="mb-2 flex min-h-5 items-center justify-between gap-4">
                  <Legend plot={plot} />
                  <PageLink
                    to="/usage"
                    search={{ range: range.value, by, bucket: range.bucket, shape: 'table' }}
                    className="shrink-0 text-small text-muted hover:underline"
                  >
                    As a table
                  </PageLink>
                </div>
                <StackedBars
                  plot={plot}
                  label={`Spend by ${range.bucket}, stacked by ${by}`}
                  height={PLOT_HEIGHT}
                  unit={NANOUSD_PER_DOLLAR}
                  formatValue={formatMoney}
                  formatTick={formatDollarTick}
                  formatStart={(start) => formatBucket(range.bucket, start)}
                />
              </Suspense>
            )}
          </div>
        )}
      </div>
    </Panel>
  );
}

function useChoices(): readonly Choice<By>[] {
  const { account, isOperator, canManage } = useViewer();
  return [
    { value: 'model', label: 'Model' },
    { value: 'key', label: 'Key' },
    ...(canManage ? [{ value: 'person' as const, label: 'Person' }] : []),
    ...(isOperator && account === null ? [{ value: 'account' as const, label: 'Account' }] : []),
  ];
}

function pointOf(row: UsageRow, by: By, personNames: (id: string) => string): Point {
  const value = row.cost_nanousd ?? 0n;
  const start = row.start ?? 0;
  if (by === 'model') return { start, value, name: row.model ?? '', label: row.model ?? 'unknown model' };
  if (by === 'account') return { start, value, name: row.account ?? '', label: row.account_name ?? 'unknown account' };
  if (by === 'key') return { start, value, name: row.key ?? '', label: row.key_name ?? 'no key' };
  const known = row.person === null ? 'nobody' : personNames(row.person);
  return { start, value, name: row.person ?? '', label: row.person_email ?? known };
}
