import type { ReactNode } from 'react';
import { StatusChip } from '../../parts/chip.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { formatCount } from '../../parts/money-format.ts';
import { Panel } from '../../parts/panel.tsx';
import { Table } from '../../parts/table.tsx';
import { useKeyNames } from '../../shell/key-names.ts';
import { PageLink } from '../../shell/page-link.tsx';
import { type CodeCount, countByCode, useRefusals } from './refusals.ts';

const ROWS_MAX = 6;

/** Why calls were refused; each reason leads to those calls. */
export function RefusalPanel(): ReactNode {
  const { rows, isPending, error, again } = useRefusals();
  const nameOf = useKeyNames();
  const keyText = ({ keys }: CodeCount): string => {
    const [first = null] = keys;
    const name = first === null ? 'no key' : nameOf(first);
    return keys.length > 1 ? `${name} and ${keys.length - 1} more` : name;
  };
  return (
    <Panel title="Why calls were refused, last 24 h">
      {error === null ? (
        <Table
          label="Reasons of refusals"
          isPending={isPending}
          skeletonRows={3}
          rows={countByCode(rows).slice(0, ROWS_MAX)}
          idOf={({ code }) => code}
          empty={<EmptyState title="No call was refused">Refused calls and their reasons appear here.</EmptyState>}
          columns={[
            {
              id: 'reason',
              head: 'Reason',
              cell: ({ code, status }) => (
                <PageLink
                  to="/requests"
                  search={{ show: 'refused', time: '24h', code }}
                  className="flex items-center gap-2 hover:underline"
                >
                  <StatusChip status={status} />
                  {code.replaceAll('_', ' ')}
                </PageLink>
              ),
            },
            {
              id: 'key',
              head: 'Key',
              wideOnly: true,
              cell: (row) => <span className="text-muted">{keyText(row)}</span>,
            },
            { id: 'calls', head: 'Calls', align: 'right', cell: ({ count }) => formatCount(count) },
          ]}
        />
      ) : (
        <ErrorPanel error={error} again={again} />
      )}
    </Panel>
  );
}
