import type { ReactNode } from 'react';
import type { ShownKey } from '../../api/generated/routes.ts';
import { useApi } from '../../api/queries.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { shareOf } from '../../parts/meter.tsx';
import { formatCount } from '../../parts/money-format.ts';
import { Panel } from '../../parts/panel.tsx';
import { Table } from '../../parts/table.tsx';
import { Ago } from '../../parts/time.tsx';
import { PageLink } from '../../shell/page-link.tsx';
import { useAccountInput } from '../../shell/viewer.tsx';
import { CapMeter } from '../keys/cap-meter.tsx';

const ROWS_MAX = 5;
const KEYS_MAX = 1_000;

function shareSpent({ spent_nanousd, spend_cap_nanousd }: ShownKey): number {
  return spend_cap_nanousd === null ? 0 : shareOf(spent_nanousd, spend_cap_nanousd);
}

/** Keys that will be refused next. */
export function CapPanel(): ReactNode {
  const account = useAccountInput();
  const keys = useApi('GET /keys', { ...account, limit: KEYS_MAX }, { staleMs: 30_000, refetchMs: 30_000 });
  const capped = (keys.data?.data ?? []).filter((key) => key.status === 'active' && key.spend_cap_nanousd !== null);
  const closest = capped.toSorted((a, b) => shareSpent(b) - shareSpent(a)).slice(0, ROWS_MAX);
  // Keys are never deleted, so there may be more of them than are read.
  const hasMore = (keys.data?.next ?? null) !== null;
  return (
    <Panel
      title={hasMore ? `Keys closest to their cap, of the first ${formatCount(KEYS_MAX)}` : 'Keys closest to their cap'}
    >
      {keys.error === null ? (
        <Table
          label="Keys closest to their cap"
          isPending={keys.isPending}
          skeletonRows={4}
          rows={closest}
          idOf={({ id }) => id}
          empty={
            <EmptyState
              title={hasMore ? `None of the first ${formatCount(KEYS_MAX)} keys has a cap` : 'No key has a cap'}
            >
              A cap limits what a key may spend in a day, a week, a month or in total.
            </EmptyState>
          }
          columns={[
            {
              id: 'key',
              head: 'Key',
              cell: (key) => (
                <PageLink to="/keys" search={{ open: key.id }} title={key.hint} className="hover:underline">
                  <span className="block max-w-24 truncate large:max-w-32">{key.name}</span>
                </PageLink>
              ),
            },
            { id: 'spent', head: 'Spent of cap', cell: (key) => <CapMeter shownKey={key} /> },
            {
              id: 'resets',
              head: 'Resets',
              align: 'right',
              className: 'whitespace-nowrap',
              wideOnly: true,
              cell: ({ resets_at }) => <Ago at={resets_at} none="never" zone="UTC" isAhead />,
            },
          ]}
        />
      ) : (
        <ErrorPanel error={keys.error} again={() => void keys.refetch()} />
      )}
    </Panel>
  );
}
