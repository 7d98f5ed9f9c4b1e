import type { ReactNode } from 'react';
import { useApi } from '../../api/queries.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Meter, shareOf } from '../../parts/meter.tsx';
import { Money } from '../../parts/money.tsx';
import { formatCount } from '../../parts/money-format.ts';
import { Panel } from '../../parts/panel.tsx';
import { Table } from '../../parts/table.tsx';
import { PageLink } from '../../shell/page-link.tsx';
import { useAccountInput } from '../../shell/viewer.tsx';
import { type Range, requestsOfRange, sinceOf } from './range.ts';

const ROWS_MAX = 5;

/** The keys that spent most in the range. */
export function SpenderPanel({ range }: { readonly range: Range }): ReactNode {
  const account = useAccountInput();
  const input = { ...account, since: sinceOf(range), group_by: 'key', metrics: 'cost,requests' };
  const usage = useApi('GET /usage', input, { keepsPrevious: true });
  const total = usage.data?.totals.cost_nanousd ?? 0n;
  const rows = (usage.data?.data ?? [])
    .map(({ key, key_name, cost_nanousd, requests }) => ({ key, name: key_name, cost: cost_nanousd ?? 0n, requests }))
    .toSorted((a, b) => (a.cost === b.cost ? 0 : a.cost > b.cost ? -1 : 1))
    .slice(0, ROWS_MAX);
  return (
    <Panel title={`Largest spenders, last ${range.label}`}>
      {usage.error === null ? (
        <Table
          label="Largest spenders"
          isPending={usage.isPending}
          isStale={usage.isPlaceholderData}
          skeletonRows={ROWS_MAX}
          rows={rows}
          idOf={({ key }) => key ?? 'none'}
          empty={<EmptyState title="Nothing was spent in this period" />}
          columns={[
            {
              id: 'key',
              head: 'Key',
              cell: ({ key, name }) => (
                <PageLink
                  to="/requests"
                  search={{ ...requestsOfRange(range), ...(key === null ? {} : { key }) }}
                  className="hover:underline"
                >
                  {key === null ? 'Calls without a key' : (name ?? key)}
                </PageLink>
              ),
            },
            {
              id: 'share',
              head: 'Share',
              wideOnly: true,
              className: 'w-1/3',
              cell: ({ cost, name }) => (
                <Meter part={shareOf(cost, total)} warns={false} label={`Share of ${name ?? 'calls without a key'}`} />
              ),
            },
            { id: 'requests', head: 'Requests', align: 'right', cell: ({ requests }) => formatCount(requests) },
            { id: 'cost', head: 'Cost', align: 'right', cell: ({ cost }) => <Money nanousd={cost} /> },
          ]}
        />
      ) : (
        <ErrorPanel error={usage.error} again={() => void usage.refetch()} />
      )}
    </Panel>
  );
}
