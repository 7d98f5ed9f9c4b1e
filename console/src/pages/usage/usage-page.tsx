import { lazy, type ReactNode, Suspense } from 'react';
import { useApi } from '../../api/queries.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { ExportButton } from '../../parts/export-button.tsx';
import type { Choice } from '../../parts/field.tsx';
import { Filter } from '../../parts/filter.tsx';
import { Page } from '../../parts/page.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Segmented } from '../../parts/segmented.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { useNow } from '../../parts/time.tsx';
import { formatBucket } from '../../plots/axis-format.ts';
import { bucketStarts, buildPlot } from '../../plots/series.ts';
import { CustomDays } from '../../shell/custom-days.tsx';
import { keyChoices } from '../../shell/key-choices.ts';
import { useMemberNames } from '../../shell/member-names.ts';
import { useFilters } from '../../shell/search.ts';
import { useAccountInput, useViewer } from '../../shell/viewer.tsx';
import { BucketTable } from './bucket-table.tsx';
import {
  bucketsFor,
  type Group,
  METRICS,
  pointsOf,
  readUsageView,
  requestsOfView,
  SHAPES,
  TIME_CHOICES,
  type UsageView,
} from './usage-query.ts';
import { UsageTable } from './usage-table.tsx';

const StackedBars = lazy(() => import('../../plots/stacked-bars.tsx'));
const Legend = lazy(() => import('../../plots/stacked-bars.tsx').then((module) => ({ default: module.Legend })));
const PLOT_HEIGHT = 260;

/** What calls have used and cost, by time and by anything that a report can be grouped by. */
export default function UsagePage(): ReactNode {
  const { search, change } = useFilters();
  const account = useAccountInput();
  const groups = useGroups();
  const view = readUsageView(search, groups, useNow());
  const { since, until, isEmpty, group, filter } = view;
  const input = { ...account, since, until, group_by: group, ...filter };
  const table = useApi('GET /usage', input, { keepsPrevious: true, enabled: !isEmpty });
  const groupLabel = groups.find(({ value }) => value === group)?.label ?? 'Model';
  return (
    <Page
      title="Usage"
      actions={
        <>
          <Segmented
            label="Time"
            value={view.time}
            choices={TIME_CHOICES}
            onChange={(range) => change({ range, bucket: undefined, from: undefined, to: undefined })}
          />
          <ExportButton route="GET /usage" input={{ ...input, bucket: view.bucket }} name="usage" />
        </>
      }
      filters={<UsageFilters view={view} groups={groups} />}
    >
      {isEmpty ? (
        <EmptyState title="No day lies in this period">
          Choose a first day that is not after the last one and not in the future.
        </EmptyState>
      ) : (
        <>
          <UsagePlot view={view} account={account} />
          <Panel title={`By ${groupLabel.toLowerCase()}`}>
            {table.error === null ? (
              <UsageTable
                group={group}
                filter={{ ...filter, ...requestsOfView(view) }}
                groupLabel={groupLabel}
                rows={table.data?.data ?? []}
                totals={table.data?.totals}
                isPending={table.isPending}
                isStale={table.isPlaceholderData}
              />
            ) : (
              <ErrorPanel error={table.error} again={() => void table.refetch()} />
            )}
          </Panel>
        </>
      )}
    </Page>
  );
}

function useGroups(): readonly Choice<Group>[] {
  const { isOperator, account } = useViewer();
  return [
    { value: 'model', label: 'Model' },
    { value: 'key', label: 'Key' },
    ...(isOperator && account === null ? [{ value: 'account' as const, label: 'Account' }] : []),
    { value: 'person', label: 'Person' },
    { value: 'route', label: 'Route' },
    ...(isOperator ? [{ value: 'host' as const, label: 'Host' }] : []),
    { value: 'chain', label: 'Chain' },
  ];
}

const ANY: Choice = { value: '', label: 'any' };
const KEYS_MAX = 1_000;

function UsageFilters({
  view,
  groups,
}: {
  readonly view: UsageView;
  readonly groups: readonly Choice<Group>[];
}): ReactNode {
  const { search, change } = useFilters();
  const account = useAccountInput();
  const keys = useApi('GET /keys', { ...account, limit: KEYS_MAX }, { staleMs: 30_000 });
  const models = useApi('GET /models', {}, { staleMs: 300_000 });
  const payers = keyChoices(keys.data?.data ?? []);
  const modelChoices = (models.data?.data ?? []).map(({ id }) => ({ value: id, label: id }));
  return (
    <>
      {view.time === 'custom' ? <CustomDays /> : null}
      <Filter
        isPlain
        label="Metric"
        value={view.metric.value}
        choices={METRICS}
        onChange={(metric) => change({ metric })}
      />
      <Filter isPlain label="By" value={view.group} choices={groups} onChange={(by) => change({ by })} />
      <Filter
        isPlain
        label="Per"
        value={view.bucket}
        choices={bucketsFor(view, useNow())}
        onChange={(bucket) => change({ bucket })}
      />
      <Filter label="Key" value={search.key ?? ''} choices={[ANY, ...payers]} onChange={(key) => change({ key })} />
      <Filter
        label="Model"
        value={search.model ?? ''}
        choices={[ANY, ...modelChoices]}
        onChange={(model) => change({ model })}
      />
    </>
  );
}

function UsagePlot({
  view,
  account,
}: {
  readonly view: UsageView;
  readonly account: { readonly account?: string };
}): ReactNode {
  const { change } = useFilters();
  const personNames = useMemberNames();
  const { since, until, bucket, group, metric, shape, filter } = view;
  const metrics = metric.value === 'cost' ? 'cost' : metric.value === 'requests' ? 'requests' : 'tokens';
  const usage = useApi(
    'GET /usage',
    { ...account, since, until, bucket, group_by: group, metrics, ...filter },
    { keepsPrevious: true },
  );
  const plot =
    usage.data === undefined
      ? null
      : buildPlot(pointsOf(usage.data.data, view, personNames), bucketStarts(bucket, since, usage.data.until));
  return (
    <Panel
      title={`${metric.label} by ${bucket} (UTC)`}
      actions={
        <Segmented label="Shape" value={shape} choices={SHAPES} onChange={(value) => change({ shape: value })} />
      }
    >
      <div className={shape === 'table' ? '' : 'px-4 pb-4'} style={{ minHeight: PLOT_HEIGHT + 44 }}>
        {usage.error === null ? null : <ErrorPanel error={usage.error} again={() => void usage.refetch()} />}
        {plot !== null && plot.series.length === 0 ? <EmptyState title="No calls in this period" /> : null}
        {plot === null && usage.error === null ? <Skeleton className="h-64 w-full" /> : null}
        {plot === null || plot.series.length === 0 ? null : shape === 'table' ? (
          <BucketTable plot={plot} view={view} />
        ) : (
          <Suspense fallback={<Skeleton className="h-64 w-full" />}>
            <div className="mb-2 min-h-5">
              <Legend plot={plot} />
            </div>
            <StackedBars
              plot={plot}
              shape={shape}
              label={`${metric.label} by ${bucket}. Choose “Table” above to read the figures.`}
              height={PLOT_HEIGHT}
              unit={metric.unit}
              formatValue={metric.format}
              formatTick={metric.formatTick}
              formatStart={(start) => formatBucket(bucket, start)}
            />
          </Suspense>
        )}
      </div>
    </Panel>
  );
}
