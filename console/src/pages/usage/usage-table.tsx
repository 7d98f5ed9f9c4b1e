import type { ReactNode } from 'react';
import type { Output } from '../../api/client.ts';
import type { UsageRow } from '../../api/generated/routes.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Money } from '../../parts/money.tsx';
import { formatCount } from '../../parts/money-format.ts';
import { type Column, cellClass, Table } from '../../parts/table.tsx';
import { formatDuration } from '../../parts/time-format.ts';
import { useMemberNames } from '../../shell/member-names.ts';
import { PageLink } from '../../shell/page-link.tsx';
import type { Search } from '../../shell/search.ts';
import { ScrolledTable } from './scrolled-table.tsx';
import { type Group, inputTokens, nameOf } from './usage-query.ts';

type Totals = Output<'GET /usage'>['totals'];
/** What a row and the totals both have. */
type Figures = Totals;

interface Figure {
  readonly id: string;
  readonly head: string;
  readonly wideOnly?: boolean;
  show(figures: Figures): ReactNode;
}

const FIGURES: readonly Figure[] = [
  { id: 'cost', head: 'Cost', show: ({ cost_nanousd }) => <Money nanousd={cost_nanousd} /> },
  { id: 'requests', head: 'Requests', show: ({ requests }) => formatCount(requests) },
  { id: 'input', head: 'Input', wideOnly: true, show: (figures) => formatCount(inputTokens(figures)) },
  {
    id: 'cached',
    head: 'of it cached',
    wideOnly: true,
    show: ({ cache_read_tokens }) => formatCount(cache_read_tokens),
  },
  { id: 'output', head: 'Output', wideOnly: true, show: ({ output_tokens }) => formatCount(output_tokens) },
  { id: 'reasoning', head: 'Reasoning', wideOnly: true, show: ({ reasoning_tokens }) => formatCount(reasoning_tokens) },
  {
    id: 'refunded',
    head: 'Refunded',
    wideOnly: true,
    show: ({ refunded_nanousd }) => <Money nanousd={refunded_nanousd} />,
  },
  {
    id: 'first',
    head: 'First byte, median',
    wideOnly: true,
    show: ({ first_byte_p50_ms }) => formatDuration(first_byte_p50_ms),
  },
  {
    id: 'duration',
    head: 'Duration, median',
    wideOnly: true,
    show: ({ duration_p50_ms }) => formatDuration(duration_p50_ms),
  },
];

interface UsageTableProps {
  readonly group: Group;
  /** What the report is filtered by, as the list of requests takes it. */
  readonly filter: Search;
  readonly groupLabel: string;
  readonly rows: readonly UsageRow[];
  readonly totals: Totals | undefined;
  readonly isPending: boolean;
  readonly isStale: boolean;
}

/** The same as the plot in figures, the most expensive first, with the totals of the whole report. */
export function UsageTable(props: UsageTableProps): ReactNode {
  const { group, filter, groupLabel, rows, totals, isPending, isStale } = props;
  const columns: readonly Column<UsageRow>[] = [
    { id: 'name', head: groupLabel, cell: (row) => <GroupName row={row} group={group} filter={filter} /> },
    ...FIGURES.map(({ show, ...figure }): Column<UsageRow> => ({ ...figure, align: 'right', cell: show })),
  ];
  const label = `Usage by ${groupLabel.toLowerCase()}`;
  return (
    <ScrolledTable label={label}>
      <Table
        label={label}
        columns={columns}
        rows={rows.toSorted(byCost)}
        idOf={(row) => nameOf(row, group).name}
        isPending={isPending}
        isStale={isStale}
        empty={<EmptyState title="No calls in this period">Choose a longer period, or remove a filter.</EmptyState>}
        foot={totals === undefined ? undefined : <TotalRow columns={columns} totals={totals} />}
      />
    </ScrolledTable>
  );
}

function TotalRow({
  columns,
  totals,
}: {
  readonly columns: readonly Column<UsageRow>[];
  readonly totals: Totals;
}): ReactNode {
  return (
    <tr className="font-semibold">
      <th scope="row" className={`h-9 border-t border-line ${cellClass(columns, 0, false)}`}>
        Total
      </th>
      {FIGURES.map(({ id, show }, at) => (
        <td key={id} className={`h-9 border-t border-line ${cellClass(columns, at + 1, false)}`}>
          {show(totals)}
        </td>
      ))}
    </tr>
  );
}

/** What the list of requests can be filtered by. */
const LISTED: readonly Group[] = ['key', 'model', 'host', 'chain'];

/** Where there is a list of the calls behind a row, its name leads there. */
function GroupName({
  row,
  group,
  filter,
}: { readonly row: UsageRow } & Pick<UsageTableProps, 'group' | 'filter'>): ReactNode {
  const { name, label } = nameOf(row, group, useMemberNames());
  const shown = <span className="block max-w-32 truncate roomy:max-w-56">{label}</span>;
  if (!LISTED.includes(group) || name === '') return shown;
  return (
    <PageLink to="/requests" search={{ ...filter, [group]: name }} className="hover:underline">
      {shown}
    </PageLink>
  );
}

function byCost(a: UsageRow, b: UsageRow): number {
  const [left, right] = [a.cost_nanousd ?? 0n, b.cost_nanousd ?? 0n];
  return left === right ? 0 : left > right ? -1 : 1;
}
